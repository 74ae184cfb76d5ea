// Any bytes are a reduced model or an InputError; a model that is read can be stepped.
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "engine/io/model_file.hpp"
#include "engine/mechanics/reduced/reduced_mechanics.hpp"
#include "engine/step/step.hpp"
#include "kernels/base/error.hpp"

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
  try {
    const supple::ReducedModel model = supple::read_model(path);
    if (model.modes > 64) throw supple::InputError("too large to fuzz", "fewer modes");  // slow, not wrong
    supple::ReducedMechanics mechanics(model);
    supple::Stepper stepper(mechanics, {.time_step = model.robot.time_step});
    supple::State state = supple::rest_state(mechanics);
    (void)stepper.step(supple::zero_control(mechanics), state);
  } catch (const supple::InputError& error) {
    if (error.report().empty()) std::abort();
  }
  std::remove(path.c_str());
  return 0;
}
