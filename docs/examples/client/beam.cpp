// A beam clamped at one end, released under gravity: one step of 10 ms of the full model.

#include <cstdio>

#include "engine/mechanics/full/full_mechanics.hpp"
#include "engine/mesh/generate.hpp"
#include "engine/step/step.hpp"

int main() {
  supple::Scene scene;
  scene.name = "beam";
  supple::BodyScene& body = scene.bodies.emplace_back();
  body.density = 1000;  // kg/m^3
  supple::MaterialScene& silicone = body.materials.emplace_back();
  silicone.young = 450e3;  // Pa
  silicone.poisson = 0.45;
  supple::Region& clamp = body.fixes.emplace_back().region;
  clamp.kind = supple::Region::Kind::group;
  clamp.group = "x-";  // one of the sides that box_hexahedra names
  scene.effectors.push_back(supple::position_effector("tip", {{0.1, 0.01, 0.01}}));  // m

  const supple::Mesh mesh = supple::box_hexahedra({{0, 0, 0}}, {{0.1, 0.02, 0.02}}, 20, 4, 4);
  const supple::FullModel model = supple::build_full_model(scene, mesh);
  supple::FullMechanics mechanics(model);
  supple::Stepper stepper(mechanics, {.time_step = 0.01});
  supple::State state = supple::rest_state(mechanics);
  const supple::StepReport report = stepper.step(supple::zero_control(mechanics), state);
  std::printf("%s: %d unknowns, tip at z = %.6f m after %g s\n", supple::describe(report.status), model.coordinates.nv,
              stepper.outputs()[2], state.time);
  return report.status == supple::StepStatus::ok ? 0 : 1;
}
