#include "engine/model/state.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "kernels/base/contract.hpp"
#include "kernels/base/extent.hpp"
#include "kernels/base/hash.hpp"

namespace supple {

bool same_sizes(const State& a, const State& b) {
  const auto same = [&](std::vector<double> State::*list) { return (a.*list).size() == (b.*list).size(); };
  return a.robots == b.robots && std::ranges::all_of(state_lists, same) &&
         (a.surface_forces.size() == b.surface_forces.size() || a.surface_forces.empty() || b.surface_forces.empty());
}

void copy_robot(const State& from, int a, State& to, int b) {
  SUPPLE_EXPECT(a >= 0 && a < from.robots && b >= 0 && b < to.robots);
  for (const auto list : state_lists) {
    const std::vector<double>& source = from.*list;
    const std::size_t size = source.size() / extent(from.robots);
    SUPPLE_EXPECT((to.*list).size() == size * extent(to.robots));
    std::copy_n(source.data() + extent(a) * size, size, (to.*list).data() + extent(b) * size);
  }
  SUPPLE_EXPECT(from.surface_forces.empty() || !to.surface_forces.empty());
  if (to.surface_forces.empty()) return;
  if (from.surface_forces.empty())
    to.surface_forces[extent(b)].clear();
  else
    to.surface_forces[extent(b)] = from.surface_forces[extent(a)];
}

State one_robot(const State& state, int b) {
  State one;
  one.time = state.time;
  for (const auto list : state_lists) (one.*list).resize((state.*list).size() / extent(state.robots));
  one.surface_forces.resize(state.surface_forces.empty() ? 0 : 1);
  copy_robot(state, b, one, 0);
  return one;
}

State repeated(const State& one, int robots) {
  SUPPLE_EXPECT(one.robots == 1);
  State all;
  all.robots = robots;
  all.time = one.time;
  for (int b = 0; b < robots && !one.surface_forces.empty(); ++b)
    all.surface_forces.push_back(one.surface_forces.front());
  for (const auto list : state_lists) {
    (all.*list).reserve((one.*list).size() * extent(robots));
    for (int b = 0; b < robots; ++b) (all.*list).insert((all.*list).end(), (one.*list).begin(), (one.*list).end());
  }
  return all;
}

void reset(State& state, std::span<const int> robots, const State& start) {
  SUPPLE_EXPECT(start.robots == 1 || start.robots == state.robots);
  for (const int b : robots) copy_robot(start, start.robots == 1 ? 0 : b, state, b);
}

std::vector<double> surface_force_rows(const State& state) {
  std::vector<double> rows;
  for (std::size_t b = 0; b < state.surface_forces.size(); ++b)
    for (const SurfaceForce& of : state.surface_forces[b])
      rows.insert(rows.end(), {static_cast<double>(b), static_cast<double>(of.first), static_cast<double>(of.second),
                               of.force[0], of.force[1], of.force[2]});
  return rows;
}

bool set_surface_forces(State& state, std::span<const double> rows) {
  if (rows.size() % surface_force_columns != 0) return false;
  std::vector<std::vector<SurfaceForce>> forces(extent(state.robots));
  const auto whole = [](double value, double end) { return value >= 0 && value < end && value == std::floor(value); };
  std::array<double, 3> before{-1, -1, -1};
  for (std::size_t k = 0; k < rows.size(); k += surface_force_columns) {
    const std::array<double, 3> now{rows[k], rows[k + 1], rows[k + 2]};
    if (!whole(now[0], state.robots) || !whole(now[1], 0x1p32) || !whole(now[2], 0x1p32) || !(before < now))
      return false;
    before = now;
    SurfaceForce of{static_cast<std::uint32_t>(now[1]), static_cast<std::uint32_t>(now[2])};
    for (std::size_t i = 0; i < 3; ++i) of.force[i] = rows[k + 3 + i];
    if (!std::ranges::all_of(of.force, [](double f) { return std::isfinite(f); })) return false;
    forces[static_cast<std::size_t>(now[0])].push_back(of);
  }
  state.surface_forces = std::move(forces);
  return true;
}

std::uint64_t hash(const State& state) {
  std::uint64_t h = hash_bytes(&state.time, sizeof state.time);
  for (const auto* v :
       {&state.q, &state.v, &state.multipliers, &state.commands, &state.motions, &state.motion_velocities})
    h = hash_bytes(v->data(), v->size() * sizeof(double), h);
  // Nothing changes the hash too, and robots without obstacles or memory keep theirs.
  for (const auto* v : {&state.contact_forces, &state.history, &state.viscous})
    if (!v->empty()) h = hash_bytes(v->data(), v->size() * sizeof(double), h);
  for (const std::vector<SurfaceForce>& own : state.surface_forces) {
    for (const SurfaceForce& of : own) {
      h = hash_bytes(&of.first, sizeof of.first, h);
      h = hash_bytes(&of.second, sizeof of.second, h);
      h = hash_bytes(of.force, sizeof of.force, h);
    }
    // Where those of the next robot begin.
    if (const std::size_t count = own.size(); state.robots > 1) h = hash_bytes(&count, sizeof count, h);
  }
  return h;
}

}  // namespace supple
