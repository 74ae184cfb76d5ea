// Any bytes are a reduced model or an InputError; a model that is read can be stepped.
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <string>

#include "engine/io/model_file.hpp"
#include "tests/fuzz/step_model.hpp"

// HDF5 1.10 leaks objects of damaged files it gives up on.
extern "C" const char* __lsan_default_suppressions() {  // NOLINT: the sanitizer's name
  return "leak:libhdf5";
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::string path = "/dev/shm/supple-model-fuzzer-" + std::to_string(getpid());
  std::FILE* file = std::fopen(path.c_str(), "wb");
  if (!file) return 0;
  std::fwrite(data, 1, size, file);
  std::fclose(file);
  step_model([&] { return supple::read_model(path); });
  std::remove(path.c_str());
  return 0;
}
