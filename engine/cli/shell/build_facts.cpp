#include "engine/cli/shell/build_facts.hpp"

#include <fmt/format.h>
#include <omp.h>
#include <sys/utsname.h>

#include <fstream>

#include "engine/io/saved_run.hpp"
#include "kernels/array/device.hpp"
#include "solvers/sparse/direct.hpp"

namespace supple::cli {

std::string isa() {
#if defined(__AVX512F__)
  return "x86-64-v4 (AVX-512)";
#elif defined(__AVX2__) && defined(__FMA__)
  return "x86-64-v3 (AVX2, FMA)";
#elif defined(__SSE4_2__)
  return "x86-64-v2 (SSE4.2)";
#elif defined(__x86_64__)
  return "x86-64";
#elif defined(__aarch64__)
  return "aarch64";
#else
  return "unknown";
#endif
}

std::string compiler_flags() {
#if defined(__clang__)
  return "clang++ " __clang_version__ " " SUPPLE_FLAGS;
#else
  return "g++ " __VERSION__ " " SUPPLE_FLAGS;
#endif
}

std::string processor() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name")) {
      const auto colon = line.find(": ");
      if (colon != std::string::npos) return line.substr(colon + 2);
    }
  utsname names{};
  return uname(&names) == 0 ? names.machine : "unknown";
}

std::vector<std::pair<std::string, std::string>> build_facts() {
  const int devices = cuda_device_count();
  return {{"version", version()},
          {"commit", commit()},
          {"build", fmt::format("{}, {}", build_type(), isa())},
          {"processor", processor()},
          {"threads", fmt::format("{} (OpenMP)", omp_get_max_threads())},
          {"sparse solver", make_sparse_direct()->name()},
          {"CUDA", devices > 0 ? fmt::format("{} device{}", devices, devices > 1 ? "s" : "")
                               : "not used: " + cuda_absence_reason()},
          {"HDF5", hdf5_version()}};
}

}  // namespace supple::cli
