#include "solvers/sparse/lockstep.hpp"

#include <omp.h>

#include <algorithm>
#include <system_error>
#include <thread>

#include "kernels/base/contract.hpp"
#include "kernels/base/error.hpp"
#include "kernels/base/extent.hpp"
#include "solvers/sparse/backends.hpp"

namespace supple {

class Lockstep::Solver final : public SparseDirect {
 public:
  Solver(Lockstep& lockstep, int slot) : lockstep_(lockstep), slot_(slot) {}

  void analyse([[maybe_unused]] const SymmetricPattern& pattern, Definiteness kind) override {
    [[maybe_unused]] const SymmetricPattern& shared = lockstep_.plan_->tree().pattern;
    SUPPLE_EXPECT(pattern.column_start == shared.column_start && pattern.row == shared.row);
    kind_ = kind;
  }
  FactorReport factor(const double* values) override {
    Slot& slot = lockstep_.slots_[extent(slot_)];
    slot.values = values;
    slot.kind = kind_;
    lockstep_.wait(slot_, Request::factor);
    return slot.report;
  }
  void solve(double* x, int count) override {
    Slot& slot = lockstep_.slots_[extent(slot_)];
    SUPPLE_EXPECT(slot.report.status == FactorStatus::ok);
    slot.x = x;
    slot.count = count;
    lockstep_.wait(slot_, Request::solve);
  }
  bool multiply_inverse(const SparseColumns&, bool, double*) override { return false; }
  std::string name() const override { return "lockstep"; }

 private:
  Lockstep& lockstep_;
  int slot_;
  Definiteness kind_ = Definiteness::positive;
};

Lockstep::Lockstep(const Device& device, std::shared_ptr<const BatchPlan> plan, int robots)
    : device_(device),
      plan_(std::move(plan)),
      cholesky_(device, plan_, robots),
      slots_(extent(robots)),
      values_(device, extent(robots, plan_->tree().pattern.nonzeros())),
      status_(extent(robots)) {}

Lockstep::~Lockstep() = default;

std::size_t Lockstep::bytes(const BatchPlan& plan, int robots) {
  const std::size_t numbers =
      extent(robots, plan.tree().pattern.nonzeros()) + extent(robots, batch_right_sides * plan.unknowns());
  return plan.bytes(robots) + numbers * sizeof(double);
}

std::unique_ptr<SparseDirect> Lockstep::solver(int slot) {
  SUPPLE_EXPECT(slot >= 0 && slot < robots());
  return std::make_unique<Solver>(*this, slot);
}

void Lockstep::fail(std::exception_ptr failure) {
  if (!failure_) failure_ = std::move(failure);
}

// Those whose turn it is, each woken alone.
void Lockstep::admit() {
  while (computing_ < most_computing_ && !ready_.empty()) {
    Slot& next = slots_[extent(ready_.front())];
    ready_.pop_front();
    ++computing_;
    next.computes = true;
    next.turn.notify_one();
  }
}

void Lockstep::await_turn(int slot, std::unique_lock<std::mutex>& lock) {
  Slot& mine = slots_[extent(slot)];
  mine.turn.wait(lock, [&] { return mine.computes; });
}

void Lockstep::end_turn(int slot) {
  slots_[extent(slot)].computes = false;
  --computing_;
  admit();
}

void Lockstep::wait(int slot, Request request) {
  std::unique_lock lock(mutex_);
  if (failure_) throw Abandoned{};
  slots_[extent(slot)].request = request;
  ++waiting_;
  end_turn(slot);
  if (waiting_ == present_) all_wait_.notify_one();
  await_turn(slot, lock);
  if (failure_) throw Abandoned{};
}

void Lockstep::run(const std::function<void(int slot)>& work) {
  present_ = robots();
  waiting_ = computing_ = 0;
  ready_.clear();
  for (Slot& slot : slots_) slot.computes = false;
  most_computing_ = std::max(1, omp_get_max_threads());
  failure_ = nullptr;
  const auto thread = [&](int slot) {
    omp_set_num_threads(1);
    {
      std::unique_lock lock(mutex_);
      ready_.push_back(slot);
      admit();
      await_turn(slot, lock);
    }
    std::exception_ptr failure;
    try {
      work(slot);
    } catch (const Abandoned&) {
    } catch (...) {
      failure = std::current_exception();
    }
    const std::lock_guard lock(mutex_);
    if (failure) fail(failure);
    end_turn(slot);
    if (waiting_ == --present_) all_wait_.notify_one();
  };
  std::vector<std::thread> threads;
  threads.reserve(extent(robots()));
  try {
    for (int slot = 0; slot < robots(); ++slot) threads.emplace_back(thread, slot);
  } catch (const std::system_error&) {
    const std::lock_guard lock(mutex_);
    fail(std::make_exception_ptr(
        RunError("the machine has no more threads (every robot of a batch needs one)", "a smaller --batch")));
    present_ -= robots() - static_cast<int>(threads.size());
  } catch (...) {
    const std::lock_guard lock(mutex_);
    fail(std::current_exception());
    present_ -= robots() - static_cast<int>(threads.size());
  }
  {
    std::unique_lock lock(mutex_);
    while (true) {
      all_wait_.wait(lock, [&] { return waiting_ == present_; });
      if (present_ == 0) break;
      std::vector<int> asked;
      for (int b = 0; b < robots(); ++b)
        if (slots_[extent(b)].request != Request::none) asked.push_back(b);
      try {
        serve();
      } catch (...) {
        fail(std::current_exception());
      }
      for (const int b : asked) {
        Slot& slot = slots_[extent(b)];
        if (failure_) slot.request = Request::none;
        if (slot.request != Request::none) continue;
        ready_.push_back(b);
        --waiting_;
      }
      admit();
    }
  }
  for (std::thread& one : threads) one.join();
  if (failure_) std::rethrow_exception(failure_);
}

// With the lock held and all robots waiting. What costs those alone that ask for it comes first, so that more robots
// ask for what costs all; solutions before factors: a factor serves all that its robot asks of it before another takes
// its place.
void Lockstep::serve() {
  if (failure_) return;
  if (std::ranges::any_of(slots_, [](const Slot& slot) { return slot.request == Request::meet; }))
    do_shared();
  else if (std::ranges::any_of(slots_, [](const Slot& slot) { return slot.request == Request::solve; }))
    solve();
  else
    factor();
}

void Lockstep::do_shared() {
  std::vector<int> slots;
  for (int b = 0; b < robots(); ++b)
    if (slots_[extent(b)].request == Request::meet) slots.push_back(b);
  SUPPLE_EXPECT(shared_);
  shared_(slots);
  for (const int b : slots) slots_[extent(b)].request = Request::none;
}

// Robots that ask for none are factored again from the values they have.
void Lockstep::factor() {
  const int nonzeros = plan_->tree().pattern.nonzeros();
  for (int b = 0; b < robots(); ++b) {
    const Slot& slot = slots_[extent(b)];
    if (slot.request == Request::factor)
      copy_bytes(device_, values_.data() + extent(b, nonzeros), cpu(), slot.values, extent(nonzeros) * sizeof(double));
  }
  cholesky_.factor(values_.data(), nonzeros, sparse_singular_pivot, status_);
  for (int b = 0; b < robots(); ++b) {
    Slot& slot = slots_[extent(b)];
    if (slot.request != Request::factor) continue;
    slot.request = Request::none;
    slot.by_pivoting = false;
    const PivotStatus status = status_[extent(b)];
    const int negative = cholesky_.negative_pivots()[extent(b)];
    if (status != PivotStatus::ok)
      slot.report = pivot(slot, status);
    else if (negative > 0 && slot.kind == Definiteness::positive)
      slot.report = {FactorStatus::not_positive, 0, 0};
    else
      slot.report = {FactorStatus::ok, negative, static_cast<double>(plan_->factor_tiles * front_tile)};
  }
}

FactorReport Lockstep::pivot(Slot& slot, PivotStatus cholesky) {
  if (slot.kind == Definiteness::positive)
    return {cholesky == PivotStatus::vanished ? FactorStatus::singular : FactorStatus::not_positive, 0, 0};
  if (!slot.pivoting) {
    slot.pivoting = make_sparse_pivoting();
    slot.pivoting->analyse(plan_->tree().pattern, slot.kind);
  }
  slot.by_pivoting = true;
  return slot.pivoting->factor(slot.values);
}

// Those that ask for as many as the first: the width of a pass decides which code runs, and so might bits.
void Lockstep::solve() {
  const auto asks = [](const Slot& slot) { return slot.request == Request::solve; };
  const int count = std::ranges::find_if(slots_, asks)->count, n = plan_->unknowns();
  bool any = false;
  for (int b = 0; b < robots(); ++b) {
    Slot& slot = slots_[extent(b)];
    if (!asks(slot) || slot.count != count || !slot.by_pivoting) continue;
    slot.pivoting->solve(slot.x, count);
    slot.request = Request::none;
  }
  for (const Slot& slot : slots_) any = any || (asks(slot) && slot.count == count);
  if (!any) return;
  if (right_.size() < extent(robots(), count, n)) right_ = Array<double>(device_, extent(robots(), count, n));
  const auto each = [&](const auto& copy) {
    for (int b = 0; b < robots(); ++b) {
      Slot& slot = slots_[extent(b)];
      if (asks(slot) && slot.count == count) copy(slot, right_.data() + extent(b, count, n));
    }
  };
  // The results of the others are not used. Solved again and again, their values would become denormal numbers, which
  // are slow on a CPU.
  if (device_ == cpu()) std::fill_n(right_.data(), extent(robots(), count, n), 0.0);
  const std::size_t bytes = extent(count, n) * sizeof(double);
  each([&](const Slot& slot, double* right) { copy_bytes(device_, right, cpu(), slot.x, bytes); });
  cholesky_.solve(right_.data(), count);
  each([&](Slot& slot, const double* right) {
    copy_bytes(cpu(), slot.x, device_, right, bytes);
    slot.request = Request::none;
  });
}

}  // namespace supple
