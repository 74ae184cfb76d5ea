// Driven regions as prescribed inputs: derivatives towards them in the full and the reduced model, and the reduced
// model with every coordinate as a mode, which is the full one in other coordinates.

#include "engine/reduction/basis/lifting.hpp"
#include "engine/step/equilibrium.hpp"
#include "kernels/base/extent.hpp"
#include "tests/engine/bodies/driven_bodies.hpp"

namespace supple {
namespace {

using driven_bodies::Drive;
using driven_bodies::lifted;

const boxes::Law corotational{"corotational", MaterialModel::corotational};

struct Body {
  Drive drive;
  bool hexahedra;
  boxes::Law law;
};

std::vector<Body> bodies() {
  std::vector<Body> list;
  for (const Drive drive : {Drive::rigid, Drive::ends, Drive::springs}) {
    list.push_back({drive, false, corotational});
    list.push_back({drive, true, corotational});
    list.push_back({drive, false, {"stable_neo_hookean", MaterialModel::stable_neo_hookean}});
  }
  return list;
}

std::string name_of(const testing::TestParamInfo<Body>& info) {
  return driven_bodies::name_of(info.param.drive) + "_" + info.param.law.name +
         (info.param.hexahedra ? "_hexahedra" : "_tetrahedra");
}

FullModel model_of(const Body& body) {
  return driven_bodies::model(body.drive, body.hexahedra, body.law);
}

std::vector<double> inputs(const FullModel& model, double size) {
  return boxes::random_vector(static_cast<int>(model.robot.motions.size()), size);
}

class DrivenRegion : public testing::TestWithParam<Body> {
 public:
  DrivenRegion()
      : model_(model_of(GetParam())),
        nv_(model_.coordinates.nv),
        motions_(static_cast<int>(model_.robot.motions.size())),
        psi_(lifting_of(model_).free),
        reduced_(project(model_, reduced_bodies::full_basis(nv_), nv_, all_elements(model_))),
        full_(model_),
        mine_(reduced_) {}

 protected:
  FullModel model_;
  int nv_, motions_;
  std::vector<double> psi_;
  ReducedModel reduced_;
  FullMechanics full_;
  ReducedMechanics mine_;
};

INSTANTIATE_TEST_SUITE_P(Bars, DrivenRegion, testing::ValuesIn(bodies()), name_of);

TEST_P(DrivenRegion, LiftingIsTheStaticResponse) {
  const Lifting lifting = lifting_of(model_);
  const bool rigid = GetParam().drive == Drive::rigid;
  ASSERT_EQ(lifting.motions, GetParam().drive == Drive::ends ? 2 : 1);
  EXPECT_EQ(model_.robot.motions[0].rigid, rigid);
  EXPECT_EQ(reduced_.columns(), rigid ? nv_ : nv_ + motions_);
  model_.robot.rayleigh_mass = 0;
  model_.robot.rayleigh_stiffness = 1;  // damping() is then the product with K
  const auto n = static_cast<std::size_t>(nv_);
  const std::vector<double> still(n, 0.0);
  std::vector<double> c(extent(motions_), 0.0), f(n), force(n), driven(n);
  (void)full_.evaluate_forces(still, c, TangentKind::exact, f);
  for (std::size_t m = 0; m < c.size(); ++m) {
    const Vec3d& direction = model_.robot.motions[m].direction;
    for (std::size_t node = 0; node < model_.mesh.nodes.size(); ++node)
      for (std::size_t k = 0; k < 3; ++k) {
        const double value = lifting.nodes[m * 3 * model_.mesh.nodes.size() + 3 * node + k];
        if (rigid || model_.node_motion[node] == static_cast<int>(m)) {
          EXPECT_EQ(value, direction[static_cast<int>(k)]);
        } else if (model_.node_unknown[node] < 0) {
          EXPECT_EQ(value, 0);
        }
      }
    c.assign(c.size(), 0.0);
    c[m] = 1;
    const std::vector<double> psi(psi_.begin() + static_cast<long>(m * n),
                                  psi_.begin() + static_cast<long>((m + 1) * n));
    full_.damping(still, c, driven);
    full_.damping(psi, c, force);
    // K_ff Psi_f + K_fc = 0: a backward stable solve, a few hundred roundings; the rigid one is exact.
    EXPECT_LT(boxes::norm(force), 1e-12 * boxes::norm(driven));
  }
}

// All differences are those of two orders of summation and of the solve for Psi: a few hundred terms at 2e-16 each.
TEST_P(DrivenRegion, FullBasisEvaluatesTheFullModel) {
  const auto n = static_cast<std::size_t>(nv_);
  const std::vector<double> alpha = boxes::random_vector(nv_, 0.003), c = inputs(model_, 0.01),
                            q = lifted(psi_, alpha, c), v = boxes::random_vector(nv_, 0.1), v_c = inputs(model_, 0.3),
                            w = lifted(psi_, v, v_c);
  std::vector<double> y(extent(model_.robot.outputs())), z(y.size());
  full_.evaluate_outputs(q, c, y);
  mine_.evaluate_outputs(alpha, c, z);
  EXPECT_LT(boxes::difference(z, y), 1e-14);
  std::vector<double> phi(extent(model_.robot.rows())), gradients(extent(full_.rows().gradients()));
  evaluate_rows(model_.robot, full_.rows(), y, phi, gradients);
  const std::vector<double> lambda{1.5, 0.7, -0.4};

  const int rows = model_.robot.rows();
  std::vector<double> H(extent(rows, nv_)), J(H.size()), H_c(extent(rows, motions_)), J_c(H_c.size());
  full_.row_jacobians(full_.rows(), gradients, H, H_c);
  mine_.row_jacobians(mine_.rows(), gradients, J, J_c);
  EXPECT_LT(boxes::difference(J, H), 1e-14);
  for (std::size_t row = 0; row < phi.size(); ++row)  // H_c + H Psi
    for (std::size_t m = 0; m < c.size(); ++m)
      for (std::size_t i = 0; i < n; ++i) H_c[row * c.size() + m] += H[row * n + i] * psi_[m * n + i];
  EXPECT_LT(boxes::difference(J_c, H_c), 1e-13);

  for (const TangentKind kind : {TangentKind::none, TangentKind::safe, TangentKind::exact}) {
    std::vector<double> f(n), g(n), a(n), b(n);
    (void)full_.evaluate_forces(q, c, kind, f);
    (void)mine_.evaluate_forces(alpha, c, kind, g);
    EXPECT_LT(boxes::difference(g, f), 1e-12);
    full_.inertia(w, v_c, a);
    mine_.inertia(v, v_c, b);
    EXPECT_LT(boxes::difference(b, a), 1e-13);
    if (kind == TangentKind::none) continue;
    full_.damping(w, v_c, a);
    mine_.damping(v, v_c, b);
    EXPECT_LT(boxes::difference(b, a), 1e-12);
    for (const SystemCoefficients coefficients :
         {SystemCoefficients{0, 1, true}, SystemCoefficients{1e4, 1.2, false}, SystemCoefficients{1e4, 1.2, true}}) {
      ASSERT_EQ(full_.factor(coefficients, y, lambda).status, SystemStatus::ok);
      ASSERT_EQ(mine_.factor(coefficients, y, lambda).status, SystemStatus::ok);
      std::vector<double> A_c(extent(motions_, nv_)), B_c(A_c.size());
      full_.input_columns(coefficients, A_c);
      mine_.input_columns(coefficients, B_c);
      // B_c = A_c + A Psi, so A^-1 (B_c - A_c) = Psi, by either factor; the condition number is 1e3 to 1e4.
      std::vector<double> X = boxes::plus(B_c, -1, A_c), Y = X;
      full_.solve(X, motions_);
      mine_.solve(Y, motions_);
      EXPECT_LT(boxes::difference(X, psi_), 1e-9);
      EXPECT_LT(boxes::difference(Y, psi_), 1e-9);
    }
  }
}

// Base and far end swing, cables pull.
Control driven_control(const Robot& robot, int step) {
  Control control;
  control.commands = {0.0004 * step, 0.05 * step, 0.002 * std::sin(0.5 * step)};
  for (std::size_t m = 0; m < robot.motions.size(); ++m)
    control.motions.push_back(0.01 * std::sin(0.3 * step + static_cast<double>(m)) -
                              0.01 * std::sin(static_cast<double>(m)));
  return control;
}

TEST_P(DrivenRegion, FullBasisStepsAsTheFullModel) {
  const StepSettings settings{.scheme = StepScheme::newton, .time_step = 0.01, .tolerance = 1e-12};
  Stepper a(full_, settings), b(mine_, settings);
  State x = rest_state(full_), z = rest_state(mine_);
  for (int k = 1; k <= 15; ++k) {
    const Control control = driven_control(model_.robot, k);
    ASSERT_EQ(a.step(control, x).status, StepStatus::ok) << k;
    ASSERT_EQ(b.step(control, z).status, StepStatus::ok) << k;
  }
  EXPECT_GT(std::abs(x.motion_velocities[0]), 0.01);
  EXPECT_GT(x.multipliers[0], 0.01);
  // Both residuals are below 1e-12 of the forces; the condition number is 1e3 to 1e4, over fifteen steps that forget.
  EXPECT_LT(boxes::difference(lifted(psi_, z.q, z.motions), x.q), 1e-8);
  EXPECT_LT(boxes::difference(lifted(psi_, z.v, z.motion_velocities), x.v), 1e-7);
  EXPECT_LT(boxes::difference(z.multipliers, x.multipliers), 1e-8);
  EXPECT_LT(boxes::difference(b.outputs(), a.outputs()), 1e-9);
}

// One linearisation is made where the body begins: with its lifting the reduced one has followed the base already, the
// full one has not. The difference is of second order in the base's way of a step.
TEST_P(DrivenRegion, OneLinearisationAgreesToSecondOrder) {
  model_.robot.gravity = reduced_.robot.gravity = {{0, 0, 0}};  // its own part of the step would be of first order
  std::vector<double> differences;
  for (const double way : {2e-3, 1e-3}) {
    Stepper a(full_, {.time_step = 0.01}), b(mine_, {.time_step = 0.01});
    State x = rest_state(full_), z = rest_state(mine_);
    Control control = zero_control(full_);
    control.motions.assign(control.motions.size(), way);
    ASSERT_EQ(a.step(control, x).status, StepStatus::ok);
    ASSERT_EQ(b.step(control, z).status, StepStatus::ok);
    differences.push_back(boxes::norm(boxes::plus(lifted(psi_, z.q, z.motions), -1, x.q)));
  }
  EXPECT_LT(differences[0], 2e-4);  // of ways of 2e-3 at 30 to 60 coordinates
  EXPECT_LT(differences[1], differences[0] / 3);
}

TEST_P(DrivenRegion, FullBasisHasTheFullModelsEquilibria) {
  State x = rest_state(full_), z = rest_state(mine_);
  const Control control{{0.01, 1, 0.002}, std::vector<double>(extent(motions_), 0.02)};
  const EquilibriumSettings settings{.tolerance = 1e-12};
  ASSERT_EQ(Equilibrium(full_, settings).solve(control, x).status, StepStatus::ok);
  ASSERT_EQ(Equilibrium(mine_, settings).solve(control, z).status, StepStatus::ok);
  EXPECT_EQ(z.motions, control.motions);
  // Both residuals are below 1e-12 of the forces; the condition number is 1e3 to 1e4.
  EXPECT_LT(boxes::difference(lifted(psi_, z.q, z.motions), x.q), 1e-8);
  EXPECT_LT(boxes::difference(z.multipliers, x.multipliers), 1e-8);
}

// f - H^T lambda and phi at q, c.
struct Balance {
  std::vector<double> force, phi;
};
Balance balance(Mechanics& mechanics, const std::vector<double>& q, const std::vector<double>& c,
                const std::vector<double>& lambda) {
  const Robot& robot = mechanics.robot();
  Balance result{std::vector<double>(q.size()), std::vector<double>(lambda.size())};
  std::vector<double> y(extent(robot.outputs())), gradients(extent(mechanics.rows().gradients())),
      H(q.size() * lambda.size()), H_c(c.size() * lambda.size());
  (void)mechanics.evaluate_forces(q, c, TangentKind::none, result.force);
  mechanics.evaluate_outputs(q, c, y);
  evaluate_rows(robot, mechanics.rows(), y, result.phi, gradients);
  mechanics.row_jacobians(mechanics.rows(), gradients, H, H_c);
  for (std::size_t row = 0; row < lambda.size(); ++row)
    for (std::size_t i = 0; i < q.size(); ++i) result.force[i] -= H[row * q.size() + i] * lambda[row];
  return result;
}

void expect_derivatives(Mechanics& mechanics, const std::vector<double>& q, const std::vector<double>& c) {
  const Robot& robot = mechanics.robot();
  const std::vector<double> lambda{1.5, 0.7, -0.4};
  std::vector<double> f(q.size()), y(extent(robot.outputs())), phi(lambda.size()),
      gradients(extent(mechanics.rows().gradients())), H(q.size() * lambda.size()), H_c(c.size() * lambda.size()),
      A_c(q.size() * c.size()), stiff, values;
  (void)mechanics.evaluate_forces(q, c, TangentKind::exact, f);
  mechanics.evaluate_outputs(q, c, y);
  evaluate_rows(robot, mechanics.rows(), y, phi, gradients);
  mechanics.row_jacobians(mechanics.rows(), gradients, H, H_c);
  (void)mechanics.factor({0, 1, true}, y, lambda);  // for its geometric stiffness
  mechanics.input_columns({0, 1, true}, A_c);
  const double step = 1e-6;
  for (std::size_t m = 0; m < c.size(); ++m) {
    std::vector<double> forward = c, backward = c;
    forward[m] += step;
    backward[m] -= step;
    const Balance a = balance(mechanics, q, forward, lambda), b = balance(mechanics, q, backward, lambda);
    for (std::size_t i = 0; i < q.size(); ++i) stiff.push_back((a.force[i] - b.force[i]) / (2 * step));
    for (std::size_t row = 0; row < lambda.size(); ++row) {
      values.push_back((a.phi[row] - b.phi[row]) / (2 * step));
      EXPECT_NEAR(H_c[row * c.size() + m], values.back(), 1e-9);  // rounding: 1e-16 m / 1e-6 m, and a curvature of 10/m
    }
  }
  EXPECT_GT(boxes::norm(stiff), 0.1);  // N/m: there is something to compare
  // Central differences: step^2 over the squared strain scale (0.01), and rounding 1e-16 / 1e-6.
  EXPECT_LT(boxes::difference(A_c, stiff), 1e-7);
  // Inertia is linear.
  (void)mechanics.evaluate_forces(q, c, TangentKind::exact, f);
  mechanics.input_columns({1, 0, false}, A_c);
  const std::vector<double> still(q.size(), 0.0);
  for (std::size_t m = 0; m < c.size(); ++m) {
    std::vector<double> unit(c.size(), 0.0), inertia(q.size());
    unit[m] = 1;
    mechanics.inertia(still, unit, inertia);
    for (std::size_t i = 0; i < q.size(); ++i) EXPECT_NEAR(A_c[m * q.size() + i], inertia[i], 1e-16);
  }
}

TEST_P(DrivenRegion, ColumnsAreDerivativesInTheFullModel) {
  expect_derivatives(full_, boxes::random_vector(nv_, 0.003), inputs(model_, 0.003));
}

TEST_P(DrivenRegion, ColumnsAreDerivativesInTheReducedModel) {
  const int r = 6;
  const ReducedModel reduced =
      project(model_, reduced_bodies::random_basis(nv_, r), r, reduced_bodies::some_elements(model_));
  ReducedMechanics mechanics(reduced);
  expect_derivatives(mechanics, boxes::random_vector(r, 0.01), inputs(model_, 0.003));
}

// Robots of a batch do not know of each other, whatever their bases do.
TEST_P(DrivenRegion, BatchIsRobotsAlone) {
  const int r = 6, robots = 3, steps = 8;
  const ReducedModel reduced =
      project(model_, reduced_bodies::random_basis(nv_, r), r, reduced_bodies::some_elements(model_));
  ReducedMechanics batch(reduced, robots);
  Stepper all(batch, {.time_step = 0.01});
  State together = rest_state(batch);
  std::vector<State> alone;
  for (int b = 0; b < robots; ++b) {
    ReducedMechanics mechanics(reduced);
    Stepper stepper(mechanics, {.time_step = 0.01});
    State state = rest_state(mechanics);
    for (int k = 1; k <= steps; ++k)
      ASSERT_EQ(stepper.step(driven_control(model_.robot, k + 5 * b), state).status, StepStatus::ok);
    alone.push_back(state);
  }
  for (int k = 1; k <= steps; ++k) {
    Control control;
    for (int b = 0; b < robots; ++b) {
      const Control one = driven_control(model_.robot, k + 5 * b);
      control.commands.insert(control.commands.end(), one.commands.begin(), one.commands.end());
      control.motions.insert(control.motions.end(), one.motions.begin(), one.motions.end());
    }
    ASSERT_EQ(all.step(control, together).status, StepStatus::ok);
  }
  for (std::size_t b = 0; b < alone.size(); ++b) {
    const auto part = [&](const std::vector<double>& values) {
      const std::size_t n = values.size() / alone.size();
      return std::vector<double>(values.begin() + static_cast<long>(b * n),
                                 values.begin() + static_cast<long>((b + 1) * n));
    };
    EXPECT_TRUE(reduced_bodies::same_bits(part(together.q), alone[b].q));
    EXPECT_TRUE(reduced_bodies::same_bits(part(together.v), alone[b].v));
    EXPECT_TRUE(reduced_bodies::same_bits(part(together.multipliers), alone[b].multipliers));
  }
}

TEST(Lifting, NeedsABodyThatIsHeld) {
  // A second bar beside the first, held nowhere: springs make the motion a straining one, and its response is open.
  Scene scene = driven_bodies::scene(Drive::springs);
  scene.actuators.clear();
  Mesh mesh = driven_bodies::bar(true), other = mesh;
  const int shift = static_cast<int>(mesh.nodes.size());
  for (const Vec3d& x : other.nodes) mesh.nodes.push_back(x + Vec3d{{0.001, 5, 5}});
  for (auto hexahedron : other.hexahedra) {
    for (int& node : hexahedron) node += shift;
    mesh.hexahedra.push_back(hexahedron);
  }
  scene.bodies[0].fixes[0].region.upper = {{1e-6, 1, 1}};
  scene.bodies[0].fixes[1].region.upper = {{1, 1, 1}};
  EXPECT_THROW((void)lifting_of(build_full_model(scene, mesh)), InputError);
}

}  // namespace
}  // namespace supple
