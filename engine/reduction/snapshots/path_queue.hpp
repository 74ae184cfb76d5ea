#pragma once
// Paths that are to be computed, handed out one by one to those who do, and how far they are. Safe for several threads.

#include <chrono>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "engine/reduction/snapshots/claims.hpp"
#include "engine/reduction/snapshots/snapshots.hpp"

namespace supple {

class PathQueue {
 public:
  // All but `todo` must outlive this object.
  PathQueue(const SceneIdentity& identity, const SamplingPlan& plan, const std::string& folder, Claims& claims,
            std::vector<int> todo, const Progress& progress);

  // A path that now is the caller's. None: all others are done or somebody else's.
  std::optional<int> take();
  // Begins again with those that were somebody else's; false: there are none.
  bool take_over();
  // Of a taken path: before every state (throws Interrupted), behind it, and at the end with what writes its file.
  void before();
  void after(StepStatus status, bool short_of, int factorisations);
  void finish(int path, const std::function<void(const std::string& file)>& write);

  SnapshotRun run() const;

 private:
  std::uint64_t hash(int path) const;
  int length(int path) const;
  double seconds() const;
  void tell() const;

  const SceneIdentity& identity_;
  const SamplingPlan& plan_;
  const std::string& folder_;
  Claims& claims_;
  std::vector<int> todo_, taken_;  // taken: somebody else's
  std::size_t next_ = 0;
  const Progress& progress_;
  std::chrono::steady_clock::time_point start_;
  SnapshotRun run_;
  int states_ = 0, elsewhere_ = 0;  // all, and those that others have computed
  std::mutex mutex_;                // also of the HDF5 library, which is not safe for threads
};

}  // namespace supple
