#pragma once
// The error of a build without CUDA that is asked for a GPU.

#include "kernels/base/error.hpp"

namespace supple {

[[noreturn]] void no_cuda();

}  // namespace supple
