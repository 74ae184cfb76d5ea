// Estimates of a reduced robot's error: against the full model along a path, in motion and under a force of a hand; how
// often; what they are not for.

#include "engine/error/error_estimator.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "engine/reduction/pipeline.hpp"
#include "engine/reduction/snapshots/smooth_path.hpp"
#include "engine/step/equilibrium.hpp"
#include "kernels/base/extent.hpp"
#include "tests/engine/bodies/reduced_bodies.hpp"

namespace supple {
namespace {

// A bar of 32 cells with two cables, its model of three modes and one of nine, of the same states.
class Estimated : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new reduced_bodies::TemporaryFolder;
    Scene scene = reduced_bodies::saved_bar(*folder_, {"corotational", MaterialModel::corotational}, false);
    scene.reduction.states = 40;
    scene.reduction.ecsw_tolerance = 1e-4;
    full_ = new FullModel(build_full_model(scene));
    const auto reduced = [&](int modes) {
      scene.reduction.max_modes = modes;
      scene.reduction.pod_tolerance = 1e-9;
      ReduceSettings settings;
      settings.snapshots.folder = *folder_ / "states";
      settings.dynamic_steps = 2;
      settings.rate_seconds = 0.005;
      return new ReducedModel(reduce(scene, *full_, settings, {}).model);
    };
    model_ = reduced(3);
    finer_ = reduced(9);
  }
  static void TearDownTestSuite() {
    delete model_;
    delete finer_;
    delete full_;
    delete folder_;
  }
  static std::vector<double> tip(const Robot& robot, const std::vector<double>& y) {
    const std::size_t at = extent(3 * robot.effectors[0].point);
    return {y[at], y[at + 1], y[at + 2]};
  }
  static inline reduced_bodies::TemporaryFolder* folder_ = nullptr;
  static inline FullModel* full_ = nullptr;
  static inline ReducedModel *model_ = nullptr, *finer_ = nullptr;
};

// As the full model moves: a vector, not a size alone.
TEST_F(Estimated, ErrorsAreThoseAgainstTheFullModel) {
  const double h = full_->robot.time_step;
  ReducedMechanics mechanics(*model_);
  FullMechanics reference(*full_);
  ErrorEstimator estimator(*model_, *finer_, {.share = 0});
  EXPECT_EQ(estimator.steps_between(), 1);
  const SmoothPath path(full_->robot, smooth_path_period_steps * h, 77);
  Stepper stepper(mechanics, {.scheme = StepScheme::newton, .time_step = h}),
      full_stepper(reference, {.scheme = StepScheme::newton, .time_step = h});
  State z = rest_state(mechanics), x = rest_state(reference);
  const Control start = control_of(full_->robot, path.at(0));
  ASSERT_EQ(Equilibrium(mechanics, {}).solve(start, z).status, StepStatus::ok);
  ASSERT_EQ(Equilibrium(reference, {}).solve(start, x).status, StepStatus::ok);
  int good = 0, found = 0;
  double distance = 0, size = 0;
  for (int k = 1; k <= 120; ++k) {
    const Control control = control_of(full_->robot, path.at(k * h));
    ASSERT_EQ(stepper.step(control, z).status, StepStatus::ok);
    ASSERT_EQ(full_stepper.step(control, x).status, StepStatus::ok);
    ASSERT_EQ(estimator.after_step(z), k > 1);
    if (k == 1) continue;
    ++found;
    const std::vector<double> there = tip(full_->robot, full_stepper.outputs()),
                              own = tip(full_->robot, stepper.outputs());
    const std::vector<double>& estimate = estimator.newest()->error;
    std::vector<double> truth, difference;
    for (std::size_t i = 0; i < 3; ++i) {
      truth.push_back(there[i] - own[i]);
      difference.push_back(estimate[i] - truth[i]);
    }
    const double ratio = boxes::norm({estimate[0], estimate[1], estimate[2]}) / boxes::norm(truth);
    good += ratio > 0.5 && ratio < 2;
    distance += boxes::norm(difference);
    size += boxes::norm(truth);
  }
  EXPECT_EQ(estimator.failed(), 0);
  // Nine modes are some twenty times nearer than three.
  EXPECT_GE(good, 0.9 * found);
  EXPECT_LT(distance, 0.3 * size);
}

// Every so many steps by its share; between them the newest stays; another run has the same bits.
TEST_F(Estimated, TakesTheShareOfTimeThatIsAskedFor) {
  ErrorEstimator often(*model_, *finer_, {.share = 1}), seldom(*model_, *finer_, {.share = 0.1});
  EXPECT_GT(often.steps_between(), 1);
  EXPECT_NEAR(seldom.steps_between(), 10 * often.steps_between(), 10);
  ReducedMechanics mechanics(*model_);
  Stepper stepper(mechanics, {.time_step = 0.01});
  std::vector<double> first;
  for (int run = 0; run < 2; ++run) {
    State state = rest_state(mechanics);
    std::vector<double> all;
    int due = 1;
    for (int k = 0; k < 3 * often.steps_between(); ++k) {
      ASSERT_EQ(stepper.step({{0.01, 1}, {}}, state).status, StepStatus::ok);
      const bool asked = k == 3;  // beside those that are due
      EXPECT_EQ(often.after_step(state, asked), k > 0 && (k >= due || asked)) << k;
      // An estimate that took more than 2.7 iterations, as usual, is followed by a longer pause.
      if (k > 0 && (k >= due || asked))
        due = k + static_cast<int>(std::ceil(often.steps_between() * (std::max(1, often.newest()->iterations) / 2.7)));
      if (k > 0) all.insert(all.end(), often.newest()->error.begin(), often.newest()->error.end());
    }
    if (run == 0) first = all;
    EXPECT_TRUE(reduced_bodies::same_bits(all, first));
    often.reset();
  }
}

// Under a force of a hand, along which the bar was trained to bend by its cables: the error is that against the full
// model under the same force.
TEST_F(Estimated, KnowForcesOfAHand) {
  ReducedMechanics mechanics(*model_);
  Equilibrium equilibrium(mechanics, {});
  const int point = full_->robot.effectors[0].point;
  std::vector<double> load(3, 0.0);
  for (std::size_t j = 0; j < 3; ++j) load[j] = -0.5 * model_->outputs[extent(3 * point + 2, 3) + j];
  equilibrium.set_load(load);
  State state = rest_state(mechanics);
  const Control control{{0.01, 1}, {}};
  ASSERT_EQ(equilibrium.solve(control, state).status, StepStatus::ok);
  ErrorEstimator told(*model_, *finer_, {.share = 0}), not_told(*model_, *finer_, {.share = 0});
  told.set_point_forces({{point, {{0, 0, -0.5}}}});
  // At rest: the second step is as the first.
  for (ErrorEstimator* one : {&told, &not_told}) {
    EXPECT_FALSE(one->after_step(state));
    State later = state;
    later.time += 0.01;
    ASSERT_TRUE(one->after_step(later));
  }
  FullMechanics reference(*full_);
  Equilibrium full_equilibrium(reference, {});
  std::vector<double> full_load(extent(full_->coordinates.nv), 0.0);
  const Interpolation& at = full_->interpolation[extent(point)];
  for (std::size_t n = 0; n < at.node.size(); ++n)
    if (const int unknown = full_->node_unknown[extent(at.node[n])]; unknown >= 0)
      full_load[extent(3 * unknown + 2)] -= 0.5 * at.weight[n];
  full_equilibrium.set_load(full_load);
  State x = rest_state(reference);
  ASSERT_EQ(full_equilibrium.solve(control, x).status, StepStatus::ok);
  const std::vector<double> there = tip(full_->robot, full_equilibrium.outputs()),
                            own = tip(full_->robot, equilibrium.outputs());
  const auto off = [&](const ErrorEstimator& estimator) {
    double sum = 0;
    for (std::size_t i = 0; i < 3; ++i) sum = std::hypot(sum, estimator.newest()->error[i] - (there[i] - own[i]));
    return sum / boxes::norm(boxes::plus(there, -1, own));
  };
  EXPECT_LT(off(told), 0.3);
  EXPECT_GT(off(not_told), 3 * off(told));
}

TEST_F(Estimated, AreNotOfOtherRobots) {
  const auto why = [&](const auto& change) {
    ReducedModel other = *finer_;
    change(other);
    return cannot_estimate(*model_, other);
  };
  EXPECT_EQ(why([](ReducedModel&) {}), "");
  EXPECT_NE(why([](ReducedModel& m) { m.robot.actuators.pop_back(); }).find("another robot"), std::string::npos);
  EXPECT_NE(why([](ReducedModel& m) { m.skin.rest.pop_back(); }).find("another mesh"), std::string::npos);
  EXPECT_NE(why([](ReducedModel& m) {
              for (std::size_t i = 0; i < m.skin.modes.size(); ++i) m.skin.modes[i] = std::sin(1.0 + 37.0 * double(i));
            }).find("other states"),
            std::string::npos);
  EXPECT_NE(cannot_estimate(*finer_, *model_).find("3 modes, the model itself 9"), std::string::npos);
  EXPECT_THROW(ErrorEstimator(*finer_, *model_), InputError);
}

}  // namespace
}  // namespace supple
