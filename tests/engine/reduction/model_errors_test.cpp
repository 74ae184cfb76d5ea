// What a model's errors mean for its use: means without the states that it does not solve, levels, forced files.

#include "engine/reduction/model_errors.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "engine/reduction/deviations.hpp"

namespace supple {
namespace {

ErrorSummary summary(double goal, double shape, int states = 10, int failed = 0) {
  ErrorSummary errors;
  errors.states = states;
  errors.failed = failed;
  errors.goal_mean = goal;
  errors.shape_mean = shape;
  return errors;
}

TEST(ModelErrors, MeansWithoutFailedStatesKeepTheirDenominator) {
  Deviations all;
  all.displacement = {1, 2, 3, 4, 5};  // mean 3
  all.error = {0.3, 3, 0.6, 3, 0.9};   // two failed: the mean displacement each
  ErrorSummary errors;
  double middle, largest;
  errors.states = 5;
  errors.failed = 2;
  all.summarise(errors.goal_mean, middle, largest);
  errors.shape_mean = errors.goal_mean;
  EXPECT_NEAR(*mean_of_solved(errors, errors.goal_mean), (0.3 + 0.6 + 0.9) / 3 / 3, 1e-15);
  EXPECT_EQ(
      failed_states_text(errors),
      "2 of 5 test states failed in the reduced model, each counted as 100 %; without them the mean error is 20 % "
      "at the effectors, 20 % in shape");
  errors.failed = 0;
  EXPECT_EQ(*mean_of_solved(errors, 0.25), 0.25);
  EXPECT_EQ(failed_states_text(errors), "");
  errors.failed = 5;
  EXPECT_FALSE(mean_of_solved(errors, 1));
  EXPECT_TRUE(failed_states_text(errors).starts_with("5 of 5 "));
}

TEST(ModelErrors, TheLargerOfBothMeansCounts) {
  EXPECT_EQ(error_level(ErrorSummary{}), ErrorLevel::unknown);
  EXPECT_EQ(error_level(summary(0.05, 0.05)), ErrorLevel::acceptable);
  EXPECT_EQ(error_level(summary(0.051, 0.01)), ErrorLevel::large);
  EXPECT_EQ(error_level(summary(0.01, 0.051)), ErrorLevel::large);
  EXPECT_EQ(error_level(summary(0.01, 0.26)), ErrorLevel::too_large);
  EXPECT_EQ(error_level(summary(0.26, 0.01)), ErrorLevel::too_large);
  // No effector moves: by the shape. No error of the shape at all: not to be trusted.
  EXPECT_EQ(error_level(summary(std::nan(""), 0.01)), ErrorLevel::acceptable);
  EXPECT_EQ(error_level(summary(0.01, std::nan(""))), ErrorLevel::too_large);
}

TEST(ModelErrors, ForcedModelsAndOldFilesOfLargeErrorAreNotTrusted) {
  ReducedModel model;
  EXPECT_EQ(distrust(model), "");
  model.errors = summary(0.1, 0.1);
  EXPECT_EQ(distrust(model), "");
  model.errors = summary(0.3, 0.1);
  EXPECT_NE(distrust(model).find("30 % at the effectors"), std::string::npos);
  model.provenance.forced = "its mean error was large";
  EXPECT_NE(distrust(model).find("--accept-errors although its mean error was large"), std::string::npos);
}

}  // namespace
}  // namespace supple
