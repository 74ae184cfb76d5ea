// Membranes by modes of their strains: what they are, their forces and tangents, files, refusals.

#include "engine/reduction/basis/strain_modes.hpp"

#include <omp.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

#include "engine/io/hdf5_file.hpp"
#include "engine/io/model_file.hpp"
#include "engine/reduction/basis/lifting.hpp"
#include "engine/reduction/basis/rigid_motion.hpp"
#include "engine/reduction/pipeline.hpp"
#include "kernels/base/extent.hpp"
#include "tests/engine/bodies/driven_bodies.hpp"
#include "tests/engine/bodies/flipped_bits.hpp"
#include "tests/engine/bodies/floating_bodies.hpp"
#include "tests/engine/bodies/strain_bodies.hpp"

namespace supple {
namespace {

using strain_bodies::random_strains;
using strain_bodies::sheets;
using strain_bodies::with_strains;

constexpr int modes = 16;

FullModel bar(double rayleigh_stiffness = 0.002) {
  Scene scene = strain_bodies::covered();
  scene.bodies[0].rayleigh_stiffness = rayleigh_stiffness;
  if (rayleigh_stiffness == 1) scene.bodies[0].rayleigh_mass = 0;  // damping() is then the product with K
  return build_full_model(scene, reduced_bodies::bar(false));
}

std::vector<double> node_values(const FullModel& model, const std::vector<double>& q) {
  std::vector<double> u(3 * model.mesh.nodes.size());
  node_displacements(model, q, {}, u);
  return u;
}

// Energy [J] of plane stress with Green strains, triangle by triangle from the corners: C = X^-T x^T x X^-1.
double green_energy(const FullModel& model, const std::vector<double>& u) {
  const ElementField& field = sheets(model);
  double energy = 0;
  for (int e = 0; e < field.elements(); ++e) {
    Eigen::Matrix<double, 3, 2> rest, now;
    for (int a = 0; a < 2; ++a)
      for (int k = 0; k < 3; ++k) {
        const auto from = static_cast<std::size_t>(field.node[extent(e, 3)]),
                   to = static_cast<std::size_t>(field.node[extent(e, 3) + extent(1 + a)]);
        rest(k, a) = model.mesh.nodes[to][k] - model.mesh.nodes[from][k];
        now(k, a) = rest(k, a) + u[3 * to + extent(k)] - u[3 * from + extent(k)];
      }
    // E^i_j = 1/2 (g^-1 h - I) of the metrics at rest and now has the invariants of E.
    const Eigen::Matrix2d E =
        0.5 * ((rest.transpose() * rest).inverse() * (now.transpose() * now) - Eigen::Matrix2d::Identity());
    const auto& m = field.parameters[extent(field.region[extent(e)])];
    energy += field.volume[extent(e)] * (m.p[0] * (E * E).trace() + 0.5 * m.p[1] * E.trace() * E.trace());
  }
  return energy;
}

// s of a model's strain field at x.
std::vector<double> strains_at(const ReducedModel& model, const std::vector<double>& x) {
  const StrainForces strains(model.fields[1].strains, model.columns());
  StrainScratch scratch;
  strains.reserve(scratch);
  strains.evaluate(x.data(), 1, StrainForces::Tangent::none, scratch);
  return {scratch.s.begin(), scratch.s.begin() + strains.count()};
}

double modal_energy(const ReducedModel& model, const std::vector<double>& x) {
  const std::vector<double> s = strains_at(model, x);
  return 0.5 * boxes::dot(s, s);
}

std::vector<double> forces(const ReducedModel& model, const std::vector<double>& alpha,
                           const std::vector<double>& c = {}) {
  ReducedMechanics mechanics(model);
  std::vector<double> f(alpha.size());
  EXPECT_EQ(mechanics.evaluate_forces(alpha, c, TangentKind::none, f).undefined, 0);
  return f;
}

ReducedModel without_sheets(ReducedModel model) {
  model.fields.pop_back();
  return model;
}

std::vector<double> sheet_forces(const ReducedModel& model, const std::vector<double>& alpha,
                                 const std::vector<double>& c = {}) {
  return boxes::plus(forces(model, alpha, c), -1, forces(without_sheets(model), alpha, c));
}

TEST(StrainModes, AllOfThemAreTheGreenMembrane) {
  const FullModel full = bar();
  const std::vector<double> basis = reduced_bodies::random_basis(full.coordinates.nv, modes);
  const ReducedModel model = with_strains(full, basis, modes, random_strains(full, 3 * sheets(full).elements()));
  const std::vector<double> alpha = boxes::random_vector(modes, 0.02);
  const double exact = green_energy(full, node_values(full, reduced_bodies::lift(basis, alpha)));
  EXPECT_GT(exact, 1e-3);
  EXPECT_NEAR(modal_energy(model, alpha) / exact, 1, 1e-12);
  // Force along a direction against the energy of the triangles: central differences of step h, h^2 and 1e-16 / h.
  const std::vector<double> v = boxes::random_vector(modes, 1);
  const double h = 1e-6;
  const auto energy = [&](double s) {
    return green_energy(full, node_values(full, reduced_bodies::lift(basis, boxes::plus(alpha, s, v))));
  };
  EXPECT_NEAR((energy(h) - energy(-h)) / (2 * h) / boxes::dot(sheet_forces(model, alpha), v), 1, 1e-7);
}

// Of Green strains and the law's stretches the forces differ in first order of the strain.
TEST(StrainModes, AreTheElementsToTheOrderOfTheStrain) {
  const FullModel full = bar();
  const std::vector<double> basis = reduced_bodies::random_basis(full.coordinates.nv, modes);
  const ReducedModel elements = project(full, basis, modes, all_elements(full)),
                     model = with_strains(full, basis, modes, random_strains(full, 3 * sheets(full).elements()));
  std::vector<double> off;
  for (const double size : {1e-3, 1e-4, 1e-5}) {
    const std::vector<double> alpha = boxes::random_vector(modes, size);
    off.push_back(boxes::difference(sheet_forces(model, alpha), sheet_forces(elements, alpha)));
  }
  EXPECT_LT(off[0], 0.02);  // strains of up to 1 %
  EXPECT_NEAR(off[1] / off[0], 0.1, 0.02);
  EXPECT_NEAR(off[2] / off[1], 0.1, 0.02);
}

// s = S^T z of the shape that the coordinates stand for, prescribed ones too.
TEST(StrainModes, AreProjectionsOfTheStrains) {
  using driven_bodies::Drive;
  for (const Drive drive : {Drive::rigid, Drive::ends}) {
    const FullModel full =
        build_full_model(strain_bodies::covered(driven_bodies::scene(drive)), driven_bodies::bar(false));
    const int nv = full.coordinates.nv, motions = static_cast<int>(full.robot.motions.size());
    const std::vector<double> basis = reduced_bodies::random_basis(nv, modes);
    const StrainBasis strains = random_strains(full, 5);
    const ReducedModel model = with_strains(full, basis, modes, strains);
    ASSERT_EQ(model.columns(), drive == Drive::ends ? modes + 2 : modes);
    const std::vector<double> alpha = boxes::random_vector(modes, 0.02), c = boxes::random_vector(motions, 0.01);
    const std::vector<double> q = driven_bodies::lifted(lifting_of(full).free, reduced_bodies::lift(basis, alpha), c);
    std::vector<double> u(3 * full.mesh.nodes.size()), x = alpha;
    node_displacements(full, q, c, u);
    x.insert(x.end(), c.begin(), c.end());
    const std::vector<double> z = green_strains(sheets(full), u);
    const std::vector<double> modal = strains_at(model, x);
    const double size = boxes::norm(z);
    for (int k = 0; k < 5; ++k) {
      double s = 0;
      for (std::size_t i = 0; i < z.size(); ++i) s += strains.vectors[extent(k) * z.size() + i] * z[i];
      EXPECT_NEAR(modal[extent(k)] / size, s / size, 1e-13);
    }
  }
}

TEST(StrainModes, ForceIsTheDerivativeOfTheEnergyAndStiffnessThatOfTheForce) {
  const FullModel full = bar(1);
  const std::vector<double> basis = reduced_bodies::random_basis(full.coordinates.nv, modes);
  const ReducedModel model = with_strains(full, basis, modes, random_strains(full, 5)), bare = without_sheets(model);
  const std::vector<double> alpha = boxes::random_vector(modes, 0.02), v = boxes::random_vector(modes, 1);
  const double h = 1e-6;
  const std::vector<double> plus = boxes::plus(alpha, h, v), minus = boxes::plus(alpha, -h, v);
  EXPECT_NEAR(
      (modal_energy(model, plus) - modal_energy(model, minus)) / (2 * h) / boxes::dot(sheet_forces(model, alpha), v), 1,
      1e-8);
  // The force is a cubic: central differences leave h^2 of it.
  std::vector<double> slope = boxes::plus(sheet_forces(model, plus), -1, sheet_forces(model, minus));
  for (double& x : slope) x /= 2 * h;
  const auto product = [&](const ReducedModel& of, TangentKind kind) {
    ReducedMechanics mechanics(of);
    std::vector<double> f(modes), Kv(modes);
    (void)mechanics.evaluate_forces(alpha, {}, kind, f);
    mechanics.damping(v, {}, Kv);
    return Kv;
  };
  for (const TangentKind kind : {TangentKind::safe, TangentKind::exact})
    EXPECT_LT(boxes::difference(boxes::plus(product(model, kind), -1, product(bare, kind)), slope), 1e-8);
}

// With motions that strain the body: K_c against differences of the force.
TEST(StrainModes, StiffnessTowardsMotionsIsThatOfTheForce) {
  const FullModel full = build_full_model(strain_bodies::covered(driven_bodies::scene(driven_bodies::Drive::ends)),
                                          driven_bodies::bar(false));
  const ReducedModel model =
      with_strains(full, reduced_bodies::random_basis(full.coordinates.nv, modes), modes, random_strains(full, 5));
  const std::vector<double> alpha = boxes::random_vector(modes, 0.02);
  std::vector<double> c = {0.003, -0.002}, f(modes), A_c(2 * modes), y(extent(model.robot.outputs())),
                      multipliers(extent(model.robot.rows()), 0.0);
  ReducedMechanics mechanics(model);
  mechanics.evaluate_outputs(alpha, c, y);
  (void)mechanics.evaluate_forces(alpha, c, TangentKind::exact, f);
  const SystemCoefficients stiffness{.mass = 0, .stiffness = 1};
  ASSERT_EQ(mechanics.factor(stiffness, y, multipliers).status, SystemStatus::ok);
  mechanics.input_columns(stiffness, A_c);
  const double h = 1e-7;
  for (std::size_t m = 0; m < 2; ++m) {
    std::vector<double> at = c;
    at[m] += h;
    std::vector<double> slope = forces(model, alpha, at);
    at[m] -= 2 * h;
    slope = boxes::plus(slope, -1, forces(model, alpha, at));
    for (double& x : slope) x /= 2 * h;
    const std::vector<double> column(A_c.begin() + static_cast<long>(m) * modes,
                                     A_c.begin() + static_cast<long>(m + 1) * modes);
    EXPECT_LT(boxes::difference(column, slope), 1e-7);
  }
}

TEST(StrainModes, RigidMotionsOfALooseBodyMakeNoForceInFirstOrder) {
  Scene scene = floating_bodies::scene();
  scene.bodies[0].membranes = {strain_bodies::sheet("z-", 1e7)};
  const FullModel full = build_full_model(scene, floating_bodies::mesh());
  const int r = 6 + modes, nv = full.coordinates.nv;
  const std::vector<double> basis = join_modes(rigid_modes(full), reduced_bodies::random_basis(nv, modes), nv);
  const ReducedModel model = with_strains(full, basis, r, random_strains(full, 9));
  const StrainModes& strains = model.fields[1].strains;
  for (int k = 0; k < 9; ++k)
    for (int j = 0; j < 6; ++j) EXPECT_EQ(strains.linear[extent(k, r) + extent(j)], 0);
  std::vector<double> alpha = boxes::random_vector(r, 0.01);
  const std::vector<double> here = sheet_forces(model, alpha);
  EXPECT_GT(boxes::norm(here), 1);
  for (std::size_t k = 0; k < 3; ++k) alpha[k] += 10;
  const std::vector<double> there = sheet_forces(model, alpha);
  EXPECT_EQ(there, here);  // to the last bit: a translation strains nothing
  for (std::size_t k = 3; k < 6; ++k) {
    std::vector<double> turn(extent(r), 0.0);
    turn[k] = 0.01;
    const double turned = boxes::norm(sheet_forces(model, turn));
    turn[k] = 0.001;
    EXPECT_NEAR(turned / boxes::norm(sheet_forces(model, turn)), 100, 10);  // second order
  }
}

// One strain mode, s = 1e3 alpha_0, whose geometric stiffness 1e5 s is that of all other modes: compressed, G is
// negative.
ReducedModel compressible() {
  const FullModel full = bar();
  ReducedModel model =
      with_strains(full, reduced_bodies::random_basis(full.coordinates.nv, modes), modes, random_strains(full, 1));
  StrainModes& strains = model.fields[1].strains;
  strains.linear.assign(modes, 0.0);
  strains.linear[0] = 1e3;
  std::ranges::fill(strains.quadratic, 0.0);
  for (int i = 1; i < modes; ++i) strains.quadratic[extent(i, i + 1) / 2 + extent(i)] = 1e5;
  return model;
}

Eigen::MatrixXd symmetric(std::span<const double> lower) {
  Eigen::MatrixXd matrix(modes, modes);
  for (int i = 0; i < modes; ++i)
    for (int j = 0; j <= i; ++j) matrix(i, j) = matrix(j, i) = lower[extent(i, modes) + extent(j)];
  return matrix;
}

double smallest(const Eigen::MatrixXd& matrix) {
  return Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(matrix, Eigen::EigenvaluesOnly).eigenvalues()[0];
}

TEST(StrainModes, SafeTangentTakesTheShareOfItsGeometricStiffnessThatKeepsItPositive) {
  const ReducedModel model = compressible();
  ReducedMechanics mechanics(model);
  std::vector<double> alpha(modes, 0.0), f(modes), y(extent(model.robot.outputs())),
      multipliers(extent(model.robot.rows()), 0.0);
  const Eigen::MatrixXd M = symmetric(model.mass);
  const auto evaluate = [&](double s, TangentKind kind) {
    alpha[0] = s / 1e3;
    mechanics.evaluate_outputs(alpha, {}, y);
    (void)mechanics.evaluate_forces(alpha, {}, kind, f);
    return symmetric(mechanics.stiffness(0));
  };
  const auto geometric = [](double s) {
    Eigen::MatrixXd G = 1e5 * s * Eigen::MatrixXd::Identity(modes, modes);
    G(0, 0) = 0;
    return G;
  };
  for (const SystemCoefficients coefficients :
       {SystemCoefficients{.mass = 0, .stiffness = 1}, SystemCoefficients{.mass = 1e4, .stiffness = 1.05}}) {
    std::vector<double> seen;
    for (double s = -1e-4; s > -400; s *= 1.2) {
      const Eigen::MatrixXd K = evaluate(s, TangentKind::safe), G = geometric(s);
      // The definition, by eigenvalues.
      double share = 0;
      for (const double t : {1.0, 0.5, 0.25}) {
        const double least = smallest(coefficients.stiffness * (K - (1 - t) * G) + 0.5 * coefficients.mass * M);
        if (least > 0) share = std::max(share, t);
      }
      if (seen.empty() || seen.back() != share) seen.push_back(share);
      const SystemReport report = mechanics.factor(coefficients, y, multipliers);
      ASSERT_EQ(report.status, SystemStatus::ok) << s;
      EXPECT_EQ(report.weakened, share < 1 ? 1 : 0) << s;
      const Eigen::MatrixXd A = coefficients.stiffness * (K - (1 - share) * G) + coefficients.mass * M;
      std::vector<double> x = boxes::random_vector(modes, 1);
      const Eigen::VectorXd right = Eigen::Map<Eigen::VectorXd>(x.data(), modes);
      mechanics.solve(x, 1);
      const Eigen::Map<Eigen::VectorXd> solved(x.data(), modes);
      // As Cholesky's method is stable: by the sizes of A and x.
      EXPECT_LT((A * solved - right).norm(), 1e-13 * A.norm() * solved.norm()) << s;
    }
    EXPECT_EQ(seen, (std::vector<double>{1, 0.5, 0.25, 0}));
    // The exact tangent has all of it.
    (void)evaluate(-100, TangentKind::exact);
    const SystemReport exact = mechanics.factor({.mass = 0, .stiffness = 1}, y, multipliers);
    EXPECT_EQ(exact.status, SystemStatus::ok);
    EXPECT_EQ(exact.negative_pivots, modes - 1);
    EXPECT_EQ(exact.weakened, 0);
  }
}

// What A leaves out of the geometric stiffness, A_c leaves out too.
TEST(StrainModes, ShareOfTheGeometricStiffnessTowardsMotionsToo) {
  const FullModel full = build_full_model(strain_bodies::covered(driven_bodies::scene(driven_bodies::Drive::ends)),
                                          driven_bodies::bar(false));
  ReducedModel model =
      with_strains(full, reduced_bodies::random_basis(full.coordinates.nv, modes), modes, random_strains(full, 1));
  StrainModes& strains = model.fields[1].strains;
  const int n = modes + 2;
  strains.linear.assign(extent(n), 0.0);
  strains.linear[0] = 1e3;
  std::ranges::fill(strains.quadratic, 0.0);
  for (int i = 1; i < n; ++i) {
    strains.quadratic[extent(i, i + 1) / 2 + extent(i)] = 1e5;
    if (i >= modes)
      for (int j = 1; j < modes; ++j) strains.quadratic[extent(i, i + 1) / 2 + extent(j)] = 1e3 * (1 + i + j);
  }
  std::vector<double> alpha(modes, 0.0), f(modes), whole(2 * modes), found(2 * modes), y(extent(model.robot.outputs())),
      multipliers(extent(model.robot.rows()), 0.0);
  const std::vector<double> c = {0, 0};
  const SystemCoefficients coefficients{.mass = 0, .stiffness = 2};
  for (const double s : {1.0, -300.0}) {
    alpha[0] = s / 1e3;
    ReducedMechanics mechanics(model);
    mechanics.evaluate_outputs(alpha, c, y);
    (void)mechanics.evaluate_forces(alpha, c, TangentKind::safe, f);
    const SystemReport report = mechanics.factor(coefficients, y, multipliers);
    ASSERT_EQ(report.status, SystemStatus::ok);
    EXPECT_EQ(report.weakened, s < 0 ? 1 : 0);
    mechanics.input_columns(coefficients, found);
    const std::span<const double> K = mechanics.stiffness(0);
    for (int k = 0; k < 2; ++k)
      for (int i = 0; i < modes; ++i) {
        const double geometric = i == 0 ? 0 : s * 1e3 * (1 + modes + k + i);
        // Of terms of 1e7.
        EXPECT_NEAR(found[extent(k, modes) + extent(i)],
                    2 * (K[extent(modes + k, n) + extent(i)] - (s < 0 ? geometric : 0)), 1e-8);
      }
  }
}

TEST(StrainModes, StepsReportAWeakenedTangent) {
  const ReducedModel model = compressible();
  ReducedMechanics mechanics(model);
  Stepper stepper(mechanics, {.time_step = 0.01});
  for (const double s : {1.0, -300.0}) {
    State state = rest_state(mechanics);
    state.q[0] = s / 1e3;
    const StepReport report = stepper.step(zero_control(mechanics), state);
    EXPECT_EQ(report.status, StepStatus::ok);
    EXPECT_EQ(report.weakened, s < 0 ? 1 : 0);
  }
}

TEST(StrainModes, BasisIsThatOfTheStates) {
  const FullModel full = bar();
  const int nv = full.coordinates.nv, count = 12;
  std::vector<double> states;
  const std::vector<double> shapes = reduced_bodies::random_basis(nv, 2);
  boxes::Random random;
  SnapshotSet set;
  for (int s = 0; s < count; ++s) {
    const std::vector<double> q = reduced_bodies::lift(shapes, {2e-3 * random(), 2e-3 * random()});
    states.insert(states.end(), q.begin(), q.end());
    set.commands.push_back(Sample(extent(static_cast<int>(full.robot.actuators.size())), 0.0));
    ++set.count;
  }
  int reads = 0;
  // Three blocks; of every ninth state the second has none.
  const ColumnBlocks blocks{nv, {5, 4, 3}, [&](int k, std::vector<double>& storage) {
                              ++reads;
                              const int first = k == 0 ? 0 : k == 1 ? 5 : 9, length = k == 0 ? 5 : k == 1 ? 4 : 3;
                              storage.assign(states.begin() + static_cast<long>(extent(first, nv)),
                                             states.begin() + static_cast<long>(extent(first + length, nv)));
                              return std::span<const double>(storage);
                            }};
  // Strains of two shapes are in five directions: two linear, three quadratic.
  const StrainBasis all = strain_basis(full, 1, blocks, set, {.tolerance = 1e-9});
  EXPECT_EQ(all.modes, 5);
  EXPECT_EQ(reads, 3);
  EXPECT_GT(all.off_law, 1e-3);
  EXPECT_LT(all.off_law, all.largest);
  for (const int s : {0, 7}) {
    std::vector<double> z =
        green_strains(sheets(full), node_values(full, {states.begin() + static_cast<long>(extent(s, nv)),
                                                       states.begin() + static_cast<long>(extent(s + 1, nv))}));
    const double size = boxes::norm(z);
    for (int k = 0; k < all.modes; ++k) {
      const std::vector<double> S(all.vectors.begin() + static_cast<long>(extent(k) * z.size()),
                                  all.vectors.begin() + static_cast<long>(extent(k + 1) * z.size()));
      z = boxes::plus(z, -boxes::dot(S, z), S);
    }
    EXPECT_LT(boxes::norm(z), 1e-8 * size);
  }
  EXPECT_EQ(strain_basis(full, 1, blocks, set, {.tolerance = 1e-9, .max_modes = 2}).modes, 2);
  reads = 0;
  EXPECT_EQ(strain_basis(full, 1, blocks, set, {.tolerance = 1e-9, .every = 9}).modes, 2);  // states 0 and 9
  EXPECT_EQ(reads, 2);

  const auto refused = [&](double factor, const std::string& problem) {
    std::vector<double> scaled = states;
    for (double& x : scaled) x *= factor;
    const ColumnBlocks one{nv, {count}, [&](int, std::vector<double>&) { return std::span<const double>(scaled); }};
    try {
      (void)strain_basis(full, 1, one, set, {.tolerance = 0.1});
      ADD_FAILURE() << problem;
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find(problem), std::string::npos) << error.what();
      EXPECT_NE(error.suggestion().find("membranes = \"elements\""), std::string::npos);
    }
  };
  refused(0, "no training state strains the membranes");
  refused(100, "the membranes stretch too much");
}

TEST(StrainModes, ModelFileComesBack) {
  const reduced_bodies::TemporaryFolder folder;
  const std::string path = folder / "bar.rom.h5";
  const FullModel full = bar();
  const ReducedModel model =
      with_strains(full, reduced_bodies::random_basis(full.coordinates.nv, 4), 4, random_strains(full, 5));
  write_model(model, path);
  const ReducedModel read = read_model(path);
  reduced_bodies::expect_same_model(read, model);
  EXPECT_EQ(read.fields[1].strains.count, 5);
  EXPECT_EQ(Hdf5File(path, Hdf5File::Mode::read).read_int("/format_version"), 9);
  const auto refused = [&](const std::string& message, const auto& change) {
    ReducedModel damaged = model;
    change(damaged);
    write_model(damaged, path);
    try {
      (void)read_model(path);
      ADD_FAILURE() << message;
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find(message), std::string::npos) << error.what();
      EXPECT_EQ(error.suggestion(), "the model file is damaged: reduce again");
    }
  };
  refused("'/fields/01/strain_linear' holds a number that is not finite",
          [](ReducedModel& m) { m.fields[1].strains.linear[3] = std::nan(""); });
  refused("'/fields/01/strain_quadratic' holds a number that is not finite",
          [](ReducedModel& m) { m.fields[1].strains.quadratic[7] = INFINITY; });
  refused("'/fields/01/strain_unit' is not positive", [](ReducedModel& m) { m.fields[1].strains.unit = 0; });
  refused("'/fields/01/elements' stand beside strain modes", [&](ReducedModel& m) {
    const StrainModes strains = m.fields[1].strains;
    m = project(full, reduced_bodies::random_basis(full.coordinates.nv, 4), 4, reduced_bodies::some_elements(full));
    m.fields[1].strains = strains;
  });
  refused("'/fields/01/parameters' have no moduli", [](ReducedModel& m) { m.fields[1].parameters.clear(); });
  write_model(model, path);
  const auto same = [&](const std::string& copy) {
    reduced_bodies::expect_same_model(read_model(copy), model);
    return !testing::Test::HasFailure();
  };
  EXPECT_GT(flipped_bits::refused(path, 1999, same), 0.1);
}

TEST(StrainModes, RobotsOfABatchAreAsOneAndShareAFactor) {
  const FullModel full = bar();
  const ReducedModel model =
      with_strains(full, reduced_bodies::random_basis(full.coordinates.nv, modes), modes, random_strains(full, 5));
  const auto commands = [](int k) { return std::vector<double>{0.0004 * k, 0.05 * k, 0.002 * std::sin(0.5 * k)}; };
  constexpr int robots = 3;
  ReducedMechanics together(model, robots), alone(model);
  Stepper a(together, {.time_step = 0.01}), b(alone, {.time_step = 0.01});
  State x = rest_state(together), y = rest_state(alone);
  Control control = zero_control(together), one = zero_control(alone);
  for (int k = 1; k <= 10; ++k) {
    one.commands = commands(k);
    for (std::size_t i = 0; i < extent(robots, 3); ++i) control.commands[i] = one.commands[i % 3];
    ASSERT_EQ(a.step(control, x).status, StepStatus::ok);
    ASSERT_EQ(b.step(one, y).status, StepStatus::ok);
  }
  EXPECT_GT(boxes::norm(y.q), 1e-4);
  for (int k = 0; k < robots; ++k)
    EXPECT_TRUE(std::equal(y.q.begin(), y.q.end(), x.q.begin() + static_cast<long>(extent(k, modes))));

  const std::vector<double> alpha = boxes::random_vector(modes, 0.02), v = boxes::random_vector(modes, 1);
  std::vector<double> f(modes), g(modes);
  (void)alone.evaluate_forces(alpha, {}, TangentKind::safe, f);
  Variations own;
  own.material_scale.assign(extent(model.regions()), 2.0);
  own.material_scale[0] = 1;
  alone.set_variations(own);
  (void)alone.evaluate_forces(alpha, {}, TangentKind::safe, g);
  EXPECT_LT(boxes::difference(boxes::plus(g, -1, f), sheet_forces(model, alpha)), 1e-12);
  own.material_scale.back() = 3;
  try {
    alone.set_variations(own);
    ADD_FAILURE();
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("different material_scale for its membranes"), std::string::npos);
  }
}

TEST(StrainModes, SameBitsFromAnyNumberOfThreads) {
  const FullModel full = bar();
  const std::vector<double> basis = reduced_bodies::random_basis(full.coordinates.nv, modes);
  const int before = omp_get_max_threads();
  std::vector<ReducedModel> models;
  for (const int threads : {1, 2, 8}) {
    omp_set_num_threads(threads);
    models.push_back(with_strains(full, basis, modes, random_strains(full, 5)));
  }
  omp_set_num_threads(before);
  for (const ReducedModel& model : models) reduced_bodies::expect_same_model(model, models[0]);
}

// A soft bar on a sheet that hardly stretches.
class StrainPipeline : public testing::Test {
 public:
  StrainPipeline() : scene_(reduced_bodies::saved_bar(folder_, {"corotational", MaterialModel::corotational}, false)) {
    scene_.bodies[0].membranes = {strain_bodies::sheet("z-", 1e9)};
    scene_.reduction.ecsw_tolerance = 1e-3;
    scene_.reduction.max_modes = 4;
    scene_.reduction.states = 12;
    settings_.snapshots.folder = folder_ / "states";
    settings_.dynamic_steps = 10;
    settings_.rate_seconds = 0.01;
    settings_.tolerances = {0.02};
  }

 protected:
  Reduction reduced(FieldForm form) {
    scene_.reduction.membranes = form;
    return reduce(scene_, build_full_model(scene_), settings_, {});
  }
  reduced_bodies::TemporaryFolder folder_;
  Scene scene_;
  ReduceSettings settings_;
};

// Few modes stretch the sheet where the body only bends it: as elements it locks.
TEST_F(StrainPipeline, ErrorsAreBelowThoseOfElementsWithTheSameModes) {
  const Reduction elements = reduced(FieldForm::elements), strains = reduced(FieldForm::strains);
  const ReducedField& sheet = strains.model.fields[1];
  EXPECT_EQ(strains.model.modes, elements.model.modes);
  EXPECT_GT(sheet.strains.count, 0);
  EXPECT_EQ(sheet.units(), 0);
  EXPECT_EQ(sheet.total_elements, elements.model.fields[1].total_elements);
  EXPECT_LE(sheet.residual, sheet.tolerance);
  EXPECT_EQ(strains.report.table[3].elements, strains.model.fields[0].units());
  const ErrorSummary &e = elements.model.errors, &s = strains.model.errors;
  RecordProperty("strain_modes", sheet.strains.count);
  RecordProperty("elements_shape", std::to_string(e.shape_mean));
  RecordProperty("strains_shape", std::to_string(s.shape_mean));
  EXPECT_EQ(s.failed, 0);
  EXPECT_LT(s.shape_mean, 0.8 * e.shape_mean);
  EXPECT_FALSE(strains.report.dynamic.failed);
  EXPECT_TRUE(std::ranges::any_of(strains.report.notes, [](const std::string& note) {
    return note.find("of the strains of") != std::string::npos;
  }));
  EXPECT_NE(strains.model.provenance.scene_text.find("membranes = \"strains\""), std::string::npos);
  EXPECT_EQ(elements.model.provenance.scene_text.find("membranes"), std::string::npos);
  // The same again, from the states that there are.
  reduced_bodies::expect_same_model(reduced(FieldForm::strains).model, strains.model);
  write_model(strains.model, folder_ / "bar.rom.h5");
  reduced_bodies::expect_same_model(read_model(folder_ / "bar.rom.h5"), strains.model);
}

TEST_F(StrainPipeline, BodiesWithoutMembranesAreRefused) {
  scene_.bodies[0].membranes.clear();
  try {
    (void)reduced(FieldForm::strains);
    ADD_FAILURE();
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("is for bodies with sheets"), std::string::npos);
    EXPECT_NE(error.suggestion().find("elements"), std::string::npos);
  }
}

}  // namespace
}  // namespace supple
