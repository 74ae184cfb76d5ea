// The blocks of an assembly: Jacobians, tangent and mass against finite differences, and the system of "The Compliant
// plugin" written down by hand.

#include <gtest/gtest.h>

#include "tests/engine/bodies/assemblies.hpp"

namespace supple {
namespace {

using namespace assemblies;

// Two bars on a free frame and one on a held one, a second free frame, and links of every kind between them.
struct Tangle {
  Bar bar;
  std::vector<double> basis;
  ReducedBar reduced[3];
  AssemblyMechanics mechanics;
  explicit Tangle(bool as_force)
      : basis(reduced_bodies::random_basis(bar.model.coordinates.nv, 5)),
        reduced{{bar.model, basis, 5}, {bar.model, basis, 5}, {bar.model, basis, 5}},
        mechanics(description(as_force)) {}
  Assembly description(bool as_force) {
    Assembly assembly;
    assembly.name = "tangle";
    assembly.gravity = {{1, 2, -9.81}};
    assembly.frames = {frame("palm", Hold::free, turned({{0.1, 0.2, 0.3}}, {{0.4, -1, 0.6}})),
                       frame("wall", Hold::fixed, turned({{-0.3, 0.1, 0}}, {{0, 0.2, 0.5}})),
                       frame("load", Hold::free, turned({{0.5, 0.1, 0.2}}, {{-0.4, 0.1, 0.2}}))};
    assembly.bodies = {
        body("a", reduced[0].mechanics, reduced[0].inertia, 0, turned({{0, 0.05, 0.02}}, {{0.3, 0, 0.2}})),
        body("b", reduced[1].mechanics, reduced[1].inertia, 0, turned({{0, -0.3, 0}}, {{0, 0.7, 0}})),
        body("c", reduced[2].mechanics, reduced[2].inertia, 1)};
    const int tip = effector_point(bar.model.robot, "tip"), side = effector_point(bar.model.robot, "side");
    assembly.links = {path({on_body(0, tip), on_frame(2, {{0.1, 0.02, -0.03}}), on_body(2, side)}, 0.3, 1e-3, as_force),
                      path({on_frame(0, {{0.05, 0.1, 0}}), on_body(1, tip)}, 0.2, 2e-3, as_force),
                      path({on_frame(0, {{0.2, 0.1, 0}}), on_frame(2, {{0.1, 0.1, 0.1}}), on_frame(1, {{0, 0, 0.4}})},
                           0.7, 2e-3, as_force)};
    join(assembly, on_body(1, side), on_body(2, tip), 1e-3, as_force);
    join(assembly, on_body(0, side), on_frame(2, {{0, 0.2, 0}}), 1e-3, as_force);
    return assembly;
  }
};

std::vector<double> somewhere(const AssemblyMechanics& mechanics) {
  State state = rest_state(mechanics);
  const std::vector<double> u = boxes::random_vector(mechanics.coordinates().nv, 0.02);
  mechanics.coordinates().integrate(state.q.data(), u.data());
  return state.q;
}

TEST(Assembly, JacobiansOfRowsAgreeWithDifferences) {
  for (const bool as_force : {false, true}) {
    Tangle tangle(as_force);
    AssemblyMechanics& mechanics = tangle.mechanics;
    const Robot& robot = mechanics.robot();
    const RowLayout layout = as_force ? spring_layout(robot) : row_layout(robot);
    const int nv = mechanics.coordinates().nv, rows = layout.rows();
    const std::vector<double> q = somewhere(mechanics);
    const auto evaluate = [&](const std::vector<double>& at, std::vector<double>& gradients) {
      std::vector<double> y(extent(robot.outputs())), phi(extent(rows));
      gradients.resize(extent(layout.gradients()));
      mechanics.evaluate_outputs(at, {}, y);
      if (!as_force) {
        evaluate_rows(robot, layout, y, phi, gradients);
        return phi;
      }
      for (int k = 0; k < rows; ++k)
        phi[extent(k)] = evaluate_constraint(robot.springs[extent(k)], y, gradients.data() + layout.offset[extent(k)]);
      return phi;
    };
    std::vector<double> gradients, scratch, H(extent(rows, nv)), H_c;
    (void)evaluate(q, gradients);
    mechanics.row_jacobians(layout, gradients, H, H_c);
    const double h = 1e-5;
    for (int j = 0; j < nv; ++j) {
      std::vector<double> unit(extent(nv), 0.0), plus = q, minus = q;
      unit[extent(j)] = h;
      mechanics.coordinates().integrate(plus.data(), unit.data());
      unit[extent(j)] = -h;
      mechanics.coordinates().integrate(minus.data(), unit.data());
      const std::vector<double> high = evaluate(plus, scratch), low = evaluate(minus, scratch);
      // Central differences over 1e-5 of lengths below a metre: truncation 1e-10, rounding 1e-11; curvature of the
      // paths up to 1/(0.1 m)^2.
      for (int i = 0; i < rows; ++i)
        EXPECT_NEAR(H[extent(i, nv) + extent(j)], (high[extent(i)] - low[extent(i)]) / (2 * h), 1e-7);
    }
  }
}

TEST(Assembly, TangentAgreesWithDifferencesAlongTurns) {
  // d/ds u . (f - H^T lambda)(q (+) s u) = u^T A u: a turn about one axis keeps its velocity in the body's axes. For
  // random u that is all of the symmetric A, off-diagonal blocks of frames and bodies among them.
  for (const bool as_force : {false, true}) {
    Tangle tangle(as_force);
    AssemblyMechanics& mechanics = tangle.mechanics;
    const Robot& robot = mechanics.robot();
    const RowLayout layout = as_force ? spring_layout(robot) : row_layout(robot);
    const int nv = mechanics.coordinates().nv, rows = layout.rows();
    const std::vector<double> q = somewhere(mechanics);
    std::vector<double> lambda = boxes::random_vector(robot.rows(), 5), y(extent(robot.outputs())), f(extent(nv)),
                        gradients(extent(layout.gradients())), phi(extent(rows)), H(extent(rows, nv)), H_c;
    // Generalised force of everything at `at`; springs pull by what they are stretched there.
    const auto force = [&](const std::vector<double>& at, TangentKind kind) {
      mechanics.evaluate_outputs(at, {}, y);
      std::vector<double> pull = lambda;
      if (as_force)
        for (int k = 0; k < rows; ++k) {
          const ConstraintRow& spring = robot.springs[extent(k)];
          phi[extent(k)] = evaluate_constraint(spring, y, gradients.data() + layout.offset[extent(k)]);
          pull[extent(k)] = -phi[extent(k)] / spring.compliance;
        }
      else
        evaluate_rows(robot, layout, y, phi, gradients);
      mechanics.row_jacobians(layout, gradients, H, H_c);
      (void)mechanics.evaluate_forces(at, {}, kind, f);
      std::vector<double> sum = f;
      for (int i = 0; i < rows; ++i)
        for (int j = 0; j < nv; ++j) sum[extent(j)] -= pull[extent(i)] * H[extent(i, nv) + extent(j)];
      return sum;
    };
    if (as_force) lambda.assign(extent(rows), 0.0);
    (void)force(q, TangentKind::exact);
    std::vector<PointStiffness> points;
    if (as_force)
      for (int k = 0; k < rows; ++k) {
        const ConstraintRow& spring = robot.springs[extent(k)];
        const double* g = gradients.data() + layout.offset[extent(k)];
        const auto add = [&](int i, int j, const Mat3d& S) {
          points.push_back({0, spring.first_point + i, spring.first_point + j, S});
        };
        for (int i = 0; i < spring.point_count; ++i)
          for (int j = 0; j < spring.point_count; ++j)
            add(i, j,
                (1 / spring.compliance) * outer(Vec3d{{g[3 * i], g[3 * i + 1], g[3 * i + 2]}},
                                                Vec3d{{g[3 * j], g[3 * j + 1], g[3 * j + 2]}}));
        visit_constraint_curvature(spring, y, -phi[extent(k)] / spring.compliance, add);
      }
    const std::vector<double> none(extent(robot.rows()), 0.0);
    const SystemReport report =
        mechanics.factor({.mass = 0, .stiffness = 1, .geometric = true, .points = points}, y, as_force ? none : lambda);
    ASSERT_EQ(report.status, SystemStatus::ok);
    boxes::Random random;
    for (int trial = 0; trial < 12; ++trial) {
      std::vector<double> r(extent(nv));
      for (double& value : r) value = random();
      std::vector<double> u = r;
      mechanics.solve(u, 1);
      const double scale = 1 / boxes::norm(u);
      for (double& value : u) value *= scale;
      const double expected = scale * boxes::dot(r, u), h = 1e-5;
      std::vector<double> plus = q, minus = q, step = u;
      for (double& value : step) value *= h;
      mechanics.coordinates().integrate(plus.data(), step.data());
      for (double& value : step) value *= -1;
      mechanics.coordinates().integrate(minus.data(), step.data());
      const double difference =
          (boxes::dot(u, force(plus, TangentKind::none)) - boxes::dot(u, force(minus, TangentKind::none))) / (2 * h);
      // Third derivatives of paths of 0.1 m times forces of 50 N: 1e-10 * 5e3; stiffness of springs 1e3 N/m.
      EXPECT_NEAR(difference, expected, 1e-6 * (1e3 + std::abs(expected)));
    }
  }
}

TEST(Assembly, MassIsSymmetricAndSolvedFor) {
  // M u by inertia() and A^-1 of A = 3 M + K, K alone by a second factor: both sides of the border.
  Tangle tangle(false);
  AssemblyMechanics& mechanics = tangle.mechanics;
  const int nv = mechanics.coordinates().nv;
  const std::vector<double> q = somewhere(mechanics), none(extent(mechanics.robot().rows()), 0.0);
  std::vector<double> y(extent(mechanics.robot().outputs())), f(extent(nv));
  mechanics.evaluate_outputs(q, {}, y);
  (void)mechanics.evaluate_forces(q, {}, TangentKind::safe, f);
  ASSERT_EQ(mechanics.factor({.mass = 1e6, .stiffness = 0}, y, none).status, SystemStatus::ok);
  const std::vector<double> a = boxes::random_vector(nv, 1);
  std::vector<double> Ma(extent(nv));
  mechanics.inertia(a, {}, Ma);
  std::vector<double> back = Ma;
  mechanics.solve(back, 1);
  for (double& value : back) value *= 1e6;
  EXPECT_LT(boxes::difference(back, a), 1e-9);  // cond(M) about 1e5
}

TEST(Assembly, KineticEnergyIsThatOfTheNodes) {
  // v^T M v against the sum of m_ij v_i . v_j over the nodes of the bars, at rest in their frame, and the frame's own.
  Bar bar, other;
  Assembly assembly;
  const Pose rest = turned({{0.1, 0.2, 0.3}}, {{0.4, -1, 0.6}});
  const Pose places[2] = {turned({{0, 0.05, 0.02}}, {{0.3, 0, 0.2}}), turned({{0, -0.3, 0}}, {{0, 0.7, 0}})};
  assembly.frames = {frame("palm", Hold::free, rest)};
  assembly.bodies = {body("a", bar.mechanics, bar.inertia, 0, places[0]),
                     body("b", other.mechanics, other.inertia, 0, places[1])};
  AssemblyMechanics mechanics(assembly);
  const int nv = mechanics.coordinates().nv, own = bar.model.coordinates.nv;
  const std::vector<double> v = boxes::random_vector(nv, 1);
  std::vector<double> momentum(extent(nv));
  mechanics.inertia(v, {}, momentum);
  // The frame's velocity is that of the centre of mass of all.
  RigidInertia all = irregular();
  for (const Pose& place : places) all = all + seen_from(place, bar.inertia.rest);
  const Vec3d velocity{{v[extent(nv - 6)], v[extent(nv - 5)], v[extent(nv - 4)]}},
      turn{{v[extent(nv - 3)], v[extent(nv - 2)], v[extent(nv - 1)]}};
  const auto carried = [&](const Vec3d& x) { return velocity + rest.rotation * cross(turn, x - all.centre); };
  const RigidInertia frame_own = irregular();
  const Vec3d v_own = carried(frame_own.centre);
  double twice = frame_own.mass * dot(v_own, v_own) + dot(turn, frame_own.inertia * turn);
  for (int b = 0; b < 2; ++b) {
    std::vector<double> u(3 * bar.model.mesh.nodes.size());
    node_displacements(bar.model, part(v, b * own, extent(own)), {}, u);
    const auto node_velocity = [&](int node) {
      return carried(places[b](bar.model.mesh.nodes[extent(node)])) +
             rest.rotation * (places[b].rotation * point_at(u, node));
    };
    const NodeMatrix& M = bar.model.mass;
    for (int column = 0; column + 1 < static_cast<int>(M.column_start.size()); ++column)
      for (int k = M.column_start[extent(column)]; k < M.column_start[extent(column) + 1]; ++k) {
        const int row = M.row[extent(k)];
        twice += (row == column ? 1 : 2) * M.value[extent(k)] * dot(node_velocity(row), node_velocity(column));
      }
  }
  EXPECT_NEAR(boxes::dot(v, momentum), twice, 1e-12 * twice);
}

TEST(Assembly, FigureOneOfTheCompliantPlugin) {
  // F. Faure, The Compliant plugin (2012), Figure 1: X_a a rigid frame; X_b points on it with the masses M_bb; X_c two
  // of them, with a compliance towards places in space; X_d independent, with M_dd; X_e from X_a and X_d, a distance
  // with a compliance. One step from rest against eq. 15 written down: M = J_b^T M_bb J_b (+) M_dd, J with a row for
  // each compliance, the last with two blocks.
  const double h = 0.02, masses[4] = {0.2, 0.3, 0.1, 0.4}, mass_d = 0.25;
  const Vec3d b[4] = {{{0.1, 0, 0}}, {{-0.1, 0.05, 0}}, {{0, -0.1, 0.08}}, {{0.03, 0.02, -0.1}}};
  const Vec3d gravity{{0.3, -0.2, -9.81}}, rest_d{{0.3, 0.4, 0.1}}, e_a{{0.05, 0.12, 0.02}};
  const double c_alpha = 2e-3, c_beta = 5e-3, length = 0.45;
  ReducedModel d = point_masses::model({{rest_d, mass_d, 0}}, gravity);
  ReducedMechanics point(d);
  Assembly assembly;
  assembly.gravity = gravity;
  assembly.frames = {frame("a", Hold::free, turned({{0.02, 0.01, 0}}, {{0.3, -0.2, 0.1}}), {}),
                     frame("world", Hold::fixed)};
  assembly.bodies = {body("d", point, body_inertia(d), 1)};
  for (int k = 0; k < 4; ++k) assembly.masses.push_back({on_frame(0, b[k]), masses[k]});
  const Pose pose = assembly.frames[0].pose;
  std::vector<Vec3d> directions = {{{1, 0, 0}}, {{0, 0.6, 0.8}}};
  for (int k = 0; k < 2; ++k) {
    Assembly::Link link;
    link.row = point_masses::along(directions[extent(k)], pose(b[k]) + Vec3d{{0.01, 0.02, -0.01}}, c_alpha);
    link.points = {on_frame(0, b[k])};
    assembly.links.push_back(link);
  }
  assembly.links.push_back(path({on_frame(0, e_a), on_body(0, 0)}, length, c_beta, false));
  AssemblyMechanics mechanics(assembly);
  Stepper stepper(mechanics, {.scheme = StepScheme::one_linearisation, .time_step = h});
  State state = rest_state(mechanics);
  const std::vector<double> start = state.q;
  run(stepper, zero_control(mechanics), 1, state);

  // Nine velocities: of a point fixed in the frame, of the turn in the frame's axes, of d. The frame's coordinates are
  // those of its centre of mass.
  Vec3d centre{{0, 0, 0}};
  for (int k = 0; k < 4; ++k) centre = centre + masses[k] * b[k];  // of 1 kg in all
  const auto jacobian = [&](const Vec3d& x, const Vec3d& n) {
    std::vector<double> row(9, 0.0);
    const Vec3d turn = cross(x - centre, transpose(pose.rotation) * n);
    std::copy_n(n.v, 3, row.data());
    std::copy_n(turn.v, 3, row.data() + 3);
    return row;
  };
  std::vector<double> M(81, 0.0), force(9, 0.0);
  for (int k = 0; k < 4; ++k)
    for (int i = 0; i < 3; ++i) {
      Vec3d n{{0, 0, 0}};
      n[i] = 1;
      const std::vector<double> J = jacobian(b[k], n);
      for (std::size_t p = 0; p < 9; ++p) {
        force[p] += masses[k] * gravity[i] * J[p];
        for (std::size_t r = 0; r < 9; ++r) M[9 * p + r] += masses[k] * J[p] * J[r];
      }
    }
  for (std::size_t i = 0; i < 3; ++i) {
    M[9 * (6 + i) + 6 + i] = mass_d;
    force[6 + i] = mass_d * gravity[static_cast<int>(i)];
  }
  std::vector<std::vector<double>> J;
  std::vector<double> phi, C = {c_alpha, c_alpha, c_beta};
  for (int k = 0; k < 2; ++k) {
    J.push_back(jacobian(b[k], directions[extent(k)]));
    phi.push_back(dot(directions[extent(k)], pose(b[k]) - assembly.links[extent(k)].row.place));
  }
  const Vec3d apart = pose(e_a) - rest_d, n = (1 / norm(apart)) * apart;
  J.push_back(jacobian(e_a, -1.0 * n));
  for (std::size_t i = 0; i < 3; ++i) J[2][6 + i] = n[static_cast<int>(i)];
  phi.push_back(length - norm(apart));
  // [M/h^2 -J^T; J C] [u; lambda] = [f; -phi] (alpha = beta = 1, d = 0, at rest), by elimination.
  double K[12][13] = {};
  for (std::size_t p = 0; p < 12; ++p)
    for (std::size_t r = 0; r < 12; ++r)
      K[p][r] = p < 9 && r < 9 ? M[9 * p + r] / (h * h)
                : p < 9        ? -J[r - 9][p]
                : r < 9        ? J[p - 9][r]
                : p == r       ? C[p - 9]
                               : 0;
  for (std::size_t p = 0; p < 12; ++p) K[p][12] = p < 9 ? force[p] : -phi[p - 9];
  for (std::size_t p = 0; p < 12; ++p)
    for (std::size_t r = 0; r < 12; ++r) {
      if (r == p) continue;
      const double factor = K[r][p] / K[p][p];
      for (std::size_t k = p; k < 13; ++k) K[r][k] -= factor * K[p][k];
    }
  for (std::size_t k = 0; k < 3; ++k)
    EXPECT_NEAR(state.multipliers[k], K[9 + k][12] / K[9 + k][9 + k], 1e-9);  // of forces of up to 10 N
  // The motion of the assembly: body d first, then the frame.
  double moved[9];
  std::copy_n(state.q.data(), 3, moved);
  const Pose from = {{{start[3], start[4], start[5]}}, rotation_of({start[6], {{start[7], start[8], start[9]}}})};
  const Pose to = pose_of(state.q.data() + 3);
  const Vec3d turn = quaternion_log(quaternion_of(transpose(from.rotation) * to.rotation));
  for (int k = 0; k < 3; ++k) {
    moved[3 + k] = to.position[k] - from.position[k];
    moved[6 + k] = turn[k];
  }
  for (std::size_t i = 0; i < 9; ++i) {
    const std::size_t p = i < 3 ? 6 + i : i - 3;
    EXPECT_NEAR(moved[i], K[p][12] / K[p][p], 1e-12);
  }
}

TEST(Assembly, MassOnABodyIsMassThere) {
  // A mass on a soft body's point: the point mass with it is the heavier point mass.
  const Vec3d gravity{{0.5, 0, -9.81}};
  ReducedModel light = point_masses::model({{{{0, 0, 0}}, 0.3, 40}}, gravity),
               heavy = point_masses::model({{{{0, 0, 0}}, 0.8, 40}}, gravity);
  ReducedMechanics a(light), b(heavy);
  Assembly assembly;
  assembly.gravity = gravity;
  assembly.frames = {frame("world", Hold::fixed)};
  assembly.bodies = {body("p", a, body_inertia(light), 0)};
  assembly.masses = {{on_body(0, 0), 0.5}};
  AssemblyMechanics mechanics(assembly);
  for (const StepScheme scheme : point_masses::schemes) {
    Stepper one(b, {.scheme = scheme, .time_step = 0.01}), two(mechanics, {.scheme = scheme, .time_step = 0.01});
    State x = rest_state(b), z = rest_state(mechanics);
    point_masses::run(one, b, 20, x);
    point_masses::run(two, mechanics, 20, z);
    EXPECT_LT(boxes::difference(z.q, x.q), scheme == StepScheme::newton ? 1e-8 : 1e-13);
  }
}

}  // namespace
}  // namespace supple
