#pragma once
// States of robots that stay on a device from step to step.

#include <span>
#include <vector>

#include "engine/model/state.hpp"
#include "kernels/array/array.hpp"

namespace supple {

// A state as a step sees it: coordinates and velocities on the mechanics' device, all else on the host.
struct StateView {
  State& host;
  double* q;  // [B x nq]
  double* v;  // [B x nv]
  // Contact forces [B x pairs x 3] on the device and which robots have any [B], where the device finds them; null: in
  // the host's state.
  double* contact_forces = nullptr;
  std::span<char> touching = {};
};

class DeviceState {
 public:
  // contact: whether contact forces stay on the device too.
  DeviceState(const Device& device, const State& state, bool contact);

  StateView view();
  void set(const State& state);
  State get() const;
  // As reset() of state.hpp.
  void reset(std::span<const int> robots, const State& start);

 private:
  void place(std::span<const int> robots, const State& start, const std::vector<double>& values, Array<double>& target);
  void set_contact_forces(std::span<const double> forces);

  State known_;  // what does not lie on the device
  Array<double> q_, v_, contact_forces_, placed_values_;
  Array<int> placed_robots_;
  std::vector<char> touching_;
};

}  // namespace supple
