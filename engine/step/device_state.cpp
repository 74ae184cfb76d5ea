#include "engine/step/device_state.hpp"

#include <algorithm>

#include "kernels/array/launch.hpp"
#include "kernels/base/extent.hpp"
#include "kernels/step/step_ops.hpp"

namespace supple {

DeviceState::DeviceState(const Device& device, const State& state, bool contact)
    : q_(device, state.q.size()), v_(device, state.v.size()) {
  if (contact) {
    contact_forces_ = Array<double>(device, state.contact_forces.size());
    touching_.assign(extent(state.robots), 0);
  }
  set(state);
}

StateView DeviceState::view() {
  return {known_, q_.data(), v_.data(), contact_forces_.data(), touching_};
}

void DeviceState::set(const State& state) {
  SUPPLE_EXPECT(state.q.size() == q_.size() && state.v.size() == v_.size());
  known_ = state;
  known_.q.clear();
  known_.v.clear();
  q_.upload(state.q);
  v_.upload(state.v);
  if (touching_.empty()) return;
  known_.contact_forces.clear();
  set_contact_forces(state.contact_forces);
}

void DeviceState::set_contact_forces(std::span<const double> forces) {
  SUPPLE_EXPECT(forces.size() == contact_forces_.size());
  contact_forces_.upload(forces);
  const std::size_t own = forces.size() / touching_.size();
  for (std::size_t b = 0; b < touching_.size(); ++b)
    touching_[b] = std::ranges::any_of(forces.subspan(b * own, own), [](double force) { return force != 0; });
}

State DeviceState::get() const {
  State state = known_;
  state.q.resize(q_.size());
  state.v.resize(v_.size());
  q_.download(state.q);
  v_.download(state.v);
  if (touching_.empty()) return state;
  state.contact_forces.resize(contact_forces_.size());
  contact_forces_.download(state.contact_forces);
  return state;
}

// Rows of `values` [one robot, or as many as there are] to those of these robots on the device.
void DeviceState::place(std::span<const int> robots, const State& start, const std::vector<double>& values,
                        Array<double>& target) {
  const std::size_t size = target.size() / extent(known_.robots);
  std::vector<double> placed;
  for (const int b : robots) {
    const double* own = values.data() + (start.robots == 1 ? 0 : extent(b) * size);
    placed.insert(placed.end(), own, own + size);
  }
  if (placed_values_.size() < placed.size()) placed_values_ = Array<double>(target.device(), placed.size());
  placed_values_.upload(placed);
  launch(target.device(), static_cast<int>(placed.size()),
         PlaceOp{static_cast<int>(size), placed_robots_.data(), placed_values_.data(), target.data()});
}

void DeviceState::reset(std::span<const int> robots, const State& start) {
  if (robots.empty()) return;
  if (placed_robots_.size() < robots.size()) placed_robots_ = Array<int>(q_.device(), robots.size());
  placed_robots_.upload(robots);
  place(robots, start, start.q, q_);
  place(robots, start, start.v, v_);
  State host = start;
  host.q.clear();
  host.v.clear();
  if (!touching_.empty()) {
    std::vector<double> forces(contact_forces_.size());
    contact_forces_.download(forces);
    const std::size_t own = forces.size() / touching_.size();
    for (const int b : robots)
      std::copy_n(start.contact_forces.data() + (start.robots == 1 ? 0 : extent(b) * own), own,
                  forces.data() + extent(b) * own);
    set_contact_forces(forces);
    host.contact_forces.clear();
  }
  supple::reset(known_, robots, host);
}

}  // namespace supple
