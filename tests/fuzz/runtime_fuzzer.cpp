// Any bytes are a model of the runtime or an InputError. The sum over the bytes is set right, so that what lies behind it
// is reached.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

#include "engine/io/runtime_file.hpp"
#include "engine/mechanics/reduced/reduced_mechanics.hpp"
#include "engine/step/step.hpp"
#include "kernels/base/error.hpp"
#include "kernels/base/hash.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string bytes(reinterpret_cast<const char*>(data), size);
  if (size >= 64) {
    const std::uint64_t whole = size, sum = supple::hash_bytes(bytes.data() + 64, size - 64);
    std::memcpy(bytes.data() + 32, &whole, sizeof whole);
    std::memcpy(bytes.data() + 40, &sum, sizeof sum);
  }
  try {
    const supple::ReducedModel model = supple::read_runtime_bytes(bytes, "fuzz");
    if (model.modes > 64) throw supple::InputError("too large to fuzz", "fewer modes");  // slow, not wrong
    supple::ReducedMechanics mechanics(model);
    supple::Stepper stepper(mechanics, {.time_step = model.robot.time_step});
    supple::State state = supple::rest_state(mechanics);
    (void)stepper.step(supple::zero_control(mechanics), state);
  } catch (const supple::InputError& error) {
    if (error.report().empty()) std::abort();
  }
  return 0;
}
