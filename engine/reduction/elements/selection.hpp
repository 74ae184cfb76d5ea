#pragma once
// From training states to integration domains, one force field at a time: the element forces of every state
// (training.hpp), in blocks of states; their rows weighted and sketched; elements chosen on the sketch, weights fitted
// on all rows. Measurements behind the rules: docs/decisions/0008-displacement-metric.md.

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/model/reduced_model.hpp"
#include "engine/reduction/basis/project.hpp"
#include "kernels/array/room.hpp"
#include "kernels/base/progress.hpp"

namespace supple {

enum class SelectionRule {
  // Non-negative orthogonal least squares on rows in the displacement metric (metric.hpp), pruned. The tolerance is the
  // relative displacement, root mean square over states, that the forces left out cause.
  displacement,
  // Rows are generalised forces, the tolerance is || G xi - y || / || y || (Goury & Duriez 2018, eq. 21).
  lawson_hanson_pruned,
  lawson_hanson,
};

struct SelectionSettings {
  SelectionRule rule = SelectionRule::displacement;
  std::vector<double> tolerances;  // ascending
  int elements = 0;                // instead of tolerances: one domain of so many units
  // Domains of 60 to 190 elements chosen on 800, 1500 and 3000 rows and on all did not differ.
  int sketch_rows = 2000;
  // Where element forces are evaluated, weighted and sketched, too (device_training.hpp).
  std::optional<DeviceRoom> device = std::nullopt;  // CubatureSettings::device
};

// Training states and, for the displacement rule, their metric.
struct TrainingStates {
  int count = 0;
  std::vector<double> states;            // [count][modes + motions]: alpha, then c
  std::vector<double> metric;            // [count][modes][modes], displacement_metric; or empty
  std::vector<double> multipliers = {};  // [count][rows] of the full-order states [N]
  std::vector<double> equilibrium = {};  // [count] 1: converged full-order equilibria, projected; 0: others
  std::vector<double> parameters = {};   // [count][Robot::parameters]
};

struct SelectedDomains {
  std::vector<IntegrationDomain>
      domains;  // one per tolerance, or the one of so many elements; residuals are those of all rows
  std::vector<std::string> notes;
  double training_seconds = 0, selection_seconds = 0;
};

// Units to choose from: all, or of more than `most` an evenly spread part, ascending; of points among all eight kinds.
std::vector<int> candidate_units(int units, int most, DomainUnit unit);

// all: a model with every element, its units are what is chosen. check_stop throws where the user has asked to stop.
// Memory: a block of element forces (at most 0.5 GB) and the sketch, 16 kB per unit to choose from, of which there are
// at most 100,000: of more an evenly spread part.
SelectedDomains select_domains(const ReducedModel& all, int field, const TrainingStates& training,
                               const SelectionSettings& settings, const Progress& progress,
                               const std::function<void()>& check_stop);

}  // namespace supple
