// The displacement metric predicts displacements; domains keep what their rule promises on all rows.

#include "engine/reduction/elements/selection.hpp"

#include <Eigen/Dense>

#include "engine/reduction/basis/metric.hpp"
#include "engine/reduction/elements/training.hpp"
#include "engine/step/equilibrium.hpp"
#include "kernels/base/extent.hpp"
#include "tests/engine/bodies/reduced_bodies.hpp"

namespace supple {
namespace {

using namespace reduced_bodies;  // NOLINT: a test's own vocabulary

// Equilibrium of a reduced model with its displacement cables taut: alpha and tensions.
struct Solved {
  std::vector<double> alpha, multipliers;
};
Solved solve(const ReducedModel& model) {
  ReducedMechanics mechanics(model);
  Equilibrium equilibrium(mechanics, {.tolerance = 1e-12});
  State state = rest_state(mechanics);
  Control control = zero_control(mechanics);
  control.commands = {0.02, 1.0, 0.002};
  EXPECT_EQ(equilibrium.solve(control, state).status, StepStatus::ok);
  EXPECT_GT(state.multipliers[0], 0);
  return {state.q, state.multipliers};
}

TEST(DisplacementMetric, PredictsHowFarAMissingForceMovesTheRobot) {
  const FullModel full = build_full_model(bar_scene({"corotational", MaterialModel::corotational}), bar(false));
  const int r = 12;
  ReducedModel model = project(full, random_basis(full.coordinates.nv, r), r, all_elements(full));
  const Solved before = solve(model);
  const std::vector<double> T = displacement_metric(model, before.alpha, before.multipliers, 1);
  // A little more gravity is a known generalised force.
  const double more = 1e-2;
  std::vector<double> f(static_cast<std::size_t>(r));
  for (int i = 0; i < r; ++i)
    f[static_cast<std::size_t>(i)] = model.gravity[static_cast<std::size_t>(3 * i + 2)] * more;
  model.robot.gravity[2] += more;
  const Solved after = solve(model);

  const Eigen::Map<const Eigen::VectorXd> a(before.alpha.data(), r), b(after.alpha.data(), r), force(f.data(), r);
  const Eigen::Map<const Eigen::Matrix<double, -1, -1, Eigen::RowMajor>> metric(T.data(), r, r),
      outputs(model.outputs.data(), model.robot.outputs(), r);
  Eigen::MatrixXd L(6, r);
  for (int e = 0; e < 2; ++e) L.middleRows(3 * e, 3) = outputs.middleRows(3 * model.robot.effectors[e].point, 3);
  const double shape = (b - a).norm() / a.norm(), goal = (L * (b - a)).norm() / (L * a).norm();
  const double moved = std::sqrt(shape * shape + goal * goal);
  ASSERT_GT(moved, 1e-6);
  // First order in a change of 1e-3 of the load.
  EXPECT_NEAR((metric * force).norm() / moved, 1, 5e-3);
}

struct Rule {
  SelectionRule rule;
  std::vector<double> tolerances;
  int sketch_rows = 2000;
};
class Selection : public testing::TestWithParam<Rule> {};

TEST_P(Selection, KeepsItsPromiseOnAllRows) {
  const FullModel full = build_full_model(bar_scene({"corotational", MaterialModel::corotational}), bar(false, 12));
  const int r = 8, count = GetParam().sketch_rows < 2000 ? 40 : 6;  // 320 rows sketched, or 48 as they are
  const ReducedModel all = project(full, random_basis(full.coordinates.nv, r), r, all_elements(full));
  const bool displacement = GetParam().rule == SelectionRule::displacement;
  TrainingStates training{count, boxes::random_vector(r * count, 0.01), {}};
  if (displacement)
    training.metric = displacement_metric(all, training.states, std::vector<double>(extent(count, 3), 0.1), count);
  const SelectedDomains selected =
      select_domains(all, 0, training, {GetParam().rule, GetParam().tolerances, 0, GetParam().sketch_rows}, {}, [] {});
  ASSERT_EQ(selected.domains.size(), GetParam().tolerances.size());
  EXPECT_TRUE(selected.notes.empty());
  const TrainingMatrix matrix = training_matrix(all, 0, training.states, count);
  const Eigen::Map<const Eigen::MatrixXd> G(matrix.G.data(), matrix.rows, matrix.columns);
  for (std::size_t t = 0; t < selected.domains.size(); ++t) {
    const IntegrationDomain& domain = selected.domains[t];
    Eigen::VectorXd left = G.rowwise().sum();
    const double size = left.norm();
    for (std::size_t k = 0; k < domain.elements.size(); ++k) {
      EXPECT_GT(domain.xi[k], 0);
      left -= domain.xi[k] * G.col(domain.elements[k]);
    }
    double residual = left.norm() / size;
    if (displacement) {
      double sum = 0;
      for (int s = 0; s < count; ++s) {
        const Eigen::Map<const Eigen::Matrix<double, -1, -1, Eigen::RowMajor>> T(
            training.metric.data() + extent(s, r, r), r, r);
        sum += (T * left.segment(s * r, r)).squaredNorm();
      }
      residual = std::sqrt(sum / count);
    }
    EXPECT_LE(residual, GetParam().tolerances[t] * (1 + 1e-9));
    EXPECT_NEAR(domain.residual, residual, 1e-9 + 1e-6 * residual);
    if (t > 0) {
      EXPECT_LE(domain.elements.size(), selected.domains[t - 1].elements.size());
    }
  }
}

TEST(SelectionOfANumber, KeepsSoManyElements) {
  const FullModel full = build_full_model(bar_scene({"corotational", MaterialModel::corotational}), bar(false, 12));
  const int r = 8, count = 20;
  const ReducedModel all = project(full, random_basis(full.coordinates.nv, r), r, all_elements(full));
  TrainingStates training{count, boxes::random_vector(r * count, 0.01), {}};
  for (const SelectionRule rule : {SelectionRule::displacement, SelectionRule::lawson_hanson}) {
    if (rule == SelectionRule::displacement)
      training.metric = displacement_metric(all, training.states, std::vector<double>(extent(count, 3), 0.1), count);
    for (const int wanted : {5, 20}) {
      const SelectedDomains selected = select_domains(all, 0, training, {rule, {}, wanted, 60}, {}, [] {});
      ASSERT_EQ(selected.domains.size(), 1U);
      EXPECT_EQ(static_cast<int>(selected.domains[0].elements.size()), wanted);
      EXPECT_TRUE(selected.notes.empty());
    }
    training.metric.clear();
  }
}

// A cable at its greatest tension holds no length: the metric sees the robot give way along it.
TEST(DisplacementMetric, ATensionAtItsLimitHoldsNothing) {
  Scene scene = bar_scene({"corotational", MaterialModel::corotational});
  scene.actuators[0].force = {0, 5};
  const FullModel full = build_full_model(scene, bar(false));
  const int r = 12;
  const ReducedModel model = project(full, random_basis(full.coordinates.nv, r), r, all_elements(full));
  const std::vector<double> alpha = boxes::random_vector(r, 1e-3);
  const auto norm = [&](double tension) {
    double sum = 0;
    for (const double t : displacement_metric(model, alpha, std::vector<double>{tension, 0, 0}, 1)) sum += t * t;
    return std::sqrt(sum);
  };
  EXPECT_GT(norm(5), 1.01 * norm(4.999));
}

INSTANTIATE_TEST_SUITE_P(Rules, Selection,
                         testing::Values(Rule{SelectionRule::displacement, {0.001, 0.01, 0.05}},
                                         Rule{SelectionRule::displacement, {0.005, 0.02, 0.05}, 150},
                                         Rule{SelectionRule::lawson_hanson_pruned, {0.01, 0.05, 0.2}},
                                         Rule{SelectionRule::lawson_hanson, {0.01, 0.05, 0.2}}),
                         [](const auto& info) { return std::to_string(info.index); });

}  // namespace
}  // namespace supple
