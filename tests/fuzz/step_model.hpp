#pragma once
// What the fuzzers of model files do with the bytes: they are a reduced model or an InputError; a model that is read can
// be stepped.
#include <cstdlib>

#include "engine/mechanics/reduced/reduced_mechanics.hpp"
#include "engine/step/step.hpp"
#include "kernels/base/error.hpp"

// read(): the model, or an InputError.
template <class Read>
void step_model(const Read& read) {
  try {
    const supple::ReducedModel model = read();
    if (model.modes > 64) throw supple::InputError("too large to fuzz", "fewer modes");  // slow, not wrong
    supple::ReducedMechanics mechanics(model);
    supple::Stepper stepper(mechanics, {.time_step = model.robot.time_step});
    supple::State state = supple::rest_state(mechanics);
    (void)stepper.step(supple::zero_control(mechanics), state);
  } catch (const supple::InputError& error) {
    if (error.report().empty()) std::abort();
  }
}
