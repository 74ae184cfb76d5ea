// The reduced mechanics against the full one: with every coordinate as a mode and every element it is the full model;
// with any basis it is its Galerkin projection.

#include <omp.h>

#include "engine/step/equilibrium.hpp"
#include "tests/engine/bodies/reduced_bodies.hpp"

namespace supple {
namespace {

using namespace reduced_bodies;  // NOLINT: a test's own vocabulary

struct Body {
  boxes::Law law;
  bool hexahedra;
};

std::vector<Body> bodies(bool exact_only) {
  std::vector<Body> list;
  for (const boxes::Law& law : exact_only ? boxes::exact_laws() : boxes::all_laws()) {
    list.push_back({law, false});
    if (law.exact()) list.push_back({law, true});  // rotations from element edges are those of tetrahedra
  }
  return list;
}

std::string name_of(const testing::TestParamInfo<Body>& info) {
  return info.param.law.name + (info.param.hexahedra ? "_hexahedra" : "_tetrahedra");
}

// Commands of step k: the length-controlled cable pulls, the force rises, the strut swings.
std::vector<double> commands(int k) {
  return {0.0004 * k, 0.05 * k, 0.002 * std::sin(0.5 * k)};
}

// K x: the damping force of D = K.
std::vector<double> stiffness_times(Mechanics& mechanics, const std::vector<double>& x) {
  std::vector<double> out(x.size());
  mechanics.damping(x, {}, out);
  return out;
}

FullModel undamped(const Body& body) {
  FullModel model = build_full_model(bar_scene(body.law), bar(body.hexahedra));
  model.robot.rayleigh_mass = 0;
  model.robot.rayleigh_stiffness = 1;  // damping() is then the product with K
  return model;
}

class FullBasis : public testing::TestWithParam<Body> {};

// All differences here are those of two orders of summation: a few hundred terms at 2e-16 each, K x through solves
// multiplied by the condition number of a short bar (1e3 to 1e4).
TEST_P(FullBasis, EvaluatesTheFullModel) {
  const FullModel model = undamped(GetParam());
  const int nv = model.coordinates.nv;
  const ReducedModel reduced = project(model, full_basis(nv), nv, all_elements(model));
  FullMechanics full(model);
  ReducedMechanics mine(reduced);
  const auto n = static_cast<std::size_t>(nv);
  const std::vector<double> q = boxes::random_vector(nv, 0.004);
  for (const TangentKind kind : {TangentKind::none, TangentKind::safe, TangentKind::exact}) {
    std::vector<double> f(n), g(n);
    const PointReport a = full.evaluate_forces(q, {}, kind, f), b = mine.evaluate_forces(q, {}, kind, g);
    EXPECT_LT(boxes::difference(g, f), 1e-13);
    EXPECT_EQ(a.inverted, b.inverted);
    EXPECT_EQ(a.undefined, 0);
    EXPECT_EQ(b.undefined, 0);
    EXPECT_GT(b.force_scale, 0);
    if (kind == TangentKind::none) continue;
    const std::vector<double> x = boxes::random_vector(nv, 1);
    EXPECT_LT(boxes::difference(stiffness_times(mine, x), stiffness_times(full, x)), 1e-12);
    for (const SystemCoefficients coefficients :
         {SystemCoefficients{0, 1, kind == TangentKind::exact}, SystemCoefficients{1e4, 1.2, false},
          SystemCoefficients{0, 1, true}}) {
      std::vector<double> y(static_cast<std::size_t>(model.robot.outputs()));
      full.evaluate_outputs(q, {}, y);
      const std::vector<double> lambda{1.5, 0.7, -0.4};
      std::vector<double> X = boxes::random_vector(2 * nv, 1), Y = X;
      ASSERT_EQ(full.factor(coefficients, y, lambda).status, SystemStatus::ok)
          << "mass " << coefficients.mass << ", geometric " << coefficients.geometric;
      ASSERT_EQ(mine.factor(coefficients, y, lambda).status, SystemStatus::ok);
      full.solve(X, 2);
      mine.solve(Y, 2);
      EXPECT_LT(boxes::difference(Y, X), 1e-10);
    }
  }
}

TEST_P(FullBasis, MapsAsTheFullModel) {
  const FullModel model = build_full_model(bar_scene(GetParam().law), bar(GetParam().hexahedra));
  const int nv = model.coordinates.nv;
  const ReducedModel reduced = project(model, full_basis(nv), nv, all_elements(model));
  FullMechanics full(model);
  ReducedMechanics mine(reduced);
  const auto n = static_cast<std::size_t>(nv), ny = static_cast<std::size_t>(model.robot.outputs());
  const std::vector<double> q = boxes::random_vector(nv, 0.01);
  std::vector<double> y(ny), z(ny), p(n), r(n), m(n), k(n);
  full.evaluate_outputs(q, {}, y);
  mine.evaluate_outputs(q, {}, z);
  EXPECT_LT(boxes::difference(z, y), 1e-15);
  full.external_forces(p);
  mine.external_forces(r);
  EXPECT_LT(boxes::difference(r, p), 1e-14);
  full.inertia(q, {}, m);
  mine.inertia(q, {}, k);
  EXPECT_LT(boxes::difference(k, m), 1e-14);
  const int rows = model.robot.rows();
  std::vector<double> phi(static_cast<std::size_t>(rows)), gradients(static_cast<std::size_t>(full.rows().gradients())),
      H(static_cast<std::size_t>(rows) * n), J(H.size());
  evaluate_rows(model.robot, full.rows(), y, phi, gradients);
  full.row_jacobians(full.rows(), gradients, H, {});
  mine.row_jacobians(mine.rows(), gradients, J, {});
  EXPECT_LT(boxes::difference(J, H), 1e-15);
}

TEST_P(FullBasis, StepsAsTheFullModel) {
  const FullModel model = build_full_model(bar_scene(GetParam().law), bar(GetParam().hexahedra));
  const int nv = model.coordinates.nv;
  const ReducedModel reduced = project(model, full_basis(nv), nv, all_elements(model));
  FullMechanics full(model);
  ReducedMechanics mine(reduced);
  Stepper a(full, {.time_step = 0.01}), b(mine, {.time_step = 0.01});
  State x = rest_state(full), z = rest_state(mine);
  Control control = zero_control(full);
  for (int k = 1; k <= 25; ++k) {
    control.commands = commands(k);
    const StepReport first = a.step(control, x), second = b.step(control, z);
    ASSERT_EQ(first.status, StepStatus::ok) << describe(first.status);
    ASSERT_EQ(second.status, StepStatus::ok) << describe(second.status);
    ASSERT_EQ(first.limited_commands, second.limited_commands);
  }
  EXPECT_GT(x.multipliers[0], 0.01);  // the cables are at work
  EXPECT_GT(std::abs(x.multipliers[2]), 0.01);
  // Rounding of 25 solves; a damped step forgets.
  EXPECT_LT(boxes::difference(z.q, x.q), 1e-11);
  EXPECT_LT(boxes::difference(z.v, x.v), 1e-9);
  EXPECT_LT(boxes::difference(z.multipliers, x.multipliers), 1e-10);
  EXPECT_LT(boxes::difference(b.outputs(), a.outputs()), 1e-12);
}

INSTANTIATE_TEST_SUITE_P(Laws, FullBasis, testing::ValuesIn(bodies(false)), name_of);

class FullBasisStatics : public testing::TestWithParam<Body> {};

TEST_P(FullBasisStatics, HasTheFullModelsEquilibria) {
  const FullModel model = build_full_model(bar_scene(GetParam().law), bar(GetParam().hexahedra));
  const int nv = model.coordinates.nv;
  const ReducedModel reduced = project(model, full_basis(nv), nv, all_elements(model));
  FullMechanics full(model);
  ReducedMechanics mine(reduced);
  State x = rest_state(full), z = rest_state(mine);
  Control control = zero_control(full);
  control.commands = {0.01, 1, 0.002};
  const EquilibriumSettings settings{.tolerance = 1e-12};
  ASSERT_EQ(Equilibrium(full, settings).solve(control, x).status, StepStatus::ok);
  ASSERT_EQ(Equilibrium(mine, settings).solve(control, z).status, StepStatus::ok);
  // Both residuals are below 1e-12 of the forces; the condition number is 1e3 to 1e4.
  EXPECT_LT(boxes::difference(z.q, x.q), 1e-8);
  EXPECT_LT(boxes::difference(z.multipliers, x.multipliers), 1e-8);
}

INSTANTIATE_TEST_SUITE_P(Laws, FullBasisStatics, testing::ValuesIn(bodies(true)), name_of);

class RandomBasis : public testing::TestWithParam<Body> {};

TEST_P(RandomBasis, IsTheGalerkinProjection) {
  const FullModel model = undamped(GetParam());
  const int nv = model.coordinates.nv, r = 7;
  const std::vector<double> basis = random_basis(nv, r);
  const ReducedModel reduced = project(model, basis, r, all_elements(model));
  FullMechanics full(model);
  ReducedMechanics mine(reduced);
  const std::vector<double> alpha = boxes::random_vector(r, 0.01), u = lift(basis, alpha);
  const auto n = static_cast<std::size_t>(nv), modes = static_cast<std::size_t>(r);
  for (const TangentKind kind : {TangentKind::safe, TangentKind::exact}) {
    std::vector<double> f(n), g(modes);
    (void)full.evaluate_forces(u, {}, kind, f);
    (void)mine.evaluate_forces(alpha, {}, kind, g);
    EXPECT_LT(boxes::difference(g, restrict_vector(basis, f)), 1e-13);
    std::vector<double> expected, found;
    const std::span<const double> K = mine.stiffness(0);
    for (std::size_t j = 0; j < modes; ++j) {
      const std::vector<double> column(basis.begin() + static_cast<long>(j * n),
                                       basis.begin() + static_cast<long>((j + 1) * n));
      const std::vector<double> projected = restrict_vector(basis, stiffness_times(full, column));
      for (std::size_t i = 0; i < modes; ++i) {
        expected.push_back(projected[i]);
        found.push_back(i >= j ? K[i * modes + j] : K[j * modes + i]);
      }
    }
    EXPECT_LT(boxes::difference(found, expected), 1e-13);
  }
}

TEST_P(RandomBasis, HyperReducedForceIsTheWeightedSum) {
  const FullModel model = undamped(GetParam());
  const int nv = model.coordinates.nv, r = 5;
  const std::vector<double> basis = random_basis(nv, r);
  const std::vector<IntegrationDomain> domains = some_elements(model);
  const ReducedModel all = project(model, basis, r, all_elements(model));
  const ReducedModel some = project(model, basis, r, domains);
  expect_same_model(restrict_to(all, domains), some);
  // f = sum_e xi_e f_e, each f_e from a model of that element alone.
  const std::vector<double> alpha = boxes::random_vector(r, 0.01);
  std::vector<double> f(static_cast<std::size_t>(r)), sum(f.size(), 0.0);
  ReducedMechanics(some).evaluate_forces(alpha, {}, TangentKind::none, f);
  for (std::size_t field = 0; field < domains.size(); ++field)
    for (std::size_t k = 0; k < domains[field].elements.size(); ++k) {
      std::vector<IntegrationDomain> one(domains.size());
      one[field] = {{domains[field].elements[k]}, {1.0}};
      ReducedModel single = restrict_to(all, one);
      std::fill(single.stiffness.begin(), single.stiffness.end(), 0.0);
      std::vector<double> part(f.size());
      ReducedMechanics(single).evaluate_forces(alpha, {}, TangentKind::none, part);
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += domains[field].xi[k] * part[i];
    }
  for (std::size_t i = 0; i < sum.size(); ++i)
    for (std::size_t j = 0; j < sum.size(); ++j) sum[i] += some.stiffness[i * sum.size() + j] * alpha[j];
  EXPECT_LT(boxes::difference(f, sum), 1e-13);
}

INSTANTIATE_TEST_SUITE_P(Laws, RandomBasis, testing::ValuesIn(bodies(false)), name_of);

class ReducedTangent : public testing::TestWithParam<Body> {};

TEST_P(ReducedTangent, IsTheDerivativeOfTheForce) {
  const FullModel model = undamped(GetParam());
  const int nv = model.coordinates.nv, r = 6;
  const ReducedModel reduced = project(model, random_basis(nv, r), r, some_elements(model));
  ReducedMechanics mechanics(reduced);
  const auto modes = static_cast<std::size_t>(r);
  const std::vector<double> alpha = boxes::random_vector(r, 0.01);
  std::vector<double> f(modes);
  (void)mechanics.evaluate_forces(alpha, {}, TangentKind::exact, f);
  const std::vector<double> K(mechanics.stiffness(0).begin(), mechanics.stiffness(0).end());
  std::vector<double> expected, found;
  const double step = 1e-6;
  for (std::size_t j = 0; j < modes; ++j) {
    std::vector<double> forward = alpha, backward = alpha, a(modes), b(modes);
    forward[j] += step;
    backward[j] -= step;
    (void)mechanics.evaluate_forces(forward, {}, TangentKind::none, a);
    (void)mechanics.evaluate_forces(backward, {}, TangentKind::none, b);
    for (std::size_t i = 0; i < modes; ++i) {
      expected.push_back((a[i] - b[i]) / (2 * step));
      found.push_back(i >= j ? K[i * modes + j] : K[j * modes + i]);
    }
  }
  // Central differences: step^2 over the squared strain scale (0.01), and rounding 1e-16 / 1e-6.
  EXPECT_LT(boxes::difference(found, expected), 1e-7);
}

INSTANTIATE_TEST_SUITE_P(Laws, ReducedTangent, testing::ValuesIn(bodies(true)), name_of);

TEST(Project, AllElementsIsThePodModel) {
  const FullModel model = build_full_model(bar_scene(boxes::all_laws()[0]), bar(true));
  const ReducedModel all = project(model, random_basis(model.coordinates.nv, 5), 5, all_elements(model));
  expect_same_model(restrict_to(all, all_elements(model)), all);
  EXPECT_EQ(all.fields[0].points(), 8 * model.fields[0].elements());
}

TEST(Project, MassAndGravityAreTheFullModels) {
  const FullModel model = build_full_model(bar_scene(boxes::all_laws()[0]), bar(false));
  const int nv = model.coordinates.nv, r = 4;
  const std::vector<double> basis = random_basis(nv, r);
  const ReducedModel reduced = project(model, basis, r, some_elements(model));
  FullMechanics full(model);
  ReducedMechanics mine(reduced);
  std::vector<double> p(static_cast<std::size_t>(nv)), g(static_cast<std::size_t>(r));
  full.external_forces(p);
  mine.external_forces(g);
  EXPECT_LT(boxes::difference(g, restrict_vector(basis, p)), 1e-14);
  const std::vector<double> v = boxes::random_vector(r, 1);
  std::vector<double> Mv(static_cast<std::size_t>(nv)), mv(static_cast<std::size_t>(r));
  full.inertia(lift(basis, v), {}, Mv);
  mine.inertia(v, {}, mv);
  EXPECT_LT(boxes::difference(mv, restrict_vector(basis, Mv)), 1e-13);
}

// Robots of a batch do not know of each other: the bits are those of robots stepped alone, for any number of threads.
TEST(ReducedBatch, IsFiveRobotsAlone) {
  const FullModel model = build_full_model(bar_scene(boxes::all_laws()[0]), bar(false));
  const int r = 9, robots = 5, steps = 12;
  const ReducedModel reduced = project(model, random_basis(model.coordinates.nv, r), r, some_elements(model));
  const auto command = [](int robot, int k) {
    std::vector<double> c = commands(k);
    for (double& x : c) x *= 0.3 + 0.2 * robot;
    return c;
  };
  std::vector<State> alone;
  for (int b = 0; b < robots; ++b) {
    ReducedMechanics mechanics(reduced);
    Stepper stepper(mechanics, {.time_step = 0.01});
    State state = rest_state(mechanics);
    Control control = zero_control(mechanics);
    for (int k = 1; k <= steps; ++k) {
      control.commands = command(b, k);
      ASSERT_EQ(stepper.step(control, state).status, StepStatus::ok);
    }
    alone.push_back(state);
  }
  const int before = omp_get_max_threads();
  for (const int threads : {1, 2, 8}) {
    omp_set_num_threads(threads);
    ReducedMechanics mechanics(reduced, robots);
    Stepper stepper(mechanics, {.time_step = 0.01});
    State state = rest_state(mechanics);
    Control control = zero_control(mechanics);
    for (int k = 1; k <= steps; ++k) {
      control.commands.clear();
      for (int b = 0; b < robots; ++b)
        for (double c : command(b, k)) control.commands.push_back(c);
      ASSERT_EQ(stepper.step(control, state).status, StepStatus::ok);
    }
    for (std::size_t b = 0; b < robots; ++b) {
      const auto part = [&](const std::vector<double>& all) {
        const std::size_t n = all.size() / robots;
        return std::vector<double>(all.begin() + static_cast<long>(b * n),
                                   all.begin() + static_cast<long>((b + 1) * n));
      };
      EXPECT_TRUE(same_bits(part(state.q), alone[b].q)) << threads << " threads, robot " << b;
      EXPECT_TRUE(same_bits(part(state.v), alone[b].v));
      EXPECT_TRUE(same_bits(part(state.multipliers), alone[b].multipliers));
    }
  }
  omp_set_num_threads(before);
}

}  // namespace
}  // namespace supple
