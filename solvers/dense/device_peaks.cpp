#include "solvers/dense/device_peaks.hpp"

#include <algorithm>
#include <chrono>
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

template <class S>
double product_rate(const Device& device, double seconds) {
  const int n = device.kind == Device::Kind::cuda ? 4096 : 256;
  DenseContext context(device);
  const std::vector<S> ones(extent(n, n), S(1));
  const Array<S> A(device, ones), B(device, ones);
  Array<S> C(device, ones.size());
  return 2.0 * n * n * n * best_rate(device, seconds, [&] {
           gemm<S>(context, n, n, n, S(1), {A.data(), n}, {B.data(), n}, S(0), {C.data(), n});
         });
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
