// Soft bodies on frames that turn: their inertia against sums over nodes, and what it conserves.

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "engine/mechanics/assembly/floating_mechanics.hpp"
#include "engine/model/on_frame.hpp"
#include "engine/model/reduced_shape.hpp"
#include "engine/reduction/basis/rigid_motion.hpp"
#include "solvers/pod/pod.hpp"
#include "tests/engine/bodies/assemblies.hpp"
#include "tests/engine/bodies/floating_bodies.hpp"

namespace supple {
namespace {

using namespace assemblies;

// Sums over the nodes of a full model at q in a frame, r = place(X + u).
struct Nodes {
  const FullModel& model;
  Pose place;
  std::vector<Vec3d> r;
  Nodes(const FullModel& full, const Pose& pose, const std::vector<double>& q) : model(full), place(pose) {
    std::vector<double> u(3 * full.mesh.nodes.size());
    node_displacements(full, q, {}, u);
    for (std::size_t i = 0; i < full.mesh.nodes.size(); ++i)
      r.push_back(pose(full.mesh.nodes[i] + point_at(u, static_cast<int>(i))));
  }
  std::vector<Vec3d> velocities(const Vec3d& velocity, const Vec3d& turn, const std::vector<double>& rates) const {
    std::vector<double> u(3 * model.mesh.nodes.size());
    node_displacements(model, rates, {}, u);
    std::vector<Vec3d> w;
    for (std::size_t i = 0; i < r.size(); ++i)
      w.push_back(velocity + cross(turn, r[i]) + place.rotation * point_at(u, static_cast<int>(i)));
    return w;
  }
  // sum m_ij f(i, j)
  template <class Function>
  void sum(const Function& f) const {
    const NodeMatrix& M = model.mass;
    for (int column = 0; column + 1 < static_cast<int>(M.column_start.size()); ++column)
      for (int k = M.column_start[extent(column)]; k < M.column_start[extent(column) + 1]; ++k) {
        const int row = M.row[extent(k)];
        f(row, column, M.value[extent(k)]);
        if (row != column) f(column, row, M.value[extent(k)]);
      }
  }
  double energy(const Vec3d& velocity, const Vec3d& turn, const std::vector<double>& rates) const {
    const std::vector<Vec3d> w = velocities(velocity, turn, rates);
    double twice = 0;
    sum([&](int i, int j, double m) { twice += m * dot(w[extent(i)], w[extent(j)]); });
    return twice / 2;
  }
};

TEST(BodyInertia, MomentsAndApparentForcesAreThoseOfTheNodes) {
  Bar bar;
  const int nv = bar.model.coordinates.nv, modes = 6;
  const Pose place = turned({{0.05, -0.02, 0.1}}, {{0.4, -0.7, 0.3}});
  const std::vector<double> basis = reduced_bodies::random_basis(nv, modes);
  const ReducedBar reduced(bar.model, basis, modes);
  const CarriedInertia of_nodes(bar.inertia, place), of_modes(reduced.inertia, place);
  const std::vector<double> alpha = boxes::random_vector(modes, 0.05), rates = boxes::random_vector(modes, 0.4),
                            q = reduced_bodies::lift(basis, alpha), q_rates = reduced_bodies::lift(basis, rates);
  const Vec3d velocity{{0, 0, 0}}, turn{{2, -3, 1}};
  const Nodes nodes(bar.model, place, q), rest(bar.model, place, std::vector<double>(extent(nv), 0.0));
  CarriedInertia::At full, own;
  of_nodes.evaluate(q, full);
  of_modes.evaluate(alpha, own);
  Vec3d moment{{0, 0, 0}};
  Mat3d second = Mat3d::zero();
  nodes.sum([&](int i, int j, double m) {
    moment = moment + m * (nodes.r[extent(i)] - rest.r[extent(i)]);
    second = second + m * (outer(nodes.r[extent(i)], nodes.r[extent(j)]) - outer(rest.r[extent(i)], rest.r[extent(j)]));
  });
  // Sums of 0.3 kg over 0.3 m: rounding.
  for (const auto* at : {&full, &own}) {
    EXPECT_LT(norm(at->moment - moment), 1e-15);
    for (int k = 0; k < 9; ++k) EXPECT_NEAR(at->second[k], second[k], 1e-16);
  }
  // dT/drates and dT/dalpha by central differences of a polynomial of second order: exact but for rounding / 1e-3.
  std::vector<double> force(extent(nv), 0.0), own_force(extent(modes), 0.0);
  of_nodes.add_apparent_forces(full, turn, q_rates, 1, force);
  of_modes.add_apparent_forces(own, turn, rates, 1, own_force);
  const std::vector<double> restricted = reduced_bodies::restrict_vector(basis, force);
  for (int j = 0; j < modes; ++j) {
    std::vector<double> plus = alpha, minus = alpha;
    plus[extent(j)] += 1e-3;
    minus[extent(j)] -= 1e-3;
    const double slope = (Nodes(bar.model, place, reduced_bodies::lift(basis, plus)).energy(velocity, turn, q_rates) -
                          Nodes(bar.model, place, reduced_bodies::lift(basis, minus)).energy(velocity, turn, q_rates)) /
                         2e-3;
    EXPECT_NEAR(own_force[extent(j)], slope, 1e-11);
    EXPECT_NEAR(restricted[extent(j)], slope, 1e-11);
    const Vec3d rotation{
        {own.rotation[3 * extent(j)], own.rotation[3 * extent(j) + 1], own.rotation[3 * extent(j) + 2]}};
    std::vector<double> faster = q_rates, slower = q_rates, column(extent(modes), 0.0);
    column[extent(j)] = 1e-3;
    const std::vector<double> change = reduced_bodies::lift(basis, column);
    for (std::size_t i = 0; i < change.size(); ++i) {
      faster[i] += change[i];
      slower[i] -= change[i];
    }
    const double momentum = (nodes.energy({{0, 0, 0}}, turn, faster) - nodes.energy({{0, 0, 0}}, turn, slower)) / 2e-3,
                 without =
                     (nodes.energy({{0, 0, 0}}, {{0, 0, 0}}, faster) - nodes.energy({{0, 0, 0}}, {{0, 0, 0}}, slower)) /
                     2e-3;
    EXPECT_NEAR(dot(rotation, turn), momentum - without, 1e-11);
  }
}

// A free palm with an irregular inertia of its own that carries two soft bars.
struct Flyer {
  Bar bar;
  std::vector<double> basis;
  ReducedBar reduced[2];
  AssemblyMechanics mechanics;
  explicit Flyer(int modes, const Vec3d& gravity = {{0, 0, 0}})
      : basis(reduced_bodies::random_basis(bar.model.coordinates.nv, modes)),
        reduced{{undamped(bar.model), basis, modes}, {bar.model, basis, modes}},
        mechanics(description(gravity)) {}
  // Damping by mass would brake the whole.
  static const FullModel& undamped(FullModel& model) {
    model.robot.rayleigh_mass = 0;
    return model;
  }
  Assembly description(const Vec3d& gravity) {
    Assembly assembly;
    assembly.name = "flyer";
    assembly.gravity = gravity;
    assembly.frames = {frame("palm", Hold::free, turned({{0.1, 0.2, 0.3}}, {{0.4, -1, 0.6}}))};
    assembly.bodies = {
        body("a", reduced[0].mechanics, reduced[0].inertia, 0, turned({{0, 0.05, 0.02}}, {{0.3, 0, 0.2}})),
        body("b", reduced[1].mechanics, reduced[1].inertia, 0, turned({{0, -0.3, 0}}, {{0, 0.7, 0}}))};
    return assembly;
  }
  State start() {
    State state = rest_state(mechanics);
    const std::size_t nv = state.v.size();
    for (std::size_t k = 0; k < 3; ++k) {
      state.v[nv - 6 + k] = 0.2 * static_cast<double>(k) - 0.1;
      state.v[nv - 3 + k] = 3 - 2 * static_cast<double>(k);
    }
    return state;
  }
};

TEST(TurningBodies, KeepTheirMomentum) {
  // Damping within the bars and centrifugal forces change the energy, nothing changes P and L about the common centre
  // of mass. 200 Newton steps to 1e-12.
  Flyer flyer(5);
  AssemblyMechanics& mechanics = flyer.mechanics;
  Stepper stepper(mechanics, {.scheme = StepScheme::newton, .time_step = 2e-3, .tolerance = 1e-13});
  State state = flyer.start();
  const auto about_centre = [&]() {
    const auto [P, L] = mechanics.momentum(state.q, state.v);
    return std::pair{P, L - cross(mechanics.centre_of_mass(state.q), P)};
  };
  const auto [P, L] = about_centre();
  for (int step = 0; step < 200; ++step) run(stepper, zero_control(mechanics), 1, state);
  const auto [P_end, L_end] = about_centre();
  EXPECT_LT(norm(P_end - P), 1e-10 * norm(P));
  EXPECT_LT(norm(L_end - L), 1e-10 * norm(L));
  double bent = 0;
  for (int k = 0; k < 10; ++k) bent = std::max(bent, std::abs(state.q[extent(k)]));
  EXPECT_GT(bent, 1e-5);
}

// The frame's kinetic energy in free fall of a body that spins about no axis of its inertia: by the order of the scheme.
TEST(TurningBodies, KeepTheirEnergyByTheOrderOfTheScheme) {
  const RigidInertia body{0.5, {{0, 0, 0}}, {{2e-3, 0, 0, 0, 3e-3, 0, 0, 0, 4e-3}}};
  for (const double factor : {1.0, 0.5}) {
    double lost[2] = {};
    for (int k = 0; k < 2; ++k) {
      Assembly assembly;
      assembly.frames = {frame("body", Hold::free, {}, body)};
      AssemblyMechanics mechanics(assembly);
      Stepper stepper(mechanics, {.scheme = StepScheme::newton,
                                  .time_step = k == 0 ? 4e-3 : 2e-3,
                                  .implicit_velocity = factor,
                                  .implicit_position = factor,
                                  .tolerance = 1e-13});
      State state = rest_state(mechanics);
      state.v = {0.1, 0, 0, 2, 5, 3};
      const double before = mechanics.kinetic_energy(state.q, state.v);
      for (int step = 0; step < (k == 0 ? 250 : 500); ++step) {
        run(stepper, zero_control(mechanics), 1, state);
        lost[k] = std::max(lost[k], std::abs(mechanics.kinetic_energy(state.q, state.v) / before - 1));
      }
    }
    if (factor == 0.5) {
      // The trapezoidal rule keeps it: R' L' = R L and R' = R exp(h (Omega + Omega')/2) are a midpoint rule.
      EXPECT_LT(lost[0], 1e-9);
      continue;
    }
    EXPECT_LT(lost[1], 2e-2);
    EXPECT_NEAR(std::log2(lost[0] / lost[1]), 1, 0.1);
  }
}

// A body that spins about its middle axis turns over, again and again (V. Dzhanibekov, 1985; M. Ashbaugh, C. Chicone,
// R. Cushman, 1991): Euler's equations by Runge-Kutta of order four at a tenth of the step.
TEST(TurningBodies, TurnOverAboutTheirMiddleAxis) {
  const Vec3d I{{2e-3, 3e-3, 4e-3}}, start{{0.1, 10, 0}};
  Vec3d reference = start;
  const auto rate = [&](const Vec3d& w) {
    return Vec3d{
        {(I[1] - I[2]) / I[0] * w[1] * w[2], (I[2] - I[0]) / I[1] * w[2] * w[0], (I[0] - I[1]) / I[2] * w[0] * w[1]}};
  };
  const RigidInertia body{0.5, {{0, 0, 0}}, {{I[0], 0, 0, 0, I[1], 0, 0, 0, I[2]}}};
  Assembly assembly;
  assembly.frames = {frame("body", Hold::free, {}, body)};
  AssemblyMechanics mechanics(assembly);
  const double h = 1e-3;
  Stepper stepper(mechanics, {.scheme = StepScheme::newton,
                              .time_step = h,
                              .implicit_velocity = 0.5,
                              .implicit_position = 0.5,
                              .tolerance = 1e-13});
  State state = rest_state(mechanics);
  state.v = {0, 0, 0, start[0], start[1], start[2]};
  const Vec3d L = mechanics.momentum(state.q, state.v).second;
  int flips = 0;
  bool upright = true;
  for (int step = 0; step < 5000; ++step) {
    run(stepper, zero_control(mechanics), 1, state);
    for (int k = 0; k < 10; ++k) {
      const double d = h / 10;
      const Vec3d a = rate(reference), b = rate(reference + (d / 2) * a), c = rate(reference + (d / 2) * b),
                  e = rate(reference + d * c);
      reference = reference + (d / 6) * (a + 2.0 * b + 2.0 * c + e);
    }
    const Mat3d R = pose_of(state.q.data()).rotation;
    if (const bool now = R(1, 1) > 0; now != upright) {
      ++flips;
      upright = now;
    }
  }
  EXPECT_GE(flips, 2);
  // Second order: the time of a flip, which grows out of 0.1 rad/s, is off by a part of (h Omega)^2 = 1e-4 of it.
  EXPECT_LT(norm(Vec3d{{state.v[3], state.v[4], state.v[5]}} - reference), 0.05 * norm(start));
  EXPECT_LT(norm(mechanics.momentum(state.q, state.v).second - L), 1e-10 * norm(L));
}

// A soft bar that tumbles while it swings between bent and straight: modes of its shape on a frame against the nodes of
// the full-order model in the world, by the trapezoidal rule, over two turns. Without cables and Rayleigh damping: of
// nodes in the world both change the angular momentum by a part of h, which frames keep. Undamped swings drift in their
// phase with what the modes leave out, so that many are taken, and the shape is compared in the next test.
TEST(LongTurningBodies, TumbleAsNodesInTheWorldDo) {
  Scene scene = floating_bodies::scene(5e-4);
  scene.actuators.clear();
  scene.implicit_velocity = scene.implicit_position = 0.5;
  const FullModel full = build_full_model(scene, box_tetrahedra({{0, 0, 0}}, {{0.4, 0.1, 0.1}}, 6, 2, 2));
  const RigidFit fit(full);
  const Vec3d centre = fit.centre(std::vector<double>(extent(full.coordinates.nv), 0.0));
  // Velocities of a turn and of a swing that bends the bar along z and y.
  const auto start = [&](const Vec3d& turn, double swing, State& state) {
    for (std::size_t i = 0; i < full.free_nodes.size(); ++i) {
      const Vec3d x = full.mesh.nodes[extent(full.free_nodes[i])] - centre, v = cross(turn, x);
      const double shape = swing * (20 * x[0] * x[0] - 0.27);
      state.v[3 * i] = v[0];
      state.v[3 * i + 1] = v[1] + 0.5 * shape;
      state.v[3 * i + 2] = v[2] + shape;
    }
  };
  FullMechanics mechanics(full);
  const StepSettings settings{.scheme = StepScheme::newton,
                              .time_step = 5e-4,
                              .implicit_velocity = 0.5,
                              .implicit_position = 0.5,
                              .tolerance = 1e-10};
  // Trained on turns about other axes and other swings.
  std::vector<double> shapes;
  int count = 0;
  for (const Vec3d& turn : {Vec3d{{0, 0, 6}}, Vec3d{{0, 6, 0}}, Vec3d{{6, 0, 2}}}) {
    Stepper stepper(mechanics, settings);
    State state = rest_state(mechanics);
    start(turn, turn[0] > 0 ? 0.7 : 1.3, state);
    for (int step = 0; step < 400; ++step) {
      run(stepper, zero_control(mechanics), 1, state);
      if (step % 10 != 0) continue;
      std::vector<double> shape = state.q;
      (void)fit.remove(shape);
      shapes.insert(shapes.end(), shape.begin(), shape.end());
      ++count;
    }
  }
  const int nv = full.coordinates.nv;
  const std::vector<double> rigid = rigid_modes(full);
  remove_modes(rigid, nv, shapes);
  const Pod pod = proper_orthogonal_decomposition(
      {nv, {count}, [&](int, std::vector<double>&) { return std::span<const double>(shapes); }},
      {.tolerance = 1e-9, .max_modes = 60});
  const std::vector<double> basis = join_modes(rigid, pod.basis, nv);
  const int modes = 6 + pod.modes;
  const ReducedModel model = put_on_frame(project(full, basis, modes, all_elements(full)));
  FloatingMechanics reduced(model, shape_model(model));

  State x = rest_state(mechanics), z = rest_state(reduced);
  start({{3, 4, 7}}, 1, x);
  // The same velocities on the frame: those of the modes, and of the frame what is left.
  for (std::size_t m = 0; m < extent(model.modes); ++m)
    z.v[m] = boxes::dot(std::vector<double>(basis.begin() + static_cast<long>((m + 6) * extent(nv)),
                                            basis.begin() + static_cast<long>((m + 7) * extent(nv))),
                        x.v);
  std::vector<double> left = x.v;
  for (std::size_t m = 0; m < extent(model.modes); ++m)
    for (std::size_t i = 0; i < extent(nv); ++i) left[i] -= basis[(m + 6) * extent(nv) + i] * z.v[m];
  // Rigid and the rest: of the modes' six rigid ones, about the mean of the nodes.
  State rigid_part = x;
  std::vector<double> rest = left;
  remove_modes(rigid, nv, rest);
  for (std::size_t i = 0; i < left.size(); ++i) rigid_part.v[i] = left[i] - rest[i];
  const auto velocity_of = [&](std::size_t node) {
    return Vec3d{{rigid_part.v[3 * node], rigid_part.v[3 * node + 1], rigid_part.v[3 * node + 2]}};
  };
  // A rigid field v = V + w x (X - c): w from its curl along the box's edges.
  const auto node_at = [&](const Vec3d& at) {
    for (std::size_t i = 0; i < full.free_nodes.size(); ++i)
      if (norm(full.mesh.nodes[extent(full.free_nodes[i])] - at) < 1e-9) return i;
    throw std::runtime_error("no node there");
  };
  const std::size_t origin = node_at({{0, 0, 0}}), ex = node_at({{0.4, 0, 0}}), ey = node_at({{0, 0.1, 0}});
  const Vec3d dx = (1 / 0.4) * (velocity_of(ex) - velocity_of(origin)),
              dy = (1 / 0.1) * (velocity_of(ey) - velocity_of(origin));
  const Vec3d w{{dy[2], -dx[2], dx[1]}},
      V = velocity_of(origin) + cross(w, model.rest_inertia.centre - full.mesh.nodes[extent(full.free_nodes[origin])]);
  for (int k = 0; k < 3; ++k) {
    z.v[z.v.size() - 6 + extent(k)] = V[k];
    z.v[z.v.size() - 3 + extent(k)] = w[k];
  }
  Stepper a(mechanics, settings), b(reduced, settings);
  double orientation = 0, shape_error = 0, shape = 0, turned = 0;
  Mat3d last = Mat3d::identity();
  for (int step = 0; turned < 4 * std::numbers::pi; ++step) {
    run(a, zero_control(mechanics), 1, x);
    run(b, zero_control(reduced), 1, z);
    if (step % 10 != 0) continue;
    std::vector<double> u(extent(nv), 0.0), truth = x.q;
    for (std::size_t m = 0; m < extent(model.modes); ++m)
      for (std::size_t i = 0; i < extent(nv); ++i) u[i] += basis[(m + 6) * extent(nv) + i] * z.q[m];
    const Pose pose = body_pose(model, z.q);
    fit.move({pose.rotation, pose.position}, u);
    const RigidMotion between = fit.between(u, truth), to_rest = fit.between(truth, std::vector<double>(truth.size()));
    turned += RigidMotion{transpose(to_rest.rotation) * transpose(last), {}}.angle();
    last = transpose(to_rest.rotation);
    orientation = std::max(orientation, between.angle());
    fit.move(between, u);
    for (std::vector<double>* q : {&u, &truth}) fit.move(to_rest, *q);
    shape_error += boxes::difference(u, truth) * boxes::norm(truth);
    shape += boxes::norm(truth);
    ASSERT_LT(step, 5000);
  }
  RecordProperty("orientation_degrees", std::to_string(orientation * 180 / std::numbers::pi));
  RecordProperty("shape", std::to_string(shape_error / shape));
  EXPECT_LT(orientation, 0.5 * std::numbers::pi / 180);
  EXPECT_LT(shape_error, 0.2 * shape);
}

// Two bars on a free palm whose cables are pulled while it tumbles: full-order bars against ten modes of theirs, trained
// by other commands and turns, over two turns.
TEST(TurningBodies, ReducedPartsFollowFullOnesThroughTwoTurns) {
  Bar bars[2];
  for (Bar& bar : bars) bar.model.robot.rayleigh_mass = 0;  // it would brake the whole
  const auto assembly_of = [](Mechanics& a, const BodyInertia& of_a, Mechanics& b, const BodyInertia& of_b) {
    Assembly assembly;
    assembly.frames = {frame("palm", Hold::free, turned({{0.1, 0.2, 0.3}}, {{0.4, -1, 0.6}}))};
    assembly.bodies = {body("a", a, of_a, 0, turned({{0, 0.05, 0.02}}, {{0.3, 0, 0.2}})),
                       body("b", b, of_b, 0, turned({{0, -0.3, 0}}, {{0, 0.7, 0}}))};
    return assembly;
  };
  AssemblyMechanics full(assembly_of(bars[0].mechanics, bars[0].inertia, bars[1].mechanics, bars[1].inertia));
  const StepSettings settings{.scheme = StepScheme::newton, .time_step = 2e-3, .tolerance = 1e-9};
  const auto control_at = [](const Mechanics& of, int step, double scale) {
    Control control = zero_control(of);
    for (std::size_t k = 0; k < control.commands.size(); ++k)
      control.commands[k] = 0.4 * of.robot().actuators[k].range.upper *
                            (1 - std::cos(scale * 0.01 * step * (1 + 0.3 * static_cast<double>(k)))) / 2;
    return control;
  };
  const auto spun = [](const Mechanics& mechanics, const Vec3d& turn) {
    State state = rest_state(mechanics);
    for (std::size_t k = 0; k < 3; ++k) state.v[state.v.size() - 3 + k] = turn[static_cast<int>(k)];
    return state;
  };
  const std::size_t own = extent(bars[0].model.coordinates.nv);
  std::vector<double> shapes;
  int count = 0;
  for (const double scale : {0.7, 1.4}) {
    Stepper stepper(full, settings);
    State state = spun(full, scale > 1 ? Vec3d{{4, 0, 4}} : Vec3d{{0, 5, -2}});
    for (int step = 0; step < 300; ++step) {
      run(stepper, control_at(full, step, scale), 1, state);
      if (step % 5 != 0) continue;
      shapes.insert(shapes.end(), state.q.begin(), state.q.begin() + static_cast<long>(2 * own));
      count += 2;
    }
  }
  const Pod pod = proper_orthogonal_decomposition(
      {static_cast<int>(own), {count}, [&](int, std::vector<double>&) { return std::span<const double>(shapes); }},
      {.tolerance = 1e-6, .max_modes = 16});
  ReducedBar parts[2] = {{bars[0].model, pod.basis, pod.modes}, {bars[0].model, pod.basis, pod.modes}};
  AssemblyMechanics reduced(assembly_of(parts[0].mechanics, parts[0].inertia, parts[1].mechanics, parts[1].inertia));
  State x = spun(full, {{3, 4, 5}}), z = spun(reduced, {{3, 4, 5}});
  Stepper a(full, settings), b(reduced, settings);
  double orientation = 0, error = 0, size = 0, turned = 0;
  Mat3d last = full.frame_pose(0, x.q, {}).rotation;
  for (int step = 0; turned < 4 * std::numbers::pi; ++step) {
    run(a, control_at(full, step, 1), 1, x);
    run(b, control_at(reduced, step, 1), 1, z);
    const Mat3d R = full.frame_pose(0, x.q, {}).rotation, S = reduced.frame_pose(0, z.q, {}).rotation;
    orientation = std::max(orientation, norm(quaternion_log(quaternion_of(transpose(R) * S))));
    turned += norm(quaternion_log(quaternion_of(transpose(last) * R)));
    last = R;
    std::vector<double> u = reduced_bodies::lift(pod.basis, part(z.q, 0, extent(pod.modes))),
                        v = reduced_bodies::lift(pod.basis, part(z.q, pod.modes, extent(pod.modes)));
    u.insert(u.end(), v.begin(), v.end());
    const std::vector<double> truth = part(x.q, 0, 2 * own);
    std::vector<double> apart = u;
    for (std::size_t i = 0; i < u.size(); ++i) apart[i] -= truth[i];
    error += boxes::norm(apart);
    size += boxes::norm(truth);
    ASSERT_LT(step, 3000);
  }
  RecordProperty("modes", pod.modes);
  RecordProperty("orientation_degrees", std::to_string(orientation * 180 / std::numbers::pi));
  RecordProperty("shape", std::to_string(error / size));
  EXPECT_LT(orientation, 0.5 * std::numbers::pi / 180);
  EXPECT_LT(error, 0.01 * size);
}

}  // namespace
}  // namespace supple
