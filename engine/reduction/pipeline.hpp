#pragma once
// The main job (Goury & Duriez 2018, Algorithm 1):
//   scene -> full-order snapshots -> POD -> reduced integration domain -> errors on a test set -> reduced model.

#include <optional>
#include <string>
#include <vector>

#include "engine/model/reduced_model.hpp"
#include "engine/reduction/snapshot_job.hpp"
#include "engine/reduction/validate.hpp"

namespace supple {

/// One line of the table (the paper's Table I), errors on the test set.
struct ModelRow {
  std::string label;
  int modes = 0, elements = 0;  // 0 = full
  int units = 0, points = 0;    // what has a weight each, elements or points; quadrature points
  int strain_modes = 0;         // in the place of elements
  double tolerance = 0, residual = 0;
  ErrorSummary errors;
  Rate rate;
};

// What a number of training states is good for: errors of the model of all elements on the validation set.
struct StateRow {
  int states = 0, modes = 0;
  ErrorSummary errors;
};

// Another equilibrium of the full model under the commands of a test state.
struct Branch {
  Sample commands;
  double apart = 0;  // from the one found from rest, at the effectors [m]
};

struct StageSeconds {
  double snapshots = 0, pod = 0, training = 0, selection = 0, validation = 0, total = 0;
  StageSeconds& operator+=(const StageSeconds& other) {
    snapshots += other.snapshots;
    pod += other.pod;
    training += other.training;
    selection += other.selection;
    validation += other.validation;
    total += other.total;
    return *this;
  }
};

struct ReduceReport {
  std::vector<ModelRow> table;  // full, POD only, small domain, the model
  std::vector<ModelRow> curve;  // elements against error on the selection set, each with its rate; last: all elements
  std::vector<double> singular_values, truncation_error;
  std::vector<ModelRow> mode_search;   // models of all elements on the selection set, where modes were added
  std::vector<StateRow> state_search;  // where an error is asked for; doublings
  std::vector<Branch> branches;        // that models have found instead of the full model's from rest
  DynamicError dynamic;
  SnapshotTotals snapshots;
  StageSeconds seconds;
  std::vector<std::string> notes;
  /// Empty, or why the model is not to be written: its errors are above a limit of the scene, or above those asked for
  /// or refused_error (model_errors.hpp), which the user may overrule (`forcible`).
  std::string refused;
  std::string limited_by, remedy;  // of a model that misses the error asked for: what keeps it from that, what helps
  bool forcible = false;
};

struct ReduceSettings {
  SnapshotJob snapshots;
  /// Where modes, element forces and the choice of elements are computed; none: on the GPU of the batch of states if
  /// there is one, else here.
  std::optional<DeviceRoom> device = std::nullopt;
  /// Solids by elements and by strain modes, of which the model whose steps take less arithmetic is returned, unless it
  /// misses the error asked for and the other does not; without such an error, unless its errors are the larger ones.
  /// Instead of the recipe's.
  bool fastest_solids = false;
  int dynamic_steps = 200;
  double rate_seconds = 1;         // measuring time per model
  std::vector<double> tolerances;  // of the curve of elements against error; empty: those of the selection rule
};

/// Throws InputError for errors of a recipe that are known before the snapshots are computed.
void check_recipe(const ReductionScene& recipe, const FullModel& model);

struct Reduction {
  ReducedModel model;
  ReduceReport report;
  FieldForm solids = FieldForm::elements;  // of the model
};
/// Several ranks (settings.snapshots.ranks) share the states and the modes; the first does the rest, and the others
/// return empty results.
Reduction reduce(const Scene& scene, const FullModel& model, const ReduceSettings& settings, const Progress& progress);

}  // namespace supple
