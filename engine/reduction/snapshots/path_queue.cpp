#include "engine/reduction/snapshots/path_queue.hpp"

#include <fmt/format.h>

#include <utility>

namespace supple {

PathQueue::PathQueue(const SceneIdentity& identity, const SamplingPlan& plan, const std::string& folder, Claims& claims,
                     std::vector<int> todo, const Progress& progress)
    : identity_(identity),
      plan_(plan),
      folder_(folder),
      claims_(claims),
      todo_(std::move(todo)),
      progress_(progress),
      start_(std::chrono::steady_clock::now()) {
  for (const int path : todo_) states_ += length(path);
}

std::uint64_t PathQueue::hash(int path) const {
  return path_identity(identity_, plan_.converged, plan_.paths[static_cast<std::size_t>(path)]);
}

int PathQueue::length(int path) const {
  return static_cast<int>(plan_.paths[static_cast<std::size_t>(path)].samples.size());
}

double PathQueue::seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

void PathQueue::tell() const {
  std::string detail;
  if (run_.states > 0) detail = fmt::format("{:.3g}/s", run_.states / seconds());
  if (run_.failed > 0) detail += fmt::format("{}{} failed", detail.empty() ? "" : ", ", run_.failed);
  if (run_.short_of > 0) detail += fmt::format("{}{} out of reach", detail.empty() ? "" : ", ", run_.short_of);
  progress_("snapshots", run_.states + elsewhere_, states_, detail);
}

std::optional<int> PathQueue::take() {
  const std::lock_guard lock(mutex_);
  while (next_ < todo_.size()) {
    const int path = todo_[next_++];
    if (!claims_.claim(path)) {
      taken_.push_back(path);
      continue;
    }
    if (!is_path_of(path_file(folder_, path), hash(path))) return path;
    elsewhere_ += length(path);
    tell();
    claims_.release(path);
  }
  return std::nullopt;
}

bool PathQueue::take_over() {
  todo_ = std::exchange(taken_, {});
  next_ = 0;
  return !todo_.empty();
}

void PathQueue::before() {
  const std::lock_guard lock(mutex_);
  if (progress_.stopped())
    throw Interrupted(fmt::format("stopped with {} of {} states of this run done", run_.states, states_),
                      "the same command with --resume");
}

void PathQueue::after(StepStatus status, bool short_of, int factorisations) {
  const std::lock_guard lock(mutex_);
  if (status != StepStatus::ok) ++run_.failed;
  if (short_of) ++run_.short_of;
  ++run_.states;
  run_.factorisations += factorisations;
  tell();
}

void PathQueue::finish(int path, const std::function<void(const std::string& file)>& write) {
  const std::lock_guard lock(mutex_);
  write(path_file(folder_, path));
  claims_.release(path);
}

SnapshotRun PathQueue::run() const {
  SnapshotRun run = run_;
  run.left = static_cast<int>(taken_.size());
  run.seconds = seconds();
  return run;
}

}  // namespace supple
