// The runtime steps robots on a CPU.

#include "engine/run/device_steps.hpp"
#include "kernels/base/error.hpp"

namespace supple {

std::optional<InputError> cannot_run_on_device(const ReducedModel&, const DriveSettings&, bool) {
  return InputError("the runtime has no devices", "the device \"cpu\"");
}

std::unique_ptr<RobotSteps> forward_on_device(const ReducedModel&, const Device&, const DriveSettings&,
                                              const CommandSource&, const State&) {
  throw CapabilityError("the runtime has no devices", "the device \"cpu\"");
}

std::unique_ptr<RobotSteps> inverse_on_device(const ReducedModel&, const Device&, const DriveSettings&,
                                              const InverseSettings&, const GoalSource&, const State&,
                                              InverseAnswers*&) {
  throw CapabilityError("the runtime has no devices", "the device \"cpu\"");
}

}  // namespace supple
