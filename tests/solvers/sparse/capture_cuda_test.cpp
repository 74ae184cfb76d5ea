// Whether the batched factorisation and solves of a step can be recorded in a CUDA graph, and what a replay saves
// (docs/decisions/0017-batches-on-a-gpu.md). What the libraries answer is written down; where there is a graph, it has
// the bits of the calls.

#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <cusolverDn.h>

#include <cstdio>
#include <functional>
#include <vector>

#include "kernels/array/array.hpp"
#include "kernels/cuda/check.hpp"
#include "tests/devices.hpp"

namespace supple {
namespace {

constexpr int n = 34, batch = 1024;

class Capture : public testing::Test {
 protected:
  void SetUp() override {
    test::need_device(cuda(0));
    if (IsSkipped() || HasFatalFailure()) return;
    check_cuda(cudaSetDevice(0), "choosing the CUDA device");
    check_cuda(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "making a stream");
    ASSERT_EQ(cublasCreate(&blas_), CUBLAS_STATUS_SUCCESS);
    ASSERT_EQ(cusolverDnCreate(&solver_), CUSOLVER_STATUS_SUCCESS);
    ASSERT_EQ(cublasSetStream(blas_, stream_), CUBLAS_STATUS_SUCCESS);
    ASSERT_EQ(cusolverDnSetStream(solver_, stream_), CUSOLVER_STATUS_SUCCESS);
  }
  void TearDown() override {
    if (solver_ != nullptr) cusolverDnDestroy(solver_);
    if (blas_ != nullptr) cublasDestroy(blas_);
    if (stream_ != nullptr) cudaStreamDestroy(stream_);
  }

  // Mean of 100 runs after one [us].
  double microseconds(const std::function<void()>& run) {
    cudaEvent_t begin, end;
    check_cuda(cudaEventCreate(&begin), "making an event");
    check_cuda(cudaEventCreate(&end), "making an event");
    run();
    check_cuda(cudaEventRecord(begin, stream_), "recording an event");
    for (int k = 0; k < 100; ++k) run();
    check_cuda(cudaEventRecord(end, stream_), "recording an event");
    check_cuda(cudaEventSynchronize(end), "waiting for the GPU");
    float milliseconds = 0;
    check_cuda(cudaEventElapsedTime(&milliseconds, begin, end), "reading an event");
    cudaEventDestroy(begin);
    cudaEventDestroy(end);
    return 10 * static_cast<double>(milliseconds);
  }

  cudaStream_t stream_ = nullptr;
  cublasHandle_t blas_ = nullptr;
  cusolverDnHandle_t solver_ = nullptr;
};

TEST_F(Capture, FactorisationAndSolves) {
  // Symmetric and diagonally dominant; a factorisation overwrites its matrix, so that each run begins with a copy.
  std::vector<double> values(static_cast<std::size_t>(n) * n * batch);
  for (std::size_t k = 0; k < values.size(); ++k) {
    const std::size_t i = k / n % n, j = k % n, b = k / (n * n);
    values[k] = i == j ? n + static_cast<double>(b % 7) : 1.0 / static_cast<double>(1 + i + j);
  }
  const Device device = cuda(0);
  const Array<double> original(device, values);
  Array<double> A(device, values.size()), x(device, static_cast<std::size_t>(n) * batch);
  Array<int> info(device, batch);
  const std::vector<double> ones(x.size(), 1.0);
  const Array<double> right(device, ones);
  std::vector<double*> A_of, x_of;
  for (int b = 0; b < batch; ++b) {
    A_of.push_back(A.data() + static_cast<std::ptrdiff_t>(b) * n * n);
    x_of.push_back(x.data() + static_cast<std::ptrdiff_t>(b) * n);
  }
  Array<double*> A_list(device, A_of), x_list(device, x_of);
  const double one = 1;
  int refused = 0;
  const auto calls = [&] {
    refused += cudaMemcpyAsync(A.data(), original.data(), values.size() * sizeof(double), cudaMemcpyDeviceToDevice,
                               stream_) != cudaSuccess;
    refused += cudaMemcpyAsync(x.data(), right.data(), ones.size() * sizeof(double), cudaMemcpyDeviceToDevice,
                               stream_) != cudaSuccess;
    refused += cusolverDnDpotrfBatched(solver_, CUBLAS_FILL_MODE_UPPER, n, A_list.data(), n, info.data(), batch) !=
               CUSOLVER_STATUS_SUCCESS;
    for (const cublasOperation_t part : {CUBLAS_OP_T, CUBLAS_OP_N})
      refused += cublasDtrsmBatched(blas_, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_UPPER, part, CUBLAS_DIAG_NON_UNIT, n, 1,
                                    &one, A_list.data(), n, x_list.data(), n, batch) != CUBLAS_STATUS_SUCCESS;
  };
  synchronize(device);  // the stream does not wait for the uploads
  calls();
  check_cuda(cudaStreamSynchronize(stream_), "waiting for the GPU");
  ASSERT_EQ(refused, 0);
  std::vector<int> pivots(batch);
  info.download(pivots);
  EXPECT_EQ(pivots, std::vector<int>(batch, 0));
  std::vector<double> expected(ones.size()), found(ones.size());
  x.download(expected);

  check_cuda(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal), "beginning a capture");
  calls();
  cudaGraph_t graph = nullptr;
  const cudaError_t ended = cudaStreamEndCapture(stream_, &graph);
  if (refused > 0 || ended != cudaSuccess || graph == nullptr) {
    (void)cudaGetLastError();
    std::printf("not capturable: %d of 5 calls refused, %s\n", refused, cudaGetErrorName(ended));
    // A capture that was refused must not have spoilt the stream.
    refused = 0;
    calls();
    check_cuda(cudaStreamSynchronize(stream_), "waiting for the GPU");
    EXPECT_EQ(refused, 0);
    x.download(found);
    EXPECT_EQ(found, expected);
    return;
  }
  cudaGraphExec_t replay = nullptr;
  check_cuda(cudaGraphInstantiate(&replay, graph, 0), "making a graph");
  check_cuda(cudaMemsetAsync(x.data(), 0, ones.size() * sizeof(double), stream_), "clearing memory");
  check_cuda(cudaGraphLaunch(replay, stream_), "launching a graph");
  check_cuda(cudaStreamSynchronize(stream_), "waiting for the GPU");
  x.download(found);
  EXPECT_EQ(found, expected);
  const double by_calls = microseconds(calls);
  const double by_graph = microseconds([&] { check_cuda(cudaGraphLaunch(replay, stream_), "launching a graph"); });
  std::printf("capturable: %d systems of %d in %.1f us by calls, %.1f us by a graph\n", batch, n, by_calls, by_graph);
  cudaGraphExecDestroy(replay);
  cudaGraphDestroy(graph);
}

}  // namespace
}  // namespace supple
