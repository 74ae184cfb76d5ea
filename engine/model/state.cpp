#include "engine/model/state.hpp"

#include <algorithm>

#include "kernels/base/contract.hpp"
#include "kernels/base/extent.hpp"
#include "kernels/base/hash.hpp"

namespace supple {

bool same_sizes(const State& a, const State& b) {
  return a.robots == b.robots && a.q.size() == b.q.size() && a.v.size() == b.v.size() &&
         a.multipliers.size() == b.multipliers.size() && a.contact_forces.size() == b.contact_forces.size() &&
         a.commands.size() == b.commands.size() && a.motions.size() == b.motions.size() &&
         a.motion_velocities.size() == b.motion_velocities.size();
}

namespace {

// Every list of a state.
constexpr auto lists = {&State::q,        &State::v,       &State::multipliers,      &State::contact_forces,
                        &State::commands, &State::motions, &State::motion_velocities};

}  // namespace

void copy_robot(const State& from, int a, State& to, int b) {
  SUPPLE_EXPECT(a >= 0 && a < from.robots && b >= 0 && b < to.robots);
  for (const auto list : lists) {
    const std::vector<double>& source = from.*list;
    const std::size_t size = source.size() / extent(from.robots);
    SUPPLE_EXPECT((to.*list).size() == size * extent(to.robots));
    std::copy_n(source.data() + extent(a) * size, size, (to.*list).data() + extent(b) * size);
  }
  SUPPLE_EXPECT((from.surface_forces.empty() && to.surface_forces.empty()) || (from.robots == 1 && to.robots == 1));
  to.surface_forces = from.surface_forces;
}

State one_robot(const State& state, int b) {
  State one;
  one.time = state.time;
  for (const auto list : lists) (one.*list).resize((state.*list).size() / extent(state.robots));
  copy_robot(state, b, one, 0);
  return one;
}

State repeated(const State& one, int robots) {
  SUPPLE_EXPECT(one.robots == 1);
  State all;
  all.robots = robots;
  all.time = one.time;
  SUPPLE_EXPECT(robots == 1 || one.surface_forces.empty());
  all.surface_forces = one.surface_forces;
  for (const auto list : lists) {
    (all.*list).reserve((one.*list).size() * extent(robots));
    for (int b = 0; b < robots; ++b) (all.*list).insert((all.*list).end(), (one.*list).begin(), (one.*list).end());
  }
  return all;
}

void reset(State& state, std::span<const int> robots, const State& start) {
  SUPPLE_EXPECT(start.robots == 1 || start.robots == state.robots);
  for (const int b : robots) copy_robot(start, start.robots == 1 ? 0 : b, state, b);
}

std::uint64_t hash(const State& state) {
  std::uint64_t h = hash_bytes(&state.time, sizeof state.time);
  for (const auto* v :
       {&state.q, &state.v, &state.multipliers, &state.commands, &state.motions, &state.motion_velocities})
    h = hash_bytes(v->data(), v->size() * sizeof(double), h);
  // Nothing changes the hash too, and robots without obstacles keep theirs.
  if (!state.contact_forces.empty())
    h = hash_bytes(state.contact_forces.data(), state.contact_forces.size() * sizeof(double), h);
  if (!state.surface_forces.empty())
    h = hash_bytes(state.surface_forces.data(), state.surface_forces.size() * sizeof(double), h);
  return h;
}

}  // namespace supple
