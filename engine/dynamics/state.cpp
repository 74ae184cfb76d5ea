#include "engine/dynamics/state.hpp"

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

void reset(State& state, std::span<const int> robots, const State& start) {
  const bool one = start.robots == 1;
  SUPPLE_EXPECT(one || start.robots == state.robots);
  for (const auto member : {&State::q, &State::v, &State::multipliers, &State::contact_forces, &State::commands,
                            &State::motions, &State::motion_velocities}) {
    const std::vector<double>& from = start.*member;
    std::vector<double>& to = state.*member;
    const std::size_t size = from.size() / extent(start.robots);
    SUPPLE_EXPECT(to.size() == size * extent(state.robots));
    for (const int b : robots) {
      SUPPLE_EXPECT(b >= 0 && b < state.robots);
      std::copy_n(from.data() + (one ? 0 : extent(b) * size), size, to.data() + extent(b) * size);
    }
  }
}

std::uint64_t hash(const State& state) {
  std::uint64_t h = hash_bytes(&state.time, sizeof state.time);
  for (const auto* v :
       {&state.q, &state.v, &state.multipliers, &state.commands, &state.motions, &state.motion_velocities})
    h = hash_bytes(v->data(), v->size() * sizeof(double), h);
  // Nothing changes the hash too, and robots without obstacles keep theirs.
  if (!state.contact_forces.empty())
    h = hash_bytes(state.contact_forces.data(), state.contact_forces.size() * sizeof(double), h);
  return h;
}

}  // namespace supple
