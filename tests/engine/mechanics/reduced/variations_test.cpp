// Robots of a batch that differ from each other, against single robots of models that were changed so; robots that are
// put back to a state while the others go on.

#include <gtest/gtest.h>

#include <limits>

#include "engine/mechanics/reduced/reduced_batch_mechanics.hpp"
#include "engine/mechanics/reduced/reduced_mechanics.hpp"
#include "kernels/base/error.hpp"
#include "tests/devices.hpp"
#include "tests/engine/bodies/contact_bodies.hpp"
#include "tests/engine/bodies/reduced_bodies.hpp"

namespace supple {
namespace {

constexpr int robots = 4, modes = 10;

// Held at one end, two materials and a sheet; over a floor.
ReducedModel two_materials(const boxes::Law& first, const boxes::Law& second, bool floor) {
  Scene scene = reduced_bodies::bar_scene(first);
  MaterialScene other = boxes::scene(second, 4e5, 0.3).bodies[0].materials[0];
  other.region = boxes::box_region({{0.15, -1, -1}}, {{1, 1, 1}});
  scene.bodies[0].materials.push_back(other);
  MembraneScene sheet;
  sheet.region = boxes::group_region("z-");
  sheet.young = 3e6;
  sheet.thickness = 1e-3;
  scene.bodies[0].membranes = {sheet};
  FullModel full = build_full_model(scene, reduced_bodies::bar(false));
  if (floor) {
    PlacedObstacle ground = contact_bodies::floor(0.4);
    ground.pose.position = {{0, 0, -0.004}};
    contact_bodies::place_among(full, {ground});
  }
  return project(full, reduced_bodies::random_basis(full.coordinates.nv, modes), modes,
                 reduced_bodies::some_elements(full));
}

Variations some_variations(const ReducedModel& model) {
  Variations own;
  for (int b = 0; b < robots; ++b) {
    own.gravity.insert(own.gravity.end(), {0.5 * b, -1, -9.81 - 3 * b});
    for (int g = 0; g < model.regions(); ++g) own.material_scale.push_back(0.6 + 0.3 * b + 0.2 * g);
    for (std::size_t k = 0; k < model.robot.obstacles.size(); ++k) own.friction.push_back(0.2 * b);
    own.density.push_back(0.7 + 0.4 * b);
    own.rayleigh_mass.push_back(1.5 * b);
    own.rayleigh_stiffness.push_back(0.004 * (3 - b));
  }
  return own;
}

// The model of robot b alone.
ReducedModel own_model(ReducedModel model, const Variations& own, std::size_t b) {
  for (int k = 0; k < 3; ++k) model.robot.gravity[k] = own.gravity[3 * b + static_cast<std::size_t>(k)];
  const auto regions = static_cast<std::size_t>(model.regions());
  for (ReducedField& field : model.fields)
    visit_law(field.law, [&](auto law) {
      for (std::size_t g = 0; g < field.parameters.size(); ++g)
        for (int i = 0; i < law.parameters; ++i)
          if ((law.moduli >> i & 1u) != 0)
            field.parameters[g].p[i] *=
                own.material_scale[b * regions + static_cast<std::size_t>(model.first_region(field)) + g];
    });
  for (std::size_t k = 0; k < model.robot.obstacles.size(); ++k)
    model.robot.obstacles[k].friction = own.friction[b * model.robot.obstacles.size() + k];
  for (auto* masses : {&model.mass, &model.input_mass, &model.gravity})
    for (double& value : *masses) value *= own.density[b];
  model.robot.rayleigh_mass = own.rayleigh_mass[b];
  model.robot.rayleigh_stiffness = own.rayleigh_stiffness[b];
  return model;
}

void command(int step, int robot, double* commands) {
  commands[0] = 0.002 * (1 - std::cos(0.2 * step + 0.1 * robot));
  commands[1] = 0.3 + 0.1 * robot;
  commands[2] = 0.0005 * std::sin(0.3 * step);
}

Control control_at(int step, const Mechanics& mechanics) {
  Control control = zero_control(mechanics);
  for (int b = 0; b < mechanics.robots(); ++b) command(step, b, control.commands.data() + 3 * b);
  return control;
}

constexpr int path_steps = 20;

State moved(const Mechanics& mechanics, Stepper& stepper) {
  State state = rest_state(mechanics);
  for (int step = 1; step <= path_steps; ++step)
    EXPECT_EQ(stepper.step(control_at(step, mechanics), state).status, StepStatus::ok);
  return state;
}

// Robot b by itself, of a model that was changed so.
State moved_alone(const ReducedModel& model, const Variations& own, int b, const StepSettings& settings) {
  const ReducedModel alone = own_model(model, own, static_cast<std::size_t>(b));
  ReducedMechanics one(alone);
  Stepper stepper(one, settings);
  State state = rest_state(one);
  Control control = zero_control(one);
  for (int step = 1; step <= path_steps; ++step) {
    command(step, b, control.commands.data());
    EXPECT_EQ(stepper.step(control, state).status, StepStatus::ok);
  }
  return state;
}

std::vector<double> of_robot(const std::vector<double>& values, int b) {
  const auto size = static_cast<std::ptrdiff_t>(values.size() / robots);
  return {values.begin() + b * size, values.begin() + (b + 1) * size};
}

// Robot by robot, and batched on a device.
class RobotsOfTheirOwn : public test::OnDevice {
 protected:
  static std::vector<std::unique_ptr<ReducedRobots>> all_mechanics(const ReducedModel& model) {
    std::vector<std::unique_ptr<ReducedRobots>> all;
    all.push_back(std::make_unique<ReducedMechanics>(model, robots));
    all.push_back(std::make_unique<ReducedBatchMechanics>(model, GetParam(), robots));
    return all;
  }
};
INSTANTIATE_TEST_SUITE_P(Devices, RobotsOfTheirOwn, test::every_device(), test::device_name);

TEST_P(RobotsOfTheirOwn, MoveAsModelsOfTheirOwn) {
  const std::vector<boxes::Law> laws = boxes::all_laws();
  const boxes::Law corotational = laws[0];
  for (const boxes::Law& second : laws) {
    if (!second.exact()) continue;
    SCOPED_TRACE(second.name);
    const ReducedModel model = two_materials(corotational, second, false);
    ASSERT_EQ(model.regions(), 3);
    const Variations own = some_variations(model);
    auto all = all_mechanics(model);
    all.push_back(std::make_unique<ReducedBatchMechanics>(model, GetParam(), robots,
                                                          BatchSettings{.algebra = SystemAlgebra::fused}));
    all.insert(all.begin(), std::make_unique<ReducedMechanics>(model, robots));  // by Newton's method
    for (const auto& mechanics : all) {
      // Set when the stepper is there: the next step knows.
      const StepSettings settings{
          .scheme = mechanics == all.front() ? StepScheme::newton : StepScheme::one_linearisation, .time_step = 0.01};
      Stepper stepper(*mechanics, settings);
      mechanics->set_variations(own);
      const State state = moved(*mechanics, stepper);
      for (int b = 0; b < robots; ++b) {
        const State expected = moved_alone(model, own, b, settings);
        // Rounding of sums in another order, through systems of condition 1e4. Newton's method ends at 1e-9 of the
        // forces at work.
        const double tolerance = mechanics == all.front() ? 1e-7 : 1e-10;
        EXPECT_LT(boxes::difference(of_robot(state.q, b), expected.q), tolerance);
        EXPECT_LT(boxes::difference(of_robot(state.multipliers, b), expected.multipliers), tolerance);
        if (b > 0) {
          EXPECT_GT(boxes::difference(of_robot(state.q, b), of_robot(state.q, b - 1)), 1e-2);
        }
      }
    }
  }
}

// Damping in the part of the forces that is not implicit, and of both factors.
TEST_P(RobotsOfTheirOwn, MoveAsModelsOfTheirOwnWithImplicitFactors) {
  const boxes::Law corotational = boxes::all_laws()[0];
  const ReducedModel model = two_materials(corotational, corotational, false);
  const Variations own = some_variations(model);
  const StepSettings settings{.time_step = 0.01, .implicit_velocity = 0.7, .implicit_position = 0.8};
  for (const auto& mechanics : all_mechanics(model)) {
    mechanics->set_variations(own);
    Stepper stepper(*mechanics, settings);
    const State state = moved(*mechanics, stepper);
    for (int b = 0; b < robots; ++b) {
      const State expected = moved_alone(model, own, b, settings);
      EXPECT_LT(boxes::difference(of_robot(state.q, b), expected.q), 1e-10);  // rounding, as above
    }
  }
}

TEST_P(RobotsOfTheirOwn, TouchTheFloorWithTheirOwnFriction) {
  const boxes::Law corotational = boxes::all_laws()[0];
  const ReducedModel model = two_materials(corotational, corotational, true);
  const Variations own = some_variations(model);
  for (const auto& mechanics : all_mechanics(model)) {
    mechanics->set_variations(own);
    Stepper stepper(*mechanics, {.time_step = 0.01});
    const State state = moved(*mechanics, stepper);
    bool gripped = false;
    for (int b = 0; b < robots; ++b) {
      const State expected = moved_alone(model, own, b, {.time_step = 0.01});
      // Contact forces are found to 1e-8 (tight_residual).
      EXPECT_LT(boxes::difference(of_robot(state.q, b), expected.q), 1e-7);
      const Vec3d force = contact_bodies::total_force(expected);
      EXPECT_GT(force[2], 0);
      const double pull = std::hypot(force[0], force[1]);
      if (b == 0) {
        EXPECT_EQ(pull, 0);
      }
      gripped = gripped || pull > 0.01 * force[2];
    }
    EXPECT_TRUE(gripped);
  }
}

// What is put back moves on as what begins, what is not does not notice: bit by bit.
TEST_P(RobotsOfTheirOwn, ArePutBackAlone) {
  const boxes::Law corotational = boxes::all_laws()[0];
  const ReducedModel model = two_materials(corotational, corotational, true);
  for (const auto& mechanics : all_mechanics(model)) {
    Stepper stepper(*mechanics, {.time_step = 0.01});
    const auto advance = [&](State& state, int steps) {
      for (int step = 1; step <= steps; ++step) {
        Control control = control_at(step, *mechanics);
        // Everyone the same commands, whenever they begin.
        for (int b = 1; b < robots; ++b) std::copy_n(control.commands.data(), 3, control.commands.data() + 3 * b);
        EXPECT_EQ(stepper.step(control, state).status, StepStatus::ok);
      }
    };
    State once = rest_state(*mechanics);
    advance(once, 15);
    EXPECT_GT(boxes::norm(once.contact_forces), 0);
    State twice = once;
    advance(twice, 15);

    State mixed = once;
    const int back[] = {2, 0};
    State start = rest_state(*mechanics);
    start.robots = 1;
    for (const auto member : state_lists) (start.*member).resize((start.*member).size() / robots);
    reset(mixed, back, start);
    State same = once;
    reset(same, back, rest_state(*mechanics));
    EXPECT_EQ(hash(mixed), hash(same));
    EXPECT_EQ(mixed.time, once.time);
    advance(mixed, 15);
    for (const auto member : {&State::q, &State::v, &State::multipliers, &State::contact_forces, &State::commands})
      for (int b = 0; b < robots; ++b)
        EXPECT_EQ(of_robot(mixed.*member, b), of_robot((b % 2 == 0 ? once : twice).*member, b)) << b;
  }
}

TEST_P(RobotsOfTheirOwn, RefuseWhatCannotBe) {
  const boxes::Law corotational = boxes::all_laws()[0];
  const ReducedModel model = two_materials(corotational, corotational, true);
  for (const auto& mechanics : all_mechanics(model)) {
    const Variations good = some_variations(model);
    const auto refused = [&](const std::string& problem, auto change) {
      Variations bad = good;
      change(bad);
      try {
        mechanics->set_variations(bad);
        ADD_FAILURE() << "taken, but " << problem;
      } catch (const InputError& error) {
        EXPECT_NE(std::string(error.what()).find(problem), std::string::npos) << error.what();
      }
    };
    refused("there are 11 values of gravity", [](Variations& v) { v.gravity.pop_back(); });
    refused("robot 1 has material_scale 0", [](Variations& v) { v.material_scale[5] = 0; });
    refused("robot 3 has friction -0.1", [](Variations& v) { v.friction[3] = -0.1; });
    refused("there are 3 values of density", [](Variations& v) { v.density.pop_back(); });
    refused("robot 2 has density 0", [](Variations& v) { v.density[2] = 0; });
    refused("robot 1 has rayleigh_mass -1", [](Variations& v) { v.rayleigh_mass[1] = -1; });
    refused("robot 3 has rayleigh_stiffness inf",
            [](Variations& v) { v.rayleigh_stiffness[3] = std::numeric_limits<double>::infinity(); });
    refused("robot 0 has gravity nan", [](Variations& v) { v.gravity[1] = std::nan(""); });
    // Nothing of them was taken over, and all can be as the model has it again.
    EXPECT_TRUE(mechanics->variations().gravity.empty());
    State plain = rest_state(*mechanics), back = plain;
    Stepper stepper(*mechanics, {.time_step = 0.01});
    ASSERT_EQ(stepper.step(control_at(3, *mechanics), plain).status, StepStatus::ok);
    mechanics->set_variations(good);
    mechanics->set_variations({});
    ASSERT_EQ(stepper.step(control_at(3, *mechanics), back).status, StepStatus::ok);
    EXPECT_EQ(hash(back), hash(plain));
  }
}

}  // namespace
}  // namespace supple
