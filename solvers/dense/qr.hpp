#pragma once
// Householder QR of one matrix on a device: by Eigen on the CPU, by cuSOLVER on a GPU.

#include "solvers/dense/batched.hpp"

namespace supple {

/// A (m x n column-major, leading dimension ld, on the context's device) <- its factors: R on and above the diagonal,
/// what Q is made of below. Needs geqrf_bytes of the device beside A.
void geqrf(DenseContext& context, int m, int n, double* A, int ld);
std::size_t geqrf_bytes(DenseContext& context, int m, int n);

}  // namespace supple
