#pragma once
// Training data of the hyper-reduction (Goury & Duriez 2018, eqs. 18-21): for every training state and mode, what each
// element (or point: ReducedField::unit) contributes to the generalised internal force. Columns are these, rows (state,
// mode); the target is the sum over all columns.

#include <span>
#include <vector>

#include "engine/model/reduced_model.hpp"
#include "solvers/pod/pod.hpp"

namespace supple {

struct TrainingMatrix {
  int rows = 0, columns = 0;
  std::vector<double> G;  // rows x columns, column-major: G[e * rows + state * modes + mode] [N in modal coordinates]
};

// all: a model projected with every element; states: [count][modes + motions], alpha and c, at which element forces are
// taken; parameters: [count][Robot::parameters] with which, or empty: those of the model.
TrainingMatrix training_matrix(const ReducedModel& all, int field, std::span<const double> states, int count,
                               std::span<const double> parameters = {});

// alpha = Phi^T u for full states u [count][nv] without their lifting: the projected states. basis column-major nv x
// modes.
std::vector<double> project_states(std::span<const double> basis, int nv, int modes, std::span<const double> q,
                                   int count);

// The same for all states of a set, in blocks; displacements: basis_columns (lifting.hpp).
std::vector<double> project_states(std::span<const double> basis, int modes, const ColumnBlocks& displacements);

}  // namespace supple
