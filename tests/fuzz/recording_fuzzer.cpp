// Any bytes are a recording or an InputError; of one that is read every frame can be.
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "engine/io/recording.hpp"
#include "kernels/base/error.hpp"

// HDF5 1.10 leaks objects of damaged files it gives up on.
extern "C" const char* __lsan_default_suppressions() {  // NOLINT: the sanitizer's name
  return "leak:libhdf5";
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::string path = "/dev/shm/supple-recording-fuzzer-" + std::to_string(getpid()) + ".rec.h5";
  std::FILE* file = std::fopen(path.c_str(), "wb");
  if (!file) return 0;
  std::fwrite(data, 1, size, file);
  std::fclose(file);
  try {
    supple::RecordingReader reader(path);
    for (long k = reader.frames() - 1; k >= 0; k -= 1 + reader.frames() / 50) (void)reader.frame(k);
  } catch (const supple::InputError& error) {
    if (error.report().empty()) std::abort();
  }
  std::remove(path.c_str());
  return 0;
}
