#include "solvers/dense/device_peaks.hpp"

#include <algorithm>
#include <chrono>
#include <random>
#include <vector>

#include "kernels/array/array.hpp"
#include "kernels/base/extent.hpp"
#include "solvers/dense/batched.hpp"

namespace supple {

namespace {

// 1 / least time of a trial.
template <class Trial>
double best_rate(const Device& device, double seconds, Trial trial) {
  double least = 0, spent = 0;
  for (int k = 0; k < 3 || spent < seconds; ++k) {
    const auto begin = std::chrono::steady_clock::now();
    trial();
    synchronize(device);
    const double time = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    if (k == 0) continue;  // library handles, first touch
    least = k == 1 ? time : std::min(least, time);
    spent += time;
  }
  return 1 / least;
}

// Numbers of [-1, 1), whose products cost the power that real ones do.
template <class S>
std::vector<S> random_numbers(std::size_t count) {
  std::mt19937 random(1);
  std::vector<S> numbers(count);
  for (S& x : numbers) x = static_cast<S>(static_cast<double>(random()) * 0x1p-31 - 1);
  return numbers;
}

template <class S>
double product_rate(DenseContext& context, int n, double seconds) {
  const Device& device = context.device();
  const std::vector<S> numbers = random_numbers<S>(extent(n, n));
  const Array<S> A(device, numbers), B(device, numbers);
  Array<S> C(device, numbers.size());
  return 2.0 * n * n * n * best_rate(device, seconds, [&] {
           gemm<S>(context, n, n, n, S(1), {A.data(), n}, {B.data(), n}, S(0), {C.data(), n});
         });
}

// A GPU is busy with a product that takes a millisecond.
template <class S>
double product_rate(const Device& device, double seconds) {
  DenseContext context(device);
  int n = 256;
  if (device.kind == Device::Kind::cuda)
    while (n < 4096 && 2.0 * n * n * n < 1e-3 * product_rate<S>(context, n, 0)) n *= 2;
  return product_rate<S>(context, n, seconds);
}

}  // namespace

DevicePeaks measure_device_peaks(const Device& device, double seconds) {
  DevicePeaks peaks{.product = product_rate<double>(device, seconds),
                    .product_fp32 = product_rate<float>(device, seconds)};
  const std::size_t numbers = device.kind == Device::Kind::cuda ? std::size_t{1} << 25 : std::size_t{1} << 20;
  std::vector<double> host(numbers, 1.0);
  Array<double> there(device, numbers);
  const double bytes = static_cast<double>(numbers * sizeof(double));
  peaks.to_device = bytes * best_rate(device, seconds, [&] { there.upload(host); });
  peaks.from_device = bytes * best_rate(device, seconds, [&] { there.download(host); });
  return peaks;
}

}  // namespace supple
