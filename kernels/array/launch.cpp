#include "kernels/array/launch.hpp"

#include <algorithm>

namespace supple {

int team_count(const Device& device, int n) {
  if (device.kind == Device::Kind::cpu) return std::min(n, most_threads());
  return std::min(n, cuda_team_count(device.index));
}

}  // namespace supple
