// A beam clamped at one end, released under gravity: one step of 10 ms of the full model.

#include <cstdio>

#include "engine/dynamics/full_mechanics.hpp"
#include "engine/dynamics/step.hpp"
#include "engine/mesh/generate.hpp"

int main() {
  try {
    supple::Scene scene;
    scene.name = "beam";
    supple::BodyScene& body = scene.bodies.emplace_back();
    body.density = 1000;  // kg/m^3
    body.materials.push_back({.young = 450e3, .poisson = 0.45});
    body.fixes.push_back({.region = {.kind = supple::Region::Kind::group, .group = "x-"}});
    scene.effectors.push_back({.name = "tip", .point = {{0.1, 0.01, 0.01}}});

    const supple::FullModel model =
        supple::build_full_model(scene, supple::box_hexahedra({{0, 0, 0}}, {{0.1, 0.02, 0.02}}, 20, 4, 4));
    supple::FullMechanics mechanics(model);
    supple::Stepper stepper(mechanics, {.time_step = 0.01});
    supple::State state = supple::rest_state(mechanics);
    const supple::StepReport report = stepper.step(supple::zero_control(mechanics), state);
    const double* tip = &stepper.outputs()[3 * static_cast<std::size_t>(model.robot.effectors[0].point)];
    std::printf("%s: %d unknowns, tip after %g s at (%.6f, %.6f, %.6f) m\n", supple::describe(report.status),
                model.coordinates.nv, state.time, tip[0], tip[1], tip[2]);
    return report.status == supple::StepStatus::ok ? 0 : 1;
  } catch (const supple::Error& error) {
    std::fprintf(stderr, "%s\n", error.report().c_str());
    return error.exit_code();
  }
}
