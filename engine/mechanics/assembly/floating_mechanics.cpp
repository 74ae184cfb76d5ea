#include "engine/mechanics/assembly/floating_mechanics.hpp"

#include <utility>

#include "kernels/base/contract.hpp"

namespace supple {

namespace {

Assembly alone_on_a_frame(const ReducedModel& model, Mechanics& body) {
  Assembly assembly;
  assembly.name = model.robot.name;
  assembly.gravity = model.robot.gravity;
  assembly.time_step = model.robot.time_step;
  assembly.integrator = model.robot.integrator;
  assembly.implicit_velocity = model.robot.implicit_velocity;
  assembly.implicit_position = model.robot.implicit_position;
  assembly.obstacles = model.robot.obstacles;
  assembly.contact_distance = model.robot.contact_distance;
  assembly.frames = {{.name = "frame", .pose = {}, .hold = Assembly::Hold::free, .inertia = {}, .motions = {}}};
  assembly.bodies = {
      {.name = "", .mechanics = &body, .inertia = body_inertia(model), .frame = 0, .place = {}, .alone = true}};
  return assembly;
}

}  // namespace

std::shared_ptr<const ReducedModel> shape_model(const ReducedModel& model) {
  SUPPLE_EXPECT(model.on_frame);
  auto shape = std::make_shared<ReducedModel>(model);
  shape->on_frame = false;
  shape->robot.floating = false;
  shape->robot.obstacles.clear();
  return shape;
}

FloatingMechanics::FloatingMechanics(const ReducedModel& model, std::shared_ptr<const ReducedModel> shape)
    : FloatingMechanics(model, std::make_unique<Body>(std::move(shape))) {}

FloatingMechanics::FloatingMechanics(const ReducedModel& model, std::unique_ptr<Body> body)
    : AssemblyMechanics(alone_on_a_frame(model, body->mechanics)), model_(model), body_(std::move(body)) {}

void FloatingMechanics::set_variations(Variations variations) {
  check_variations(model_, 1, variations);
  if (!variations.density.empty() || !variations.rayleigh_mass.empty() || !variations.rayleigh_stiffness.empty())
    throw InputError("free-floating bodies do not differ in density and damping yet",
                     "gravity, material_scale and friction");
  set_gravity(variations.gravity.empty()
                  ? model_.robot.gravity
                  : Vec3d{{variations.gravity[0], variations.gravity[1], variations.gravity[2]}});
  set_friction(std::move(variations.friction));
  body_->mechanics.set_variations({.material_scale = variations.material_scale});
}

std::unique_ptr<Mechanics> reduced_mechanics(const ReducedModel& model) {
  if (model.on_frame) return std::make_unique<FloatingMechanics>(model, shape_model(model));
  return std::make_unique<ReducedMechanics>(model);
}

}  // namespace supple
