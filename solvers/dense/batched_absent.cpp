// What stands for batched_cuda.cpp in a build without CUDA: no context on a GPU can be made, so the rest is never asked.

#include "kernels/cuda/absent.hpp"
#include "solvers/dense/batched_backends.hpp"

namespace supple {

std::shared_ptr<CudaDense> make_cuda_dense(const Device&) {
  no_cuda();
}
template <class S>
void gemm_cuda(CudaDense&, int, int, int, S, const Operand<S>&, const Operand<S>&, S, const Target<S>&, int) {
  no_cuda();
}
template <class S>
void potrf_batched_cuda(CudaDense&, int, S*, int, std::ptrdiff_t, int*, int) {
  no_cuda();
}
template <class S>
void potrs_batched_cuda(CudaDense&, int, int, const S*, int, std::ptrdiff_t, S*, int, std::ptrdiff_t, int) {
  no_cuda();
}
void geqrf_cuda(CudaDense&, int, int, double*, int) {
  no_cuda();
}
std::size_t geqrf_bytes_cuda(CudaDense&, int, int) {
  no_cuda();
}

#define SUPPLE_BATCHED_ABSENT(S)                                                                                      \
  template void gemm_cuda<S>(CudaDense&, int, int, int, S, const Operand<S>&, const Operand<S>&, S, const Target<S>&, \
                             int);                                                                                    \
  template void potrf_batched_cuda<S>(CudaDense&, int, S*, int, std::ptrdiff_t, int*, int);                           \
  template void potrs_batched_cuda<S>(CudaDense&, int, int, const S*, int, std::ptrdiff_t, S*, int, std::ptrdiff_t, int)

SUPPLE_BATCHED_ABSENT(double);
SUPPLE_BATCHED_ABSENT(float);

}  // namespace supple
