// Reduced models of scenes with parameters, on a bar of 32 cells: what they are trained on, their errors against full
// models at parameters never seen, what goes with parameters and what does not.

#include <set>

#include "engine/model/parameters.hpp"
#include "engine/reduction/pipeline.hpp"
#include "engine/reduction/snapshots/plans.hpp"
#include "engine/step/equilibrium.hpp"
#include "kernels/base/extent.hpp"
#include "tests/engine/bodies/reduced_bodies.hpp"

namespace supple {
namespace {

using reduced_bodies::TemporaryFolder;

class Parametric : public testing::Test {
 protected:
  Parametric() : scene_(reduced_bodies::saved_bar(folder_, {"corotational", MaterialModel::corotational}, false)) {
    scene_.reduction.states = 60;
    scene_.reduction.ecsw_tolerance = 5e-4;
    BodyScene& body = scene_.bodies[0];
    MaterialScene far = body.materials.front();
    far.region = boxes::box_region({{0.15, -1, -1}}, {{1, 1, 1}});
    body.materials.push_back(far);
    ParameterScene soft, height;
    soft.name = "soft";
    soft.material = 2;
    soft.range = {0.5, 2};
    height.name = "height";
    height.kind = ParameterKind::stretch;
    height.direction = {{0, 0, 1}};
    height.range = {0.7, 1.3};
    scene_.parameters = {soft, height};
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

TEST_F(Parametric, IsTrainedOverCommandsAndParameters) {
  const FullModel full = build_full_model(scene_);
  scene_.reduction.trajectories = 3;
  const SamplingPlans plans = make_plans(full.robot, scene_.reduction);
  std::set<double> soft;
  int in_time = 0;
  for (const SamplePath& path : plans.training.paths) {
    in_time += path.in_time;
    for (const Sample& sample : path.samples) {
      ASSERT_EQ(sample.size(), full.robot.actuators.size() + 2);
      const std::span<const double> values = parameters_of(full.robot, sample);
      EXPECT_GE(values[0], 0.5);
      EXPECT_LE(values[0], 2);
      EXPECT_GE(values[1], 0.7);
      EXPECT_LE(values[1], 1.3);
      soft.insert(values[0]);
      // A material does not change in time.
      if (path.in_time) {
        EXPECT_TRUE(std::ranges::equal(values, parameters_of(full.robot, path.samples.front())));
      }
    }
  }
  EXPECT_EQ(in_time, 3);
  EXPECT_GT(soft.size(), 60U);  // each state of the hypercube has its own
}

// Of nine inputs 64 corners: each input is at both ends as often, and so is each pair of them at all four.
TEST_F(Parametric, HasAFractionOfManyCorners) {
  for (int k = 0; k < 5; ++k) {
    ParameterScene more = scene_.parameters[0];
    more.name = "more" + std::to_string(k);
    scene_.parameters.push_back(more);
  }
  const FullModel full = build_full_model(scene_);
  const std::vector<InputRange> inputs = training_ranges(full.robot);
  std::vector<Sample> corners;
  for (const SamplePath& path : make_plan(full.robot, scene_.reduction).paths)
    for (const Sample& sample : path.samples) {
      bool corner = true;
      for (std::size_t i = 0; i < sample.size(); ++i)
        corner = corner && (sample[i] == inputs[i].range.lower || sample[i] == inputs[i].range.upper);
      if (corner) corners.push_back(sample);
    }
  ASSERT_EQ(inputs.size(), 9U);
  ASSERT_EQ(corners.size(), 64U);
  for (std::size_t i = 0; i < 9; ++i)
    for (std::size_t j = 0; j < i; ++j) {
      int both = 0;
      for (const Sample& corner : corners)
        both += corner[i] == inputs[i].range.upper && corner[j] == inputs[j].range.upper;
      EXPECT_EQ(both, 16) << i << " " << j;
    }
}

// Not by the pipeline's own errors alone: full models at values and commands never seen, solved here.
TEST_F(Parametric, FollowsFullModelsOverTheRange) {
  const FullModel full = build_full_model(scene_);
  const Reduction result = reduce(scene_, full, quick(), {});
  const ReducedModel& model = result.model;
  EXPECT_EQ(result.report.snapshots.failed, 0);
  EXPECT_LT(model.errors.goal_mean, 0.01);
  EXPECT_LT(model.errors.shape_mean, 0.01);
  EXPECT_EQ(model.errors.worst_commands.size(), full.robot.actuators.size() + 2);
  for (const std::vector<double>& values : {std::vector<double>{0.5, 0.7}, {2, 1.3}, {0.5, 1.3}, {1.3, 0.9}, {1, 1}}) {
    const FullModel there = at_parameters(full, values);
    const ReducedModel reduced = at_parameters(model, values);
    FullMechanics mechanics(there);
    ReducedMechanics reduced_mechanics(reduced);
    const Control control{{0.013, 1.1}, {}};
    State x = rest_state(mechanics), z = rest_state(reduced_mechanics);
    Equilibrium of_full(mechanics, {}), of_reduced(reduced_mechanics, {});
    ASSERT_EQ(of_full.solve(control, x).status, StepStatus::ok);
    ASSERT_EQ(of_reduced.solve(control, z).status, StepStatus::ok);
    const int tip = full.robot.effectors[0].point;
    double error = 0, moved = 0;
    for (int k = 0; k < 3; ++k) {
      const std::size_t at = extent(3 * tip + k);
      error = std::hypot(error, of_full.outputs()[at] - of_reduced.outputs()[at]);
      moved = std::hypot(moved, of_full.outputs()[at] - there.robot.rest_points[extent(tip)][k]);
    }
    EXPECT_LT(error, 0.02 * moved) << values[0] << " " << values[1];
    // And it is another robot than the nominal one.
    State nominal = rest_state(reduced_mechanics);
    ReducedMechanics as_it_stands(model);
    Equilibrium of_nominal(as_it_stands, {});
    ASSERT_EQ(of_nominal.solve(control, nominal).status, StepStatus::ok);
    double apart = 0;
    for (int k = 0; k < 3; ++k)
      apart = std::hypot(apart, of_nominal.outputs()[extent(3 * tip + k)] - of_reduced.outputs()[extent(3 * tip + k)]);
    if (values[0] != 1) {
      EXPECT_GT(apart, 5 * error) << values[0] << " " << values[1];
    }
  }
}

TEST_F(Parametric, TellsWhatDoesNotGoWithParameters) {
  const auto error = [&](const auto& change) -> std::string {
    Scene scene = scene_;
    change(scene.reduction);
    try {
      check_recipe(scene.reduction, build_full_model(scene));
    } catch (const InputError& failure) {
      return failure.what();
    }
    return "";
  };
  EXPECT_EQ(error([](ReductionScene&) {}), "");
  EXPECT_NE(error([](ReductionScene& r) { r.solids = FieldForm::strains; }).find("strain modes"), std::string::npos);
  EXPECT_NE(error([](ReductionScene& r) { r.sampling = SamplingKind::greedy; }).find("greedy"), std::string::npos);
  EXPECT_NE(error([](ReductionScene& r) { r.converged = false; }).find("converged"), std::string::npos);
}

}  // namespace
}  // namespace supple
