#pragma once
// Ranks that are threads of one process, for what is otherwise done by MPI.

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "kernels/base/ranks.hpp"

namespace supple::test {

class RankThreads {
 public:
  // Runs `work` once per rank and waits for all.
  static void run(int size, const std::function<void(const Ranks&)>& work) {
    RankThreads shared(size);
    std::vector<std::thread> threads;
    for (int rank = 0; rank < size; ++rank) threads.emplace_back([&, rank] { work(shared.rank(rank)); });
    for (std::thread& thread : threads) thread.join();
  }

 private:
  explicit RankThreads(int size) : size_(size) {}

  Ranks rank(int rank) {
    return {rank, size_,
            [this, rank](int to, std::span<const double> values) {
              const std::lock_guard lock(mutex_);
              mail_[{rank, to}].emplace_back(values.begin(), values.end());
              news_.notify_all();
            },
            [this, rank](int from) {
              std::unique_lock lock(mutex_);
              auto& box = mail_[{from, rank}];
              news_.wait(lock, [&] { return !box.empty(); });
              std::vector<double> values = std::move(box.front());
              box.pop_front();
              return values;
            },
            [this, rank](bool failed) { return agree(rank, failed); }};
  }

  int agree(int rank, bool failed) {
    std::unique_lock lock(mutex_);
    if (failed && (failed_ < 0 || rank < failed_)) failed_ = rank;
    const int round = round_;
    if (++arrived_ == size_) {
      agreed_ = failed_;
      failed_ = -1;
      arrived_ = 0;
      ++round_;
      news_.notify_all();
    } else {
      news_.wait(lock, [&] { return round_ != round; });
    }
    return agreed_;
  }

  int size_, arrived_ = 0, round_ = 0, failed_ = -1, agreed_ = -1;
  std::mutex mutex_;
  std::condition_variable news_;
  std::map<std::pair<int, int>, std::deque<std::vector<double>>> mail_;
};

}  // namespace supple::test
