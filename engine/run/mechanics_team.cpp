#include "engine/run/mechanics_team.hpp"

#include <algorithm>
#include <exception>
#include <utility>

#include "engine/mechanics/assembly/floating_mechanics.hpp"
#include "engine/mechanics/variations.hpp"
#include "kernels/base/contract.hpp"
#include "kernels/base/extent.hpp"
#include "kernels/base/threads.hpp"

namespace supple {

MechanicsTeam::MechanicsTeam(Mechanics& alone, int robots) : robots_(robots), threads_(1), members_{&alone} {}

MechanicsTeam::MechanicsTeam(std::vector<Mechanics*> members, int robots)
    : robots_(robots),
      threads_(std::min(static_cast<int>(members.size()), most_threads())),
      members_(std::move(members)) {}

MechanicsTeam::MechanicsTeam(const ReducedModel& model, int robots, Members members)
    : model_(&model), robots_(robots), threads_(std::min(robots, most_threads())) {
  const std::shared_ptr<const ReducedModel> shape = model.on_frame ? shape_model(model) : nullptr;
  for (int k = 0; k < (members == Members::robots ? robots : threads_); ++k) {
    if (shape)
      own_.push_back(std::make_unique<FloatingMechanics>(model, shape));
    else
      own_.push_back(std::make_unique<ReducedMechanics>(model));
    members_.push_back(own_.back().get());
  }
}

std::unique_ptr<ReducedMechanics> MechanicsTeam::make_batch() const {
  if (model_ == nullptr || robots_ == 1 || model_->on_frame) return nullptr;
  return std::make_unique<ReducedMechanics>(*model_, robots_);
}

void MechanicsTeam::set_variations(const Variations& variations) const {
  SUPPLE_EXPECT(size() == robots_);
  for (int b = 0; b < robots_; ++b) member(b).set_variations(variations_of(variations, robots_, b, 1));
}

void MechanicsTeam::each_robot(const std::function<void(int, int)>& action) const {
  if (robots_ == 1) return action(0, 0);
  std::exception_ptr problem;
  [[maybe_unused]] const int chunk = robots_ < 16 * threads_ ? 1 : 4;  // without OpenMP
#pragma omp parallel for schedule(dynamic, chunk) num_threads(threads_)
  for (int b = 0; b < robots_; ++b) {
    try {
      action(b, size() == robots_ ? b : this_thread());
    } catch (...) {
#pragma omp critical(mechanics_team)
      if (!problem) problem = std::current_exception();
    }
  }
  if (problem) std::rethrow_exception(problem);
}

void MechanicsTeam::evaluate_outputs(const State& state, std::vector<double>& y) const {
  const auto of = [&](const std::vector<double>& values, int b) {
    const std::size_t size = values.size() / extent(robots_);
    return std::span(values).subspan(extent(b) * size, size);
  };
  const std::size_t outputs = extent(robot().outputs());
  y.resize(extent(robots_) * outputs);
  const auto evaluate = [&](int b, int k) {
    member(k).evaluate_outputs(of(state.q, b), of(state.motions, b),
                               std::span(y).subspan(extent(b) * outputs, outputs));
  };
  each_robot(std::ref(evaluate));  // which allocates nothing
}

}  // namespace supple
