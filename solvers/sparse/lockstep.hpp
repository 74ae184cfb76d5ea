#pragma once
// Many robots of one pattern, each with an algorithm of its own (increments, Newton iterations, steps that are cut),
// whose matrices are factored together by BatchedCholesky. Each robot runs on a thread of its own and sees a
// SparseDirect. In factor() or solve() it waits until every robot at work waits in one of them: then those that ask for
// a solution get it and continue; where none does, all are factored. The others no longer wait for a robot whose work
// is done. Other work that is faster together comes before both (share).
//
// What a robot gets depends on its own matrices and right-hand sides alone, to the last bit: others, their number and
// the threads only decide when. A matrix without a factor goes to make_sparse_pivoting, one by one.

#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "kernels/array/array.hpp"
#include "solvers/sparse/batched_cholesky.hpp"
#include "solvers/sparse/direct.hpp"

namespace supple {

class Lockstep {
 public:
  /// Allocates bytes(plan, robots) on the device. Throws CapabilityError where it does not exist or has no memory left.
  Lockstep(const Device& device, std::shared_ptr<const BatchPlan> plan, int robots);
  ~Lockstep();
  /// The factors, the matrices and one pass of right-hand sides.
  static std::size_t bytes(const BatchPlan& plan, int robots);

  int robots() const { return static_cast<int>(slots_.size()); }
  /// The solver of robot `slot`, only within run(). All of one slot share its last factor.
  std::unique_ptr<SparseDirect> solver(int slot);
  /// What meet() does: `work` gets the slots of all that wait there, ascending, and is called by one thread.
  void share(std::function<void(std::span<const int> slots)> work) { shared_ = std::move(work); }
  /// Of robot `slot`, only within run(): returns when the work has been done for it.
  void meet(int slot) { wait(slot, Request::meet); }
  /// work(slot) for every slot, each on a thread of its own with one OpenMP thread; no more of them compute at a time
  /// than OpenMP has threads here. Returns when all have. The first exception ends all: the others' next factor() or
  /// solve() throws, and run() throws that first one.
  void run(const std::function<void(int slot)>& work);

 private:
  class Solver;
  enum class Request { none, meet, factor, solve };
  struct Slot {
    Request request = Request::none;
    const double* values = nullptr;
    double* x = nullptr;
    int count = 0;
    Definiteness kind = Definiteness::positive;
    FactorReport report;
    bool by_pivoting = false;  // its last matrix had no factor without
    std::unique_ptr<SparseDirect> pivoting;
    std::condition_variable turn;
    bool computes = false;
  };
  struct Abandoned {};  // thrown to robots that another's exception ends

  void wait(int slot, Request request);
  void admit();
  void await_turn(int slot, std::unique_lock<std::mutex>& lock);
  void end_turn(int slot);
  void serve();
  void do_shared();
  void factor();
  void solve();
  FactorReport pivot(Slot& slot, PivotStatus cholesky);
  void fail(std::exception_ptr failure);

  Device device_;
  std::shared_ptr<const BatchPlan> plan_;
  BatchedCholesky cholesky_;
  std::vector<Slot> slots_;
  std::function<void(std::span<const int>)> shared_;
  Array<double> values_, right_;  // [robots][nonzeros], [robots][count][n]
  std::vector<PivotStatus> status_;
  std::mutex mutex_;
  std::condition_variable all_wait_;
  std::deque<int> ready_;  // robots with an answer, for which no thread is free yet
  int present_ = 0, waiting_ = 0, computing_ = 0, most_computing_ = 1;
  std::exception_ptr failure_;
};

}  // namespace supple
