// Models whose training states were pushed, on a bar of 32 cells: what the samples hold, errors under pushes and among
// obstacles that no training knows, obstacles from a file, what does not go with pushes.

#include <fstream>
#include <set>

#include "engine/io/model_file.hpp"
#include "engine/model/changes.hpp"
#include "engine/reduction/pipeline.hpp"
#include "engine/reduction/snapshots/plans.hpp"
#include "engine/reduction/snapshots/pushes.hpp"
#include "engine/run/contact_record.hpp"
#include "engine/step/equilibrium.hpp"
#include "kernels/base/extent.hpp"
#include "tests/engine/bodies/reduced_bodies.hpp"

namespace supple {
namespace {

using reduced_bodies::TemporaryFolder;

class Pushed : public testing::Test {
 protected:
  Pushed() : scene_(reduced_bodies::saved_bar(folder_, {"corotational", MaterialModel::corotational}, false)) {
    scene_.reduction.states = 120;
    scene_.reduction.max_modes = 24;
    scene_.reduction.pod_tolerance = 1e-5;
    scene_.reduction.pushes = 1.5;
    scene_.reduction.contact_modes = 8;
    scene_.contact.spacing = 0.04;
  }
  ReduceSettings quick() const {
    ReduceSettings settings;
    settings.snapshots.folder = folder_ / "states";
    settings.dynamic_steps = 10;
    settings.rate_seconds = 0.01;
    return settings;
  }
  TemporaryFolder folder_;
  Scene scene_;
};

double tip_moved(const Robot& robot, const std::vector<double>& y, const std::vector<double>* from = nullptr) {
  const int tip = robot.effectors[0].point;
  double moved = 0;
  for (int k = 0; k < 3; ++k) {
    const std::size_t at = extent(3 * tip + k);
    moved = std::hypot(moved, y[at] - (from != nullptr ? (*from)[at] : robot.rest_points[extent(tip)][k]));
  }
  return moved;
}

TEST_F(Pushed, SamplesHaveAPushEachOfAnySizeAndPoint) {
  scene_.reduction.trajectories = 2;
  const FullModel full = build_full_model(scene_);
  const Robot& robot = full.robot;
  ASSERT_GT(robot.collision_points, 10);
  ASSERT_EQ(robot.pairs(), 0);
  std::set<int> points;
  std::vector<double> sizes;
  Vec3d sum{{0, 0, 0}};
  int unpushed = 0;
  for (const SamplePath& path : make_plans(full.robot, scene_.reduction).training.paths)
    for (const Sample& sample : path.samples) {
      ASSERT_EQ(sample.size(), robot.actuators.size() + 4);
      const Push push = push_of(robot, sample);
      ASSERT_GE(push.point, robot.first_collision_point);
      ASSERT_LT(push.point, robot.first_collision_point + robot.collision_points);
      ASSERT_LE(norm(push.force), 1.5 * (1 + 1e-12));
      if (norm(push.force) == 0) {
        ++unpushed;
        continue;
      }
      EXPECT_FALSE(path.in_time);
      points.insert(push.point);
      sizes.push_back(norm(push.force) / 1.5);
      sum = sum + (1 / norm(push.force)) * push.force;
    }
  EXPECT_EQ(sizes.size(), 120U);
  EXPECT_EQ(unpushed, 4 + 2 * 80);  // the corners, one of which is released, and the trajectories
  EXPECT_GT(points.size(), extent(robot.collision_points) * 2 / 3);
  // Four standard deviations of means of 120: sizes uniform in [0, 1], directions even.
  double mean = 0;
  for (const double size : sizes) mean += size / 120;
  EXPECT_NEAR(mean, 0.5, 4 / std::sqrt(12. * 120));
  EXPECT_LT(norm(sum) / 120, 4 / std::sqrt(120.));
}

TEST_F(Pushed, FollowsTheBodyUnderPushesAndAgainstWhatItHasNeverTouched) {
  const FullModel full = build_full_model(scene_);
  const Reduction result = reduce(scene_, full, quick(), {});
  EXPECT_EQ(result.report.snapshots.failed, 0);
  EXPECT_LT(result.model.errors.goal_mean, 0.02);
  EXPECT_LT(result.model.errors.shape_mean, 0.02);
  write_model(result.model, folder_ / "bar.rom.h5");
  const ReducedModel model = read_model(folder_ / "bar.rom.h5");
  EXPECT_EQ(model.robot.pushes, 1.5);
  EXPECT_EQ(model.robot.collision_points, full.robot.collision_points);
  EXPECT_FALSE(model.full_compliance.empty());

  // Pushed at a point, solved here.
  FullMechanics mechanics(full);
  ReducedMechanics reduced(model);
  const Control control{{0.01, 0.7}, {}};
  int far = 0;  // the corner that is farthest from the clamp
  const int first = full.robot.first_collision_point, points = full.robot.collision_points;
  const auto reach = [&](int p) { return norm(full.robot.rest_points[extent(first + p)]); };
  for (int p = 1; p < points; ++p)
    if (reach(p) > reach(far)) far = p;
  const Sample sample{0.01, 0.7, (far + 0.5) / points, 0.9, -1.2, 0.5};
  ASSERT_EQ(push_of(full.robot, sample).point, first + far);
  State x = rest_state(mechanics), z = rest_state(reduced);
  Equilibrium of_full(mechanics, {}), of_reduced(reduced, {});
  ASSERT_EQ(of_full.solve(control, x).status, StepStatus::ok);
  const std::vector<double> unpushed = of_full.outputs();
  of_full.set_load(load_of(mechanics, sample));
  of_reduced.set_load(load_of(reduced, sample));
  ASSERT_EQ(of_full.solve(control, x).status, StepStatus::ok);
  ASSERT_EQ(of_reduced.solve(control, z).status, StepStatus::ok);
  const std::vector<double> pushed = of_full.outputs(), found = of_reduced.outputs();
  EXPECT_GT(tip_moved(full.robot, pushed, &unpushed), 0.1 * tip_moved(full.robot, pushed));
  EXPECT_LT(tip_moved(full.robot, pushed, &found), 0.03 * tip_moved(full.robot, pushed));

  // A ball from a file, into which the bar would bend by 5 mm.
  int deepest = first;
  for (int p = first; p < first + points; ++p)
    if (unpushed[extent(3 * p + 2)] < unpushed[extent(3 * deepest + 2)]) deepest = p;
  {
    std::ofstream file(folder_ / "ball.toml");
    file << "[[obstacle]]\nname = \"ball\"\ntype = \"sphere\"\nradius = 0.05\nposition = ["
         << unpushed[extent(3 * deepest)] << ", " << unpushed[extent(3 * deepest + 1)] << ", "
         << unpushed[extent(3 * deepest + 2)] - 0.05 + 0.005 << "]\n";
  }
  FullModel full_there = full;
  ReducedModel there = model;
  take_changes({{}, folder_ / "ball.toml"}, full_there);
  take_changes({{}, folder_ / "ball.toml"}, there);
  EXPECT_NE(with_changes(1, there.robot), 1U);
  EXPECT_EQ(with_changes(1, model.robot), 1U);
  FullMechanics full_pressed(full_there);
  ReducedMechanics pressed(there);
  State at = rest_state(full_pressed), at_reduced = rest_state(pressed);
  Equilibrium contact(full_pressed, from_rest(full_there.robot)), reduced_contact(pressed, {.first_increment = 0.25});
  ASSERT_EQ(contact.solve(control, at).status, StepStatus::ok);
  ASSERT_EQ(reduced_contact.solve(control, at_reduced).status, StepStatus::ok);
  const auto force = [](const State& state) {
    double sum = 0;
    for (std::size_t k = 2; k < state.contact_forces.size(); k += 3) sum += state.contact_forces[k];
    return sum;
  };
  EXPECT_GT(force(at), 0.05);
  EXPECT_NEAR(force(at_reduced) / force(at), 1, 0.1);
  const std::vector<double> y = contact.outputs(), own = reduced_contact.outputs();
  EXPECT_LT(tip_moved(full.robot, y, &own), 0.03 * tip_moved(full.robot, y));
}

TEST_F(Pushed, GoesWithParametersAndASecondPass) {
  ParameterScene soft, height;
  soft.name = "soft";
  soft.range = {0.5, 2};
  height.name = "height";
  height.kind = ParameterKind::stretch;
  height.direction = {{0, 0, 1}};
  height.range = {0.8, 1.2};
  scene_.parameters = {soft, height};
  scene_.reduction.contact_modes = 0;
  scene_.reduction.ecsw_training = "rerun";
  const FullModel full = build_full_model(scene_);
  const Sample sample{0.01, 0.7, 1.5, 0.9, 0.5, 0.3, -0.2, 0.1};
  EXPECT_EQ(parameters_of(full.robot, sample)[1], 0.9);
  EXPECT_GT(norm(push_of(full.robot, sample).force), 0);
  EXPECT_EQ(without_push(full.robot, sample).size(), 4U);
  const Reduction result = reduce(scene_, full, quick(), {});
  EXPECT_EQ(result.report.snapshots.failed, 0);
  EXPECT_LT(result.model.errors.goal_mean, 0.03);
  EXPECT_EQ(result.model.errors.worst_commands.size(), 4U);
}

TEST_F(Pushed, TellsWhenAnObstaclePushesHarder) {
  ReducedModel model;
  model.robot.collision_points = 2;
  const PlacedObstacle ball{.name = "ball", .obstacle = Obstacle::sphere(1), .pose = {}};
  model.robot.obstacles = {ball, ball};
  model.robot.pushes = 1;
  State state;
  // Squeezed between both: the sum over obstacles is nothing.
  state.contact_forces = {0.6, 0, 0, -0.6, 0, 0, 0.6, 0, 0, -0.6, 0, 0};
  ContactRecord record;
  record.add({}, &model, state);
  ASSERT_TRUE(record.harder);
  EXPECT_DOUBLE_EQ(record.harder->force, 1.2);
  model.robot.pushes = 1.3;
  ContactRecord less;
  less.add({}, &model, state);
  EXPECT_FALSE(less.harder);
  model.robot.pushes = 0;  // nothing is known
  less.add({}, &model, state);
  EXPECT_FALSE(less.harder);
  model.robot.other_obstacles = 7;
  less.add({}, &model, state);
  EXPECT_TRUE(less.harder);
}

TEST_F(Pushed, ObstaclesFromAFileNeedPointsAndAreChecked) {
  FullModel full = build_full_model(scene_);
  const auto error = [&](const std::string& text) -> std::string {
    {
      std::ofstream file(folder_ / "other.toml");
      file << text;
    }
    try {
      take_changes({{}, folder_ / "other.toml"}, full);
    } catch (const InputError& failure) {
      return failure.what();
    }
    return "";
  };
  const std::string ball = "[[obstacle]]\nname = \"ball\"\ntype = \"sphere\"\nradius = 0.05\n";
  EXPECT_EQ(error(ball), "");
  EXPECT_EQ(full.robot.obstacles.size(), 1U);
  EXPECT_NE(error("name = \"bar\"\n").find("no obstacles"), std::string::npos);
  EXPECT_NE(error(ball + ball).find("taken"), std::string::npos);
  EXPECT_NE(error("[[obstacle]]\nname = \"b\"\ntype = \"sphere\"\n").find("radius"), std::string::npos);
  EXPECT_NE(error("obstacle = [3]\n").find("table"), std::string::npos);
  EXPECT_EQ(full.robot.obstacles.size(), 1U);  // as it was
  scene_.reduction.pushes = 0;
  full = build_full_model(scene_);
  EXPECT_NE(error(ball).find("no collision points"), std::string::npos);
}

TEST_F(Pushed, TellsWhatDoesNotGoWithPushes) {
  const auto error = [&](const auto& change) -> std::string {
    Scene scene = scene_;
    change(scene);
    try {
      check_recipe(scene.reduction, build_full_model(scene));
    } catch (const InputError& failure) {
      return failure.what();
    }
    return "";
  };
  EXPECT_EQ(error([](Scene&) {}), "");
  EXPECT_NE(error([](Scene& s) { s.reduction.solids = FieldForm::strains; }).find("are pushed"), std::string::npos);
  EXPECT_NE(error([](Scene& s) { s.reduction.sampling = SamplingKind::greedy; }).find("greedy"), std::string::npos);
  EXPECT_NE(error([](Scene& s) { s.reduction.sampling = SamplingKind::grid; }).find("grid"), std::string::npos);
  EXPECT_NE(error([](Scene& s) { s.reduction.converged = false; }).find("converged"), std::string::npos);
  EXPECT_NE(error([](Scene& s) { s.bodies[0].fixes.clear(); }).find("free-floating"), std::string::npos);
}

}  // namespace
}  // namespace supple
