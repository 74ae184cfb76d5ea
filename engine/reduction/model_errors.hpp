#pragma once
// What a model's errors on its test set (ErrorSummary) mean for its use. A test state that the reduced model does not
// solve counts as an error of 1 in all of them (validate.hpp); here they are without those too.

#include <optional>
#include <string>

#include "engine/model/reduced_model.hpp"

namespace supple {

// Mean errors at the effectors or in shape above which `supple reduce` warns, and above which it writes no model unless
// forced.
inline constexpr double warned_error = 0.05, refused_error = 0.25;

enum class ErrorLevel { unknown, acceptable, large, too_large };
// By the larger of both means; of a robot whose effectors do not move (their error is not a number) by its shape.
ErrorLevel error_level(const ErrorSummary& errors);

// Of `mean`, the mean error at the effectors or in shape over all states: the mean over those that were solved, with
// the same denominator. None where none was solved.
std::optional<double> mean_of_solved(const ErrorSummary& errors, double mean);

/// The errors that a recipe asks for: of the mean at the effectors and in shape, and of the worst state.
struct AskedError {
  double mean, largest;
};
/// None: any.
std::optional<AskedError> asked_error(const ReductionScene& recipe);
/// The largest error as a share of what it may be.
double share_of(const ErrorSummary& errors, const AskedError& asked);

// "13.9 % at the effectors, 8.1 % in shape"
std::string mean_errors_text(const ErrorSummary& errors);
// "8 of 15 test states failed in the reduced model, each counted as 100 %; without them the mean error is 0.5 % at the
// effectors, 0.4 % in shape"; "" if none failed.
std::string failed_states_text(const ErrorSummary& errors);
// A warning for users of a model whose errors are too large: it was written with --accept-errors, or its errors exceed
// the same limit. "" for any other model.
std::string distrust(const ReducedModel& model);

}  // namespace supple
