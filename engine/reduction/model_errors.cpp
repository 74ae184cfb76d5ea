#include "engine/reduction/model_errors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace supple {

namespace {

std::string means_text(double goal, double shape) {
  if (std::isnan(goal)) return fmt::format("{:.3g} % in shape", 100 * shape);
  return fmt::format("{:.3g} % at the effectors, {:.3g} % in shape", 100 * goal, 100 * shape);
}

}  // namespace

ErrorLevel error_level(const ErrorSummary& errors) {
  if (errors.states == 0) return ErrorLevel::unknown;
  // Written so that an error of the shape that is not a number exceeds every limit.
  const auto exceed = [&](double limit) { return errors.goal_mean > limit || !(errors.shape_mean <= limit); };
  return exceed(refused_error)  ? ErrorLevel::too_large
         : exceed(warned_error) ? ErrorLevel::large
                                : ErrorLevel::acceptable;
}

std::optional<AskedError> asked_error(const ReductionScene& recipe) {
  if (!recipe.error) return std::nullopt;
  return AskedError{*recipe.error, largest_to_mean * *recipe.error};
}

double share_of(const ErrorSummary& errors, const AskedError& asked) {
  if (errors.states == 0) return std::numeric_limits<double>::infinity();
  // A robot whose effectors do not move has no error there that is a number.
  return std::fmax(std::max(errors.shape_mean / asked.mean, errors.shape_max / asked.largest),
                   std::fmax(errors.goal_mean / asked.mean, errors.goal_max / asked.largest));
}

std::optional<double> mean_of_solved(const ErrorSummary& errors, double mean) {
  const int solved = errors.states - errors.failed;
  if (solved <= 0) return std::nullopt;
  if (errors.failed == 0) return mean;
  return std::max(0.0, (mean * errors.states - errors.failed) / solved);  // rounding may go below zero
}

std::string mean_errors_text(const ErrorSummary& errors) {
  return means_text(errors.goal_mean, errors.shape_mean);
}

std::string failed_states_text(const ErrorSummary& errors) {
  if (errors.failed == 0) return "";
  const std::string count = fmt::format("{} of {} test states failed in the reduced model, each counted as 100 %",
                                        errors.failed, errors.states);
  const auto goal = mean_of_solved(errors, errors.goal_mean), shape = mean_of_solved(errors, errors.shape_mean);
  return goal && shape ? fmt::format("{}; without them the mean error is {}", count, means_text(*goal, *shape)) : count;
}

std::string distrust(const ReducedModel& model) {
  const bool forced = !model.provenance.forced.empty();
  if (!forced && error_level(model.errors) != ErrorLevel::too_large) return "";
  return fmt::format("do not trust this model: {}",
                     forced ? fmt::format("it was written with --accept-errors although {}", model.provenance.forced)
                            : fmt::format("its mean error on test states is {}", mean_errors_text(model.errors)));
}

}  // namespace supple
