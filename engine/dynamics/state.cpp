#include "engine/dynamics/state.hpp"

#include "kernels/base/hash.hpp"

namespace supple {

bool same_sizes(const State& a, const State& b) {
  return a.robots == b.robots && a.q.size() == b.q.size() && a.v.size() == b.v.size() &&
         a.multipliers.size() == b.multipliers.size() && a.contact_forces.size() == b.contact_forces.size() &&
         a.commands.size() == b.commands.size() && a.motions.size() == b.motions.size() &&
         a.motion_velocities.size() == b.motion_velocities.size();
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
