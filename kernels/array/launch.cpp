#include "kernels/array/launch.hpp"

#include <algorithm>

namespace supple {

int team_count(const Device& device, int n) {
  if (device.kind == Device::Kind::cpu) return std::min(n, omp_get_max_threads());
#ifdef SUPPLE_HAVE_CUDA
  return std::min(n, cuda_team_count(device.index));
#else
  throw CapabilityError("no CUDA code in this build", "configure with -DSUPPLE_CUDA=ON, or use --device cpu");
#endif
}

}  // namespace supple
