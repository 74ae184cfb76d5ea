#pragma once
// The device side of CUDA C++ for a host compiler: built-in variables, the barrier, and a launch.

#include <cstddef>
#include <functional>
#include <initializer_list>
#include <tuple>
#include <typeinfo>

#include <cuda_runtime_api.h>

#define __host__
#define __device__
#define __global__
// Blocks run one after the other.
#define __shared__ static
#define __launch_bounds__(...)

namespace supple::emulation {

struct Index3 {
  unsigned x = 0, y = 0, z = 0;
};

// Whether the threads of a block may meet at a barrier; those that do run as fibers.
enum class Threads { apart, together };

struct Argument {
  const void* data;
  std::size_t bytes;
};

// Queues a kernel of `grid` blocks of `block` threads; `body` runs it for the thread that the built-in variables name.
// Words of an argument that are addresses of host memory stop the program.
void queue_kernel(const std::type_info& kernel, Threads threads, unsigned grid, unsigned block,
                  std::initializer_list<Argument> arguments, std::function<void()> body);
void wait_for_block();

template <class... Arguments>
void start(Threads threads, void (*kernel)(Arguments...), unsigned grid, unsigned block, const auto&... arguments) {
  // Copies: a launch takes its arguments by value. Padding may hold anything, addresses too.
  std::tuple<Arguments...> copies(arguments...);
  std::apply(
      [&](Arguments&... copy) {
        (__builtin_clear_padding(&copy), ...);
        queue_kernel(typeid(kernel), threads, grid, block, {Argument{&copy, sizeof copy}...},
                     [=] { kernel(copy...); });
      },
      copies);
}

}  // namespace supple::emulation

extern supple::emulation::Index3 threadIdx, blockIdx, blockDim, gridDim;

inline void __syncthreads() {
  supple::emulation::wait_for_block();
}
