// Training data: the columns are the elements' forces, their sum the force of the model; POD keeps what it promises.

#include "engine/reduction/elements/training.hpp"

#include "solvers/cubature/cubature.hpp"
#include "solvers/pod/pod.hpp"
#include "tests/engine/bodies/reduced_bodies.hpp"

namespace supple {
namespace {

using namespace reduced_bodies;  // NOLINT: a test's own vocabulary

struct Body {
  boxes::Law law;
  bool hexahedra;
};

class Training : public testing::TestWithParam<Body> {};

// Modes and states of a bar under random loads: displacements of 1 % of its length.
struct Trained {
  int modes = 6, count = 7;
  FullModel model;
  std::vector<double> basis, states;
  explicit Trained(const Body& body)
      : model(build_full_model(bar_scene(body.law), bar(body.hexahedra, 5))),
        basis(random_basis(model.coordinates.nv, modes)),
        states(boxes::random_vector(modes * count, 0.004)) {}
};

TEST_P(Training, RowsSumToTheForceOfAllElements) {
  const Trained t(GetParam());
  ReducedModel all = project(t.model, t.basis, t.modes, all_elements(t.model));
  std::fill(all.stiffness.begin(), all.stiffness.end(), 0.0);  // springs are no elements
  const TrainingMatrix matrix = training_matrix(all, 0, t.states, t.count);
  ASSERT_EQ(matrix.rows, t.modes * t.count);
  ASSERT_EQ(matrix.columns, t.model.fields[0].elements());
  ReducedMechanics mechanics(all);
  for (int s = 0; s < t.count; ++s) {
    const std::vector<double> alpha(t.states.begin() + s * t.modes, t.states.begin() + (s + 1) * t.modes);
    std::vector<double> f(alpha.size()), sum(alpha.size(), 0.0);
    (void)mechanics.evaluate_forces(alpha, {}, TangentKind::none, f);
    for (int e = 0; e < matrix.columns; ++e)
      for (int m = 0; m < t.modes; ++m)
        sum[static_cast<std::size_t>(m)] += matrix.G[static_cast<std::size_t>(e * matrix.rows + s * t.modes + m)];
    EXPECT_LT(boxes::difference(sum, f), 1e-13);  // another order of summation
  }
}

TEST_P(Training, ColumnIsTheForceOfItsElement) {
  const Trained t(GetParam());
  ReducedModel all = project(t.model, t.basis, t.modes, all_elements(t.model));
  std::fill(all.stiffness.begin(), all.stiffness.end(), 0.0);
  const TrainingMatrix matrix = training_matrix(all, 0, t.states, t.count);
  for (const int e : {0, 3, matrix.columns - 1}) {
    const ReducedModel one = restrict_to(all, {{{e}, {1.0}}});
    ReducedMechanics mechanics(one);
    const std::vector<double> alpha(t.states.begin() + t.modes, t.states.begin() + 2 * t.modes);
    std::vector<double> f(alpha.size());
    (void)mechanics.evaluate_forces(alpha, {}, TangentKind::none, f);
    const auto column = matrix.G.begin() + e * matrix.rows + t.modes;
    EXPECT_LT(boxes::difference(std::vector<double>(column, column + t.modes), f), 1e-13);
  }
}

// What the selection promises about G holds for the model built from it: the force errors over the training states,
// stacked, are within tau of the forces.
TEST_P(Training, SelectedElementsReproduceTheForcesToTheTolerance) {
  const Trained t(GetParam());
  ReducedModel all = project(t.model, t.basis, t.modes, all_elements(t.model));
  std::fill(all.stiffness.begin(), all.stiffness.end(), 0.0);
  const TrainingMatrix matrix = training_matrix(all, 0, t.states, t.count);
  const double tau = 0.05;
  const Cubature cubature = select_lawson_hanson(matrix.G, matrix.rows, matrix.columns, {.tolerance = tau});
  ASSERT_EQ(cubature.status, CubatureStatus::converged);
  const ReducedModel hyper = restrict_to(all, {{cubature.columns, cubature.weights, tau, 0}});
  ReducedMechanics a(all), b(hyper);
  double error = 0, size = 0;
  for (int s = 0; s < t.count; ++s) {
    const std::vector<double> alpha(t.states.begin() + s * t.modes, t.states.begin() + (s + 1) * t.modes);
    std::vector<double> f(alpha.size()), g(alpha.size());
    (void)a.evaluate_forces(alpha, {}, TangentKind::none, f);
    (void)b.evaluate_forces(alpha, {}, TangentKind::none, g);
    for (std::size_t i = 0; i < f.size(); ++i) {
      error += (f[i] - g[i]) * (f[i] - g[i]);
      size += f[i] * f[i];
    }
  }
  EXPECT_LT(std::sqrt(error / size), tau + 1e-12);
  EXPECT_LE(cubature.columns.size(), static_cast<std::size_t>(matrix.columns));
}

INSTANTIATE_TEST_SUITE_P(
    Laws, Training,
    testing::Values(Body{{"corotational", MaterialModel::corotational}, false},
                    Body{{"corotational", MaterialModel::corotational}, true},
                    Body{{"edge_frame", MaterialModel::corotational, RotationKind::edge_frame}, false},
                    Body{{"mooney_rivlin", MaterialModel::mooney_rivlin}, false},
                    Body{{"mooney_rivlin", MaterialModel::mooney_rivlin}, true}),
    [](const auto& info) { return info.param.law.name + (info.param.hexahedra ? "_hexahedra" : "_tetrahedra"); });

TEST(ProjectStates, AreTheModalCoordinates) {
  const int nv = 60, modes = 4, count = 3;
  const std::vector<double> basis = random_basis(nv, modes), alpha = boxes::random_vector(modes * count, 1);
  std::vector<double> q;
  for (int s = 0; s < count; ++s) {
    const std::vector<double> u =
        lift(basis, std::vector<double>(alpha.begin() + s * modes, alpha.begin() + (s + 1) * modes));
    q.insert(q.end(), u.begin(), u.end());
  }
  EXPECT_LT(boxes::difference(project_states(basis, nv, modes, q, count), alpha), 1e-14);
}

// Snapshots with singular values that fall by four per mode.
TEST(ProjectStates, PodReproducesSnapshotsWithinItsTolerance) {
  const int nv = 90, count = 12;
  const std::vector<double> left = random_basis(nv, count), right = boxes::random_vector(count * count, 1);
  std::vector<double> snapshots(static_cast<std::size_t>(nv * count), 0.0);
  for (std::size_t m = 0; m < count; ++m)
    for (std::size_t s = 0; s < count; ++s)
      for (std::size_t i = 0; i < nv; ++i)
        snapshots[s * nv + i] += std::pow(0.25, static_cast<double>(m)) * left[m * nv + i] * right[m * count + s];
  for (const double tolerance : {0.3, 0.03, 1e-3}) {
    const Pod pod = proper_orthogonal_decomposition(snapshots, nv, count, {.tolerance = tolerance});
    const std::vector<double> alpha = project_states(pod.basis, nv, pod.modes, snapshots, count);
    std::vector<double> found;
    for (int s = 0; s < count; ++s) {
      const std::vector<double> u =
          lift(pod.basis, std::vector<double>(alpha.begin() + s * pod.modes, alpha.begin() + (s + 1) * pod.modes));
      found.insert(found.end(), u.begin(), u.end());
    }
    EXPECT_LT(boxes::difference(found, snapshots), tolerance * (1 + 1e-9));
    EXPECT_NEAR(boxes::difference(found, snapshots), pod.truncation_error, 1e-7);  // roots of eigenvalues
  }
}

}  // namespace
}  // namespace supple
