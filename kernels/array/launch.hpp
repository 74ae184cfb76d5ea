#pragma once
// launch(device, n, op): op(0) ... op(n - 1), in any order, on a device. An op writes only what its index owns, so
// every order and every number of threads gives the same bits. CUDA instantiations are listed explicitly in
// kernels/cuda/*.cu: a forgotten one is a link error.

#include "kernels/array/device.hpp"
#include "kernels/array/gpu.hpp"
#include "kernels/base/each.hpp"
#include "kernels/base/team.hpp"
#include "kernels/base/threads.hpp"

namespace supple {

// Below this many indices threads cost more than they bring.
inline constexpr int launch_serial_below = 512;

// An op with lanes(k) (kernels/elements/point_ops.hpp) does Op::lane_width indices at once; n is a multiple of it.
template <class Op>
void launch_cpu(int n, const Op& op) {
  if constexpr (requires { op.lanes(0); })
    for_each_index(n / Op::lane_width, launch_serial_below / Op::lane_width,
                   [&](std::ptrdiff_t i) { op.lanes(static_cast<int>(i) * Op::lane_width); });
  else
    for_each_index(n, launch_serial_below, [&](std::ptrdiff_t i) { op(static_cast<int>(i)); });
}

template <class Op>
void launch_teams_cpu(int n, [[maybe_unused]] int teams, const Op& op) {
#pragma omp parallel for schedule(static) num_threads(teams) if (teams > 1)
  for (int i = 0; i < n; ++i) op(SingleTeam{}, this_thread(), i);
}

template <class Op>
void launch(const Device& device, int n, const Op& op) {
  if (device.kind == Device::Kind::cpu) {
    launch_cpu(n, op);
    return;
  }
  launch_cuda(device.index, n, op);
}

// How many teams work at once on n indices: threads of a CPU, thread blocks of a GPU.
int team_count(const Device& device, int n);

// launch_teams(device, n, teams, op): for every index i in [0, n) one team runs op(team, slot, i). At most `teams`
// teams work at a time and slot in [0, teams) tells them apart: a team's scratch lies at its slot. What an op computes
// must not depend on the slot.
template <class Op>
void launch_teams(const Device& device, int n, int teams, const Op& op) {
  if (device.kind == Device::Kind::cpu) {
    launch_teams_cpu(n, teams, op);
    return;
  }
  launch_teams_cuda(device.index, n, teams, op);
}

// The same for ops on robots that need no scratch; on a CPU few robots are done by the calling thread.
template <class Op>
void launch_robots(const Device& device, int robots, const Op& op) {
  if (device.kind == Device::Kind::cpu) {
    for_each_robot(robots, [&](int b) { op(SingleTeam{}, 0, b); });
    return;
  }
  launch_teams_cuda(device.index, robots, team_count(device, robots), op);
}

}  // namespace supple
