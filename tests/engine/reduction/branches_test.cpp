// Reduced models that find another equilibrium than the full model has from rest: compared with that one, and counted.

#include "engine/reduction/branches.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>

#include "engine/mechanics/reduced/reduced_mechanics.hpp"
#include "engine/reduction/basis/project.hpp"
#include "engine/reduction/validate.hpp"
#include "engine/step/equilibrium.hpp"
#include "kernels/base/extent.hpp"
#include "tests/engine/bodies/bodies_that_buckle.hpp"
#include "tests/engine/bodies/reduced_bodies.hpp"

namespace supple {
namespace {

// The column beyond the load at which it buckles, and modes of it bent to either side.
class BentColumn {
 public:
  BentColumn() : model(bodies_that_buckle::column(load)) {
    FullMechanics mechanics(model);
    const int nv = model.coordinates.nv;
    const std::vector<double> loads = {0.7, 1, 1.3, 1.6, load};
    Eigen::MatrixXd states(nv, 2 * static_cast<int>(loads.size()));
    for (std::size_t k = 0; k < loads.size(); ++k) {
      State state = equilibrium(mechanics, loads[k], rest_state(mechanics)), other = state;
      other.q = mirrored(state.q);
      other = equilibrium(mechanics, loads[k], other);
      states.col(static_cast<int>(2 * k)) = Eigen::Map<const Eigen::VectorXd>(state.q.data(), nv);
      states.col(static_cast<int>(2 * k + 1)) = Eigen::Map<const Eigen::VectorXd>(other.q.data(), nv);
      sides = {state.q, other.q};  // at last those of the whole load
    }
    const Eigen::MatrixXd Q =
        Eigen::HouseholderQR<Eigen::MatrixXd>(states).householderQ() * Eigen::MatrixXd::Identity(nv, states.cols());
    basis.assign(Q.data(), Q.data() + Q.size());
  }
  ReferenceStates reference(const std::vector<double>& q) const {
    SnapshotSet set;
    set.count = 1;
    set.source.push_back({0, 0});
    set.commands = {{load}};
    set.q = q;
    return reference_states(model, set);
  }
  ReducedModel reduced() const {
    return project(model, basis, static_cast<int>(basis.size()) / model.coordinates.nv, all_elements(model));
  }

  static constexpr double load = 2;
  FullModel model;
  std::vector<std::vector<double>> sides;  // its equilibria [2][nv]
  std::vector<double> basis;

 private:
  // At z = 0.01 m, the middle of the column.
  std::vector<double> mirrored(const std::vector<double>& q) const {
    std::vector<double> other(q.size());
    for (const int node : model.free_nodes)
      for (const int image : model.free_nodes) {
        const Vec3d x = model.mesh.nodes[extent(node)], y = model.mesh.nodes[extent(image)];
        if (norm(y - Vec3d{{x[0], x[1], 0.02 - x[2]}}) > 1e-9) continue;
        for (int k = 0; k < 3; ++k)
          other[extent(3 * model.node_unknown[extent(image)] + k)] =
              (k == 2 ? -1 : 1) * q[extent(3 * model.node_unknown[extent(node)] + k)];
      }
    return other;
  }
  static State equilibrium(FullMechanics& mechanics, double push, State from) {
    Control control = zero_control(mechanics);
    control.commands = {push};
    from.commands = {push};
    EXPECT_EQ(Equilibrium(mechanics, {}).solve(control, from).status, StepStatus::ok);
    return from;
  }
};

TEST(Branches, AModelIsComparedWithTheEquilibriumThatItIsNextTo) {
  const BentColumn column;
  const ReducedModel model = column.reduced();
  // It bends to one of both sides.
  int apart = 0;
  for (const bool side : {false, true}) {
    ReferenceStates reference = column.reference(column.sides[side]);
    const ErrorSummary errors = evaluate_errors(model, column.basis, reference);
    EXPECT_EQ(errors.elsewhere, 0);
    reference.branches = std::make_shared<Branches>(column.model, 0.05);
    const ErrorSummary nearest = evaluate_errors(model, column.basis, reference);
    EXPECT_LT(nearest.shape_mean, 0.02);  // of ten modes
    const std::vector<ReferenceStates>& found = reference.branches->of(0);
    if (errors.shape_mean < 0.02) {
      EXPECT_EQ(nearest.elsewhere, 0);
      EXPECT_TRUE(found.empty());
      continue;
    }
    ++apart;
    EXPECT_GT(errors.shape_mean, 1);
    EXPECT_EQ(nearest.elsewhere, 1);
    ASSERT_EQ(found.size(), 1U);
    EXPECT_LT(boxes::difference(found[0].q, column.sides[!side]), 1e-5);  // two solutions of residual 1e-9
    // Known now, it is not looked for again.
    reference.branches->search(false);
    EXPECT_EQ(evaluate_errors(model, column.basis, reference).elsewhere, 1);
  }
  EXPECT_EQ(apart, 1);
}

TEST(Branches, AWrongModelIsWrong) {
  const BentColumn column;
  ReducedModel soft = column.reduced();
  for (auto& parameters : soft.fields[0].parameters)
    for (double& p : parameters.p) p *= 0.7;
  for (const std::vector<double>& side : column.sides) {
    ReferenceStates reference = column.reference(side);
    reference.branches = std::make_shared<Branches>(column.model, 0.05);
    const ErrorSummary errors = evaluate_errors(soft, column.basis, reference);
    EXPECT_EQ(errors.elsewhere, 0);
    EXPECT_GT(errors.shape_mean, 0.05);
  }
}

// Of modes that do not show the reference it is not asked why they are far from it.
TEST(Branches, AreNotLookedForBesideModesThatAreTooFew) {
  const BentColumn column;
  ReferenceStates reference = column.reference(column.sides[0]);
  Branches branches(column.model, 0.05);
  State state;
  state.commands = {BentColumn::load};
  state.multipliers = {0};
  const std::span<const double> few(column.basis.data(), extent(1, column.model.coordinates.nv));
  EXPECT_EQ(branches.next_to(0, reference, column.sides[1], state, few), nullptr);
  EXPECT_NE(branches.next_to(0, reference, column.sides[1], state, column.basis), nullptr);
}

}  // namespace
}  // namespace supple
