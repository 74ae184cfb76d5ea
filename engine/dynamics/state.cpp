#include "engine/dynamics/state.hpp"

#include "kernels/base/hash.hpp"

namespace supple {

std::uint64_t hash(const State& state) {
  std::uint64_t h = hash_bytes(&state.time, sizeof state.time);
  for (const auto* v :
       {&state.q, &state.v, &state.multipliers, &state.commands, &state.motions, &state.motion_velocities})
    h = hash_bytes(v->data(), v->size() * sizeof(double), h);
  return h;
}

}  // namespace supple
