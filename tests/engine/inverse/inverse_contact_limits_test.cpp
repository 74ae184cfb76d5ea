// Inverse control in contact within limits: rates, speed of the goal, known commands, cavities by pressure and by
// volume, several robots at once; of full and reduced models.

#include "engine/inverse/inverse_step.hpp"
#include "engine/model/effectors.hpp"
#include "engine/model/touches.hpp"
#include "tests/engine/bodies/contact_bodies.hpp"
#include "tests/engine/bodies/hollow_bodies.hpp"

namespace supple {
namespace {

constexpr double time_step = 0.01;

struct Body {
  std::string name;
  bool reduced;
  ActuatorControl cavity;  // by pressure or by volume
};

void PrintTo(const Body& body, std::ostream* out) {
  *out << body.name;
}

// Half of a hollow bar over a tilted floor with friction: a cavity, a cable, and forces on its end down and aside. Its
// tip and the volume of the cavity are steered.
FullModel bar_over_floor(ActuatorControl control) {
  Scene scene = hollow_bodies::bar_scene({"corotational", MaterialModel::corotational}, control,
                                         control == ActuatorControl::force ? 4e4 : 4e-5);
  scene.gravity = {{0, 0, 0}};
  FixScene fix = boxes::clamp_at_origin();
  fix.region.upper[0] = 0.13;
  scene.bodies[0].fixes = {fix};
  for (const auto& [name, direction] : {std::pair{"down", Vec3d{{0, 0, -1}}}, {"aside", Vec3d{{0, 1, 0}}}}) {
    ActuatorScene force;
    force.name = name;
    force.kind = ActuatorKind::force;
    force.points = {{{0.29, 0.05, 0.06}}};
    force.direction = direction;
    force.control = ActuatorControl::force;
    force.bilateral = true;
    force.range = {-20, 20};
    scene.actuators.push_back(force);
  }
  EffectorScene chamber;
  chamber.name = "chamber";
  chamber.kind = EffectorKind::volume;
  chamber.region = hollow_bodies::walls_of_bar();
  scene.effectors.push_back(chamber);
  ObstacleScene floor;
  floor.name = "floor";
  floor.position = {{0.28, 0.05, -0.003}};
  floor.rotation = {{-0.03, -0.02, 0}};
  floor.friction = 0.4;
  scene.obstacles = {floor};
  return build_full_model(scene, hollow_bodies::bar(true));
}

class InverseContactLimits : public testing::TestWithParam<Body> {
 protected:
  InverseContactLimits() : model_(bar_over_floor(GetParam().cavity)) { build(); }
  void build() {
    if (GetParam().reduced) {
      const int n = model_.coordinates.nv;
      reduced_ = project(model_, reduced_bodies::full_basis(n), n, all_elements(model_));
      mechanics_ = std::make_unique<ReducedMechanics>(reduced_);
      other_ = std::make_unique<ReducedMechanics>(reduced_);
    } else {
      mechanics_ = std::make_unique<FullMechanics>(model_);
      other_ = std::make_unique<FullMechanics>(model_);
    }
  }
  Robot& robot() { return const_cast<Robot&>(mechanics_->robot()); }
  std::vector<double> reached(const State& state) const {
    const Robot& r = mechanics_->robot();
    std::vector<double> y(static_cast<std::size_t>(r.outputs())), goals(3 * r.effectors.size());
    mechanics_->evaluate_outputs(state.q, state.motions, y);
    for (std::size_t e = 0; e < r.effectors.size(); ++e)
      effector_state(r, static_cast<int>(e), y, std::span(goals).subspan(3 * e, 3));
    return goals;
  }
  FullModel model_;
  ReducedModel reduced_;
  std::unique_ptr<Mechanics> mechanics_, other_;
};

std::vector<Body> bodies() {
  return {{"full_pressure", false, ActuatorControl::force},
          {"full_volume", false, ActuatorControl::displacement},
          {"reduced_pressure", true, ActuatorControl::force},
          {"reduced_volume", true, ActuatorControl::displacement}};
}

INSTANTIATE_TEST_SUITE_P(Bars, InverseContactLimits, testing::ValuesIn(bodies()),
                         [](const auto& info) { return info.param.name; });

double largest_difference(std::span<const double> a, std::span<const double> b) {
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::abs(a[i] - b[i]));
  return largest;
}

TEST_P(InverseContactLimits, CavitiesInContactReplayForward) {
  InverseLaw law(robot(), 1, {});
  Stepper inverse(*mechanics_, {}), forward(*other_, {});
  State state = rest_state(*mechanics_), replayed = rest_state(*other_);
  std::vector<double> goal = reached(state);
  int touching = 0;
  double pressure = 0;
  for (int k = 0; k < 20; ++k) {
    goal[1] += k < 12 ? 2e-4 : -4e-4;
    goal[2] -= k < 10 ? 5e-4 : k < 15 ? 0 : -1e-3;
    goal[3] *= 1.002;
    law.set_goals(goal);
    ASSERT_EQ(inverse.step(law, state.motions, state).status, StepStatus::ok);
    ASSERT_FALSE(law.report(0).held) << law.conflict(0);
    Control control = zero_control(*other_);
    control.commands = state.commands;
    const StepReport report = forward.step(control, replayed);
    ASSERT_EQ(report.status, StepStatus::ok);
    touching = std::max(touching, report.contact.touching);
    pressure = std::max(pressure, state.multipliers[0]);
    // Displacements of millimetres, pressures of 1e4 Pa, laws of contact solved to 1e-10 of them.
    EXPECT_LT(largest_difference(state.q, replayed.q), 1e-8) << k;
    EXPECT_NEAR(state.multipliers[0], replayed.multipliers[0], 1e-5 * std::max(1e3, state.multipliers[0])) << k;
    EXPECT_GT(contact_bodies::least_gap(*mechanics_, state), -1e-9);
  }
  EXPECT_GE(touching, 2);
  EXPECT_GT(pressure, 1e3);
}

// A volume that must be reached is, beside the floor as without it; the tip does what is left.
TEST_P(InverseContactLimits, TheVolumeIsReachedWhileTheBodyPresses) {
  robot().effectors[1].exact = true;
  InverseStep inverse(*mechanics_, {}, Integrator::quasi_static, time_step);
  State state = rest_state(*mechanics_);
  std::vector<double> goal = reached(state);
  goal[2] -= 0.01;
  goal[3] *= 1.03;
  StepReport report;
  for (int k = 0; k < 4; ++k) {
    report = inverse.step(goal, state);
    ASSERT_EQ(report.status, StepStatus::ok) << describe(report.status);
    ASSERT_FALSE(inverse.law().report(0).held) << inverse.law().conflict(0);
  }
  EXPECT_GE(report.contact.touching, 1);
  EXPECT_GT(state.multipliers[0], 1e3);
  // Converged to 1e-9 m; the tip is kept off by millimetres.
  const std::vector<double> now = reached(state);
  EXPECT_GT(now[2] - goal[2], 3e-3);
  EXPECT_LT(std::abs(now[3] - goal[3]) / robot().effectors[1].rest_area, 2e-9);
}

TEST_P(InverseContactLimits, RatesOfCommandsAreKept) {
  const bool pressure = GetParam().cavity == ActuatorControl::force;
  const double rates[] = {pressure ? 2e5 : 2e-4, 0.05, 100, 100};  // 2 kPa or 2 mL, 0.5 mm, 1 N in a step
  for (std::size_t j = 0; j < 4; ++j) robot().actuators[j].rate = rates[j];
  InverseLaw law(robot(), 1, {});
  Stepper inverse(*mechanics_, {}), forward(*other_, {});
  const_cast<Robot&>(other_->robot()).actuators = robot().actuators;
  State state = rest_state(*mechanics_), replayed = rest_state(*other_);
  std::vector<double> goal = reached(state);
  goal[1] += 4e-3;  // jumps into the floor
  goal[2] -= 1.5e-2;
  goal[3] *= 1.05;
  law.set_goals(goal);
  int touching = 0, saturated = 0, fastest = 0;
  for (int k = 0; k < 20; ++k) {
    const State before = state;
    ASSERT_EQ(inverse.step(law, state.motions, state).status, StepStatus::ok);
    ASSERT_FALSE(law.report(0).held) << law.conflict(0);
    for (std::size_t j = 0; j < 4; ++j) {
      const double change = std::abs(state.commands[j] - before.commands[j]), most = rates[j] * time_step;
      EXPECT_LE(change, (1 + 1e-12) * most) << k << " " << robot().actuators[j].name;
      if (change > (1 - 1e-9) * most) ++fastest;
    }
    saturated += law.report(0).saturated > 0 ? 1 : 0;
    Control control = zero_control(*other_);
    control.commands = state.commands;
    const StepReport report = forward.step(control, replayed);
    ASSERT_EQ(report.status, StepStatus::ok);
    EXPECT_LT(largest_difference(state.q, replayed.q), 1e-8) << k;
    if (report.contact.touching > 0) ++touching;
  }
  EXPECT_GE(touching, 5);
  EXPECT_GE(saturated, 3);
  EXPECT_GE(fastest, 5);
}

// The tip comes towards a goal beyond the floor by the goal's speed at most, and arrives at the floor all the same.
TEST_P(InverseContactLimits, TheSpeedOfTheGoalIsKept) {
  constexpr double speed = 0.05;  // 0.5 mm in a step
  InverseLaw law(robot(), 1, {.goal_speed = speed});
  law.steer(1, false);
  Stepper inverse(*mechanics_, {});
  State state = rest_state(*mechanics_);
  std::vector<double> goal = reached(state);
  goal[2] -= 0.02;
  law.set_goals(goal);
  const auto distance = [&](const std::vector<double>& at) {
    return norm(Vec3d{{at[0] - goal[0], at[1] - goal[1], at[2] - goal[2]}});
  };
  double last = distance(reached(state));
  int touching = 0, slow = 0;
  for (int k = 0; k < 30; ++k) {
    const StepReport report = inverse.step(law, state.motions, state);
    ASSERT_EQ(report.status, StepStatus::ok);
    ASSERT_FALSE(law.report(0).held) << law.conflict(0);
    const double now = distance(reached(state));
    if (report.contact.touching == 0) {
      // One linearisation: the goal's share of the way but for the curvature of it.
      EXPECT_NEAR(last - now, speed * time_step, 1e-5) << k;
      ++slow;
    } else {
      EXPECT_LE(last - now, speed * time_step + 1e-4) << k;  // what friction and the pyramid move besides
      ++touching;
    }
    last = now;
  }
  EXPECT_GE(slow, 2);
  EXPECT_GE(touching, 5);
}

TEST_P(InverseContactLimits, KnownCommandsAreKeptAndOthersLead) {
  const double known = GetParam().cavity == ActuatorControl::force ? 1.2e4 : 8e-6;
  InverseLaw law(robot(), 1, {});
  law.steer(1, false);  // the volume follows from what is known
  law.know(0, 0, known);
  law.know(0, 3, 2.5);
  Stepper inverse(*mechanics_, {}), forward(*other_, {});
  State state = rest_state(*mechanics_), replayed = rest_state(*other_);
  std::vector<double> goal = reached(state);
  int touching = 0;
  for (int k = 0; k < 16; ++k) {
    goal[2] -= 6e-4;
    law.set_goals(goal);
    if (k == 12) law.know(0, 3, std::nan(""));
    ASSERT_EQ(inverse.step(law, state.motions, state).status, StepStatus::ok);
    ASSERT_FALSE(law.report(0).held) << law.conflict(0);
    EXPECT_NEAR(state.commands[0], known, 1e-9 * known);
    if (k < 12)
      EXPECT_EQ(state.commands[3], 2.5);
    else
      EXPECT_NE(state.commands[3], 2.5);  // sought again
    Control control = zero_control(*other_);
    control.commands = state.commands;
    const StepReport report = forward.step(control, replayed);
    ASSERT_EQ(report.status, StepStatus::ok);
    EXPECT_LT(largest_difference(state.q, replayed.q), 1e-8) << k;
    touching += report.contact.touching > 0 ? 1 : 0;
  }
  EXPECT_GE(touching, 4);
  EXPECT_GT(std::abs(state.commands[2]), 0.1);
}

// Robots of a batch know nothing of each other: goals, known commands and contacts of each are those it has alone.
TEST(InverseContactBatch, EachRobotDoesWhatItDoesAlone) {
  const FullModel model = bar_over_floor(ActuatorControl::force);
  const int n = model.coordinates.nv;
  constexpr int robots = 3;
  const ReducedModel reduced = project(model, reduced_bodies::full_basis(n), n, all_elements(model));
  const int sizes[] = {robots, 1};
  std::vector<double> goals[robots];
  std::vector<State> alone(robots);
  State all;
  int touching[robots] = {0, 0, 0};
  for (const int B : sizes)
    for (int first = 0; first < robots; first += B) {
      ReducedMechanics mechanics(reduced, B);
      InverseLaw law(reduced.robot, B, {});
      Stepper stepper(mechanics, {});
      State state = rest_state(mechanics);
      const std::size_t size = 3 * reduced.robot.effectors.size();
      std::vector<double> goal(size * static_cast<std::size_t>(B));
      std::vector<double> y(static_cast<std::size_t>(B * reduced.robot.outputs()));
      mechanics.evaluate_outputs(state.q, state.motions, y);
      for (int b = 0; b < B; ++b)
        for (int e = 0; e < 2; ++e)
          effector_state(reduced.robot, e, y, std::span(goal).subspan(static_cast<std::size_t>(b) * size + 3 * e, 3));
      for (int b = 0; b < B; ++b)
        if (first + b == 1) law.know(b, 0, 9e3);
      for (int k = 0; k < 10; ++k) {
        for (int b = 0; b < B; ++b) {
          double* g = goal.data() + static_cast<std::size_t>(b) * size;
          const int which = first + b;  // into the floor, aside along it, away from it
          g[2] += which == 2 ? 4e-4 : -8e-4;
          g[1] += which == 1 ? 3e-4 : 0;
          g[3] *= which == 1 ? 1 : 1.002;
        }
        law.set_goals(goal);
        ASSERT_EQ(stepper.step(law, state.motions, state).status, StepStatus::ok);
        for (int b = 0; b < B; ++b) ASSERT_FALSE(law.report(b).held) << law.conflict(b);
      }
      if (B == robots)
        all = state;
      else
        alone[static_cast<std::size_t>(first)] = state;
    }
  for (int b = 0; b < robots; ++b) {
    const auto part = [&](const std::vector<double>& values) {
      const std::size_t size = values.size() / robots;
      return std::vector<double>(values.begin() + static_cast<long>(b * size),
                                 values.begin() + static_cast<long>((b + 1) * size));
    };
    const State& one = alone[static_cast<std::size_t>(b)];
    for (std::size_t i = 0; i < one.contact_forces.size(); ++i)
      touching[b] += i % 3 == 2 && one.contact_forces[i] > 0 ? 1 : 0;
    // Rounding (memory of the programs is shared by the robots), of pressures of 1e3 Pa and forces of newtons.
    EXPECT_LT(largest_difference(part(all.q), one.q), 1e-13) << b;
    EXPECT_LT(largest_difference(part(all.commands), one.commands), 1e-9) << b;
    EXPECT_LT(largest_difference(part(all.contact_forces), one.contact_forces), 1e-10) << b;
  }
  EXPECT_EQ(all.commands[4], 9e3);  // of the second robot
  EXPECT_GT(touching[0], 0);
  EXPECT_GT(touching[1], 0);
  EXPECT_EQ(touching[2], 0);
}

// Contacts as the state shows them: what presses, with which force, and whether it slides.
TEST_P(InverseContactLimits, TouchesSayWhatPressesAndWhatSlides) {
  Stepper stepper(*mechanics_, {});
  State state = rest_state(*mechanics_);
  std::vector<double> before(static_cast<std::size_t>(robot().outputs())), y = before;
  Control control = zero_control(*mechanics_);
  bool slid = false, stuck = false;
  for (int k = 0; k < 24; ++k) {
    control.commands = {0, 0, std::min(1.0 * k, 12.0), k < 16 ? 0.0 : 1.5 * (k - 15)};
    mechanics_->evaluate_outputs(state.q, state.motions, before);
    const StepReport report = stepper.step(control, state);
    ASSERT_EQ(report.status, StepStatus::ok);
    mechanics_->evaluate_outputs(state.q, state.motions, y);
    const std::vector<Touch> found = touches(robot(), state, y, before);
    EXPECT_EQ(static_cast<int>(found.size()), report.contact.touching);
    Vec3d sum{{0, 0, 0}};
    for (const Touch& touch : found) {
      sum = sum + touch.force;
      const Vec3d n = robot().obstacles[0].pose.rotation * Vec3d{{0, 0, 1}};
      const double along = norm(touch.force - touch.normal_force * n);
      EXPECT_GT(touch.normal_force, 0);
      // Coulomb: what slides has all of its friction, what sticks at most so much.
      if (touch.sliding)
        EXPECT_NEAR(along, 0.4 * touch.normal_force, 1e-6 * touch.normal_force + 1e-9);
      else
        EXPECT_LE(along, (1 + 1e-6) * 0.4 * touch.normal_force + 1e-9);
      (touch.sliding ? slid : stuck) = true;
    }
    EXPECT_LT(norm(sum - contact_bodies::total_force(state)), 1e-12);
    if (!found.empty()) {
      const Vec3d n = robot().obstacles[0].pose.rotation * Vec3d{{0, 0, 1}};
      EXPECT_NEAR(normal_forces(robot(), found)[0], dot(sum, n), 1e-9);
    }
  }
  EXPECT_TRUE(slid);
  EXPECT_TRUE(stuck);
}

}  // namespace
}  // namespace supple
