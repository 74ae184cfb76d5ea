#pragma once
// launch(device, n, op): op(0) ... op(n - 1), in any order, on a device. An op writes only what its index owns, so
// every order and every number of threads gives the same bits. CUDA instantiations are listed explicitly in
// kernels/cuda/*.cu: a forgotten one is a link error.

#include "kernels/array/device.hpp"
#include "kernels/base/error.hpp"

namespace supple {

// Below this many indices threads cost more than they bring.
inline constexpr int launch_serial_below = 512;

template <class Op>
void launch_cpu(int n, const Op& op) {
#pragma omp parallel for schedule(static) if (n >= launch_serial_below)
  for (int i = 0; i < n; ++i) op(i);
}

#ifdef SUPPLE_HAVE_CUDA
template <class Op>
void launch_cuda(int device, int n, const Op& op);  // kernels/cuda/launch.cuh
#endif

template <class Op>
void launch(const Device& device, int n, const Op& op) {
  if (device.kind == Device::Kind::cpu) {
    launch_cpu(n, op);
    return;
  }
#ifdef SUPPLE_HAVE_CUDA
  launch_cuda(device.index, n, op);
#else
  throw CapabilityError("no CUDA code in this build", "configure with -DSUPPLE_CUDA=ON, or use --device cpu");
#endif
}

}  // namespace supple
