#include "tests/engine/bodies/reduced_bodies.hpp"

#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <stdexcept>
#include <utility>

namespace supple::reduced_bodies {

Mesh bar(bool hexahedra, int cells) {
  const Vec3d lower{{0, 0, 0}}, upper{{0.3, 0.1, 0.1}};
  Mesh mesh = hexahedra ? box_hexahedra(lower, upper, cells, 1, 1) : box_tetrahedra(lower, upper, cells, 1, 1);
  boxes::Random random;
  for (Vec3d& x : mesh.nodes)
    for (int k = 0; k < 3; ++k)
      if (x[0] > 1e-9 || k > 0) x[k] += 0.004 * random();
  return mesh;
}

Scene bar_scene(const boxes::Law& law) {
  Scene scene = boxes::scene(law, 2e5, 0.35);
  scene.name = "bar";
  scene.gravity = {{1, -2, -9.81}};
  scene.time_step = 0.01;
  BodyScene& body = scene.bodies[0];
  body.fixes = {boxes::clamp_at_origin()};
  FixScene spring;
  spring.region.kind = Region::Kind::box;
  spring.region.lower = {{0.28, -1, -1}};
  spring.region.upper = {{1, 1, 0.05}};
  spring.stiffness = 30;
  body.fixes.push_back(spring);
  body.rayleigh_mass = 0.3;
  body.rayleigh_stiffness = 0.002;
  ActuatorScene length;
  length.name = "length";
  length.points = {{{0.27, 0.05, 0.08}}, {{0.15, 0.04, 0.09}}};
  length.pull_point = {{-0.1, 0.05, 0.1}};
  length.range = {0, 0.02};
  length.samples = 3;
  ActuatorScene force = boxes::pull("force", {{0.28, 0.05, 0.05}}, {{0, 0.8, 0.6}}, 0.5);
  force.range = {0, 2};
  force.force = {0, 5};
  ActuatorScene strut;
  strut.name = "strut";
  strut.points = {{{0.1, 0.02, 0.03}}, {{0.25, 0.07, 0.06}}};
  strut.range = {-0.003, 0.003};
  strut.bilateral = true;
  strut.rate = 0.5;
  scene.actuators = {length, force, strut};
  scene.effectors = {position_effector("tip", {{0.29, 0.05, 0.05}}), position_effector("side", {{0.2, 0.02, 0.08}})};
  scene.probes = {{"a", {{0.1, 0.05, 0.05}}, "arm", {}}, {"b", {{0.2, 0.05, 0.05}}, "arm", {}}};
  return scene;
}

Scene bar_with_forces(const boxes::Law& law) {
  Scene scene = bar_scene(law);
  ActuatorScene push;
  push.name = "push";
  push.kind = ActuatorKind::force;
  push.points = {{{0.22, 0.03, 0.06}}};
  push.direction = {{0, 0.6, 0.8}};
  push.control = ActuatorControl::force;
  push.bilateral = true;
  push.range = {-3, 3};
  ActuatorScene press;
  press.name = "press";
  press.kind = ActuatorKind::force;
  press.region = boxes::group_region("x+");
  press.direction = {{0, 0, -1}};
  press.bilateral = true;
  press.range = {-0.01, 0.01};
  scene.actuators.push_back(push);
  scene.actuators.push_back(press);
  EffectorScene mean;
  mean.name = "mean";
  mean.region = boxes::box_region({{0.15, -1, -1}}, {{1, 1, 1}});
  mean.directions = {{{0, 0, 1}}, {{0.6, 0.8, 0}}};
  mean.weight = 2;
  EffectorScene tilt = mean;
  tilt.name = "tilt";
  tilt.kind = EffectorKind::orientation;
  tilt.lever = 0.05;
  tilt.exact = true;
  EffectorScene taken_in;
  taken_in.name = "taken_in";
  taken_in.kind = EffectorKind::length;
  taken_in.points = scene.actuators[0].points;
  taken_in.pull_point = scene.actuators[0].pull_point;
  scene.effectors.insert(scene.effectors.end(), {mean, tilt, taken_in});
  return scene;
}

TemporaryFolder::TemporaryFolder() {
  std::string pattern = (std::filesystem::temp_directory_path() / "supple-test-XXXXXX").string();
  if (!mkdtemp(pattern.data())) throw std::runtime_error("no temporary folder");
  path_ = pattern;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code error;
  std::filesystem::remove_all(path_, error);
}

std::string TemporaryFolder::operator/(const std::string& name) const {
  return (std::filesystem::path(path_) / name).string();
}

Scene saved_bar(const TemporaryFolder& folder, const boxes::Law& law, bool hexahedra) {
  const Vec3d lower{{0, 0, 0}}, upper{{0.3, 0.1, 0.1}};
  write_msh(folder / "bar.msh",
            hexahedra ? box_hexahedra(lower, upper, 8, 2, 2) : box_tetrahedra(lower, upper, 8, 2, 2));
  Scene scene = bar_scene(law);
  scene.actuators.pop_back();
  scene.bodies[0].mesh_file = folder / "bar.msh";
  scene.reduction.states = 12;
  scene.reduction.validation_states = 6;
  return scene;
}

std::vector<double> full_basis(int nv) {
  const auto n = static_cast<std::size_t>(nv);
  std::vector<double> basis(n * n, 0.0);
  for (std::size_t i = 0; i < n; ++i) basis[i * n + i] = 1;
  return basis;
}

std::vector<double> random_basis(int nv, int modes) {
  boxes::Random random;
  const auto n = static_cast<std::size_t>(nv);
  std::vector<double> basis;
  for (std::size_t m = 0; m < static_cast<std::size_t>(modes); ++m) {
    std::vector<double> column(n);
    for (double& x : column) x = random();
    for (int pass = 0; pass < 2; ++pass)
      for (std::size_t k = 0; k < m; ++k) {
        double product = 0;
        for (std::size_t i = 0; i < n; ++i) product += basis[k * n + i] * column[i];
        for (std::size_t i = 0; i < n; ++i) column[i] -= product * basis[k * n + i];
      }
    const double length = boxes::norm(column);
    for (double x : column) basis.push_back(x / length);
  }
  return basis;
}

std::vector<double> lift(const std::vector<double>& basis, const std::vector<double>& alpha) {
  const std::size_t n = basis.size() / alpha.size();
  std::vector<double> u(n, 0.0);
  for (std::size_t m = 0; m < alpha.size(); ++m)
    for (std::size_t i = 0; i < n; ++i) u[i] += basis[m * n + i] * alpha[m];
  return u;
}

std::vector<double> restrict_vector(const std::vector<double>& basis, const std::vector<double>& f) {
  const std::size_t n = f.size();
  std::vector<double> result(basis.size() / n, 0.0);
  for (std::size_t m = 0; m < result.size(); ++m)
    for (std::size_t i = 0; i < n; ++i) result[m] += basis[m * n + i] * f[i];
  return result;
}

std::vector<IntegrationDomain> some_elements(const FullModel& model) {
  std::vector<IntegrationDomain> domains;
  for (const ElementField& field : model.fields) {
    IntegrationDomain domain;
    for (int e = 0; e < field.elements(); e += 2) {
      domain.elements.push_back(e);
      domain.xi.push_back(1.5 + 0.1 * e);
    }
    domain.tolerance = 0.02;
    domain.residual = 0.019;
    domains.push_back(std::move(domain));
  }
  return domains;
}

void expect_same_errors(const ErrorSummary& a, const ErrorSummary& b) {
  EXPECT_EQ(a.states, b.states);
  EXPECT_EQ(a.failed, b.failed);
  for (const auto member :
       {&ErrorSummary::goal_mean, &ErrorSummary::goal_median, &ErrorSummary::goal_max, &ErrorSummary::shape_mean,
        &ErrorSummary::shape_median, &ErrorSummary::shape_max, &ErrorSummary::turned_mean, &ErrorSummary::turned_max,
        &ErrorSummary::strayed_mean, &ErrorSummary::strayed_max})
    EXPECT_EQ(a.*member, b.*member);
  ASSERT_EQ(a.sets.size(), b.sets.size());
  for (std::size_t i = 0; i < a.sets.size(); ++i) {
    EXPECT_EQ(a.sets[i].name, b.sets[i].name);
    EXPECT_EQ(a.sets[i].mean, b.sets[i].mean);
    EXPECT_EQ(a.sets[i].median, b.sets[i].median);
    EXPECT_EQ(a.sets[i].max, b.sets[i].max);
  }
  EXPECT_EQ(a.worst_state, b.worst_state);
  EXPECT_EQ(a.worst_commands, b.worst_commands);
}

namespace {

void expect_same_constraints(const std::vector<ConstraintRow>& a, const std::vector<ConstraintRow>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].name, b[i].name);
    EXPECT_EQ(a[i].value, b[i].value);
    EXPECT_EQ(a[i].first_point, b[i].first_point);
    EXPECT_EQ(a[i].point_count, b[i].point_count);
    EXPECT_EQ(a[i].anchor, b[i].anchor);
    EXPECT_EQ(a[i].rest_length, b[i].rest_length);
    EXPECT_EQ(a[i].side, b[i].side);
    EXPECT_EQ(a[i].direction, b[i].direction);
    EXPECT_EQ(a[i].place, b[i].place);
    EXPECT_EQ(a[i].compliance, b[i].compliance);
    EXPECT_EQ(a[i].damping_time, b[i].damping_time);
    EXPECT_EQ(a[i].one_sided, b[i].one_sided);
  }
}

}  // namespace

void expect_same_robot(const Robot& a, const Robot& b) {
  EXPECT_EQ(a.name, b.name);
  EXPECT_EQ(a.implicit_velocity, b.implicit_velocity);
  EXPECT_EQ(a.implicit_position, b.implicit_position);
  expect_same_constraints(a.constraints, b.constraints);
  expect_same_constraints(a.springs, b.springs);
  EXPECT_TRUE(std::equal(a.gravity.v, a.gravity.v + 3, b.gravity.v));
  EXPECT_EQ(a.time_step, b.time_step);
  EXPECT_EQ(a.integrator, b.integrator);
  EXPECT_EQ(a.floating, b.floating);
  EXPECT_EQ(a.rayleigh_mass, b.rayleigh_mass);
  EXPECT_EQ(a.rayleigh_stiffness, b.rayleigh_stiffness);
  EXPECT_TRUE(same_bits(a.rest_points, b.rest_points));
  ASSERT_EQ(a.actuators.size(), b.actuators.size());
  for (std::size_t i = 0; i < a.actuators.size(); ++i) {
    const ActuatorRow &x = a.actuators[i], &y = b.actuators[i];
    EXPECT_EQ(x.name, y.name);
    EXPECT_EQ(x.kind, y.kind);
    EXPECT_EQ(x.first_point, y.first_point);
    EXPECT_EQ(x.point_count, y.point_count);
    EXPECT_EQ(x.pull_point, y.pull_point);
    EXPECT_EQ(x.direction, y.direction);
    EXPECT_EQ(x.rest_length, y.rest_length);
    EXPECT_EQ(x.control, y.control);
    EXPECT_EQ(x.bilateral, y.bilateral);
    EXPECT_EQ(x.range.lower, y.range.lower);
    EXPECT_EQ(x.range.upper, y.range.upper);
    EXPECT_EQ(x.force.lower, y.force.lower);
    EXPECT_EQ(x.force.upper, y.force.upper);
    EXPECT_EQ(x.rate, y.rate);
    EXPECT_EQ(x.samples, y.samples);
  }
  ASSERT_EQ(a.effectors.size(), b.effectors.size());
  for (std::size_t i = 0; i < a.effectors.size(); ++i) {
    const Effector &x = a.effectors[i], &y = b.effectors[i];
    EXPECT_EQ(x.kind, y.kind);
    EXPECT_EQ(x.first_point, y.first_point);
    EXPECT_EQ(x.point_count, y.point_count);
    EXPECT_EQ(x.directions, y.directions);
    EXPECT_EQ(x.lever, y.lever);
    EXPECT_EQ(x.weight, y.weight);
    EXPECT_EQ(x.exact, y.exact);
    EXPECT_EQ(x.pull_point, y.pull_point);
    EXPECT_EQ(x.rest_length, y.rest_length);
  }
  const auto points = [](const std::vector<NamedPoint>& p, const std::vector<NamedPoint>& q) {
    ASSERT_EQ(p.size(), q.size());
    for (std::size_t i = 0; i < p.size(); ++i) {
      EXPECT_EQ(p[i].name, q[i].name);
      EXPECT_EQ(p[i].set, q[i].set);
      EXPECT_EQ(p[i].point, q[i].point);
    }
  };
  points(a.reported_points(), b.reported_points());
  ASSERT_EQ(a.motions.size(), b.motions.size());
  for (std::size_t i = 0; i < a.motions.size(); ++i) {
    const MotionInput &x = a.motions[i], &y = b.motions[i];
    EXPECT_EQ(x.name, y.name);
    EXPECT_TRUE(std::equal(x.direction.v, x.direction.v + 3, y.direction.v));
    EXPECT_EQ(x.range.lower, y.range.lower);
    EXPECT_EQ(x.range.upper, y.range.upper);
    EXPECT_EQ(x.rigid, y.rigid);
  }
  ASSERT_EQ(a.obstacles.size(), b.obstacles.size());
  for (std::size_t i = 0; i < a.obstacles.size(); ++i) {
    const PlacedObstacle &x = a.obstacles[i], &y = b.obstacles[i];
    EXPECT_EQ(x.name, y.name);
    EXPECT_EQ(x.friction, y.friction);
    EXPECT_EQ(x.max_force, y.max_force);
    EXPECT_EQ(x.obstacle.shape(), y.obstacle.shape());
    EXPECT_EQ(x.obstacle.side(), y.obstacle.side());
    EXPECT_EQ(x.obstacle.radius(), y.obstacle.radius());
    EXPECT_EQ(x.obstacle.length(), y.obstacle.length());
    EXPECT_EQ(x.obstacle.thickness(), y.obstacle.thickness());
    EXPECT_EQ(x.obstacle.size(), y.obstacle.size());
    EXPECT_TRUE(std::equal(x.pose.rotation.m, x.pose.rotation.m + 9, y.pose.rotation.m));
    EXPECT_EQ(x.pose.position, y.pose.position);
    ASSERT_EQ(x.obstacle.surface() == nullptr, y.obstacle.surface() == nullptr);
    if (x.obstacle.surface() == nullptr) continue;
    EXPECT_EQ(x.obstacle.surface()->nodes, y.obstacle.surface()->nodes);
    EXPECT_EQ(x.obstacle.surface()->triangles, y.obstacle.surface()->triangles);
  }
  EXPECT_EQ(a.first_collision_point, b.first_collision_point);
  EXPECT_EQ(a.collision_points, b.collision_points);
  EXPECT_EQ(a.contact_distance, b.contact_distance);
}

void expect_same_model(const ReducedModel& a, const ReducedModel& b) {
  expect_same_robot(a.robot, b.robot);
  EXPECT_EQ(a.modes, b.modes);
  ASSERT_EQ(a.fields.size(), b.fields.size());
  for (std::size_t f = 0; f < a.fields.size(); ++f) {
    const ReducedField &x = a.fields[f], &y = b.fields[f];
    EXPECT_EQ(x.name, y.name);
    EXPECT_EQ(x.law, y.law);
    EXPECT_EQ(x.part, y.part);
    EXPECT_EQ(x.nodes_per_element, y.nodes_per_element);
    EXPECT_EQ(x.total_elements, y.total_elements);
    EXPECT_EQ(x.points_per_element, y.points_per_element);
    EXPECT_EQ(x.unit, y.unit);
    EXPECT_EQ(x.element, y.element);
    EXPECT_EQ(x.corners, y.corners);
    EXPECT_TRUE(same_bits(x.xi, y.xi));
    EXPECT_TRUE(same_bits(x.weight, y.weight));
    EXPECT_EQ(x.region, y.region);
    EXPECT_TRUE(same_bits(x.parameters, y.parameters));
    EXPECT_EQ(x.viscosity.terms, y.viscosity.terms);
    EXPECT_TRUE(same_bits(x.viscosity.viscosity, y.viscosity.viscosity));
    EXPECT_TRUE(same_bits(x.viscosity.time, y.viscosity.time));
    EXPECT_TRUE(same_bits(x.edges, y.edges));
    EXPECT_TRUE(same_bits(x.G, y.G));
    EXPECT_EQ(x.strains.count, y.strains.count);
    EXPECT_EQ(x.strains.unit, y.strains.unit);
    EXPECT_TRUE(same_bits(x.strains.linear, y.strains.linear));
    EXPECT_TRUE(same_bits(x.strains.quadratic, y.strains.quadratic));
    EXPECT_EQ(x.tolerance, y.tolerance);
    EXPECT_EQ(x.residual, y.residual);
  }
  EXPECT_TRUE(same_bits(a.mass, b.mass));
  EXPECT_TRUE(same_bits(a.input_mass, b.input_mass));
  EXPECT_TRUE(same_bits(a.output_inputs, b.output_inputs));
  EXPECT_TRUE(same_bits(a.skin.inputs, b.skin.inputs));
  EXPECT_TRUE(same_bits(a.stiffness, b.stiffness));
  EXPECT_TRUE(same_bits(a.gravity, b.gravity));
  EXPECT_TRUE(same_bits(a.first_moments, b.first_moments));
  EXPECT_TRUE(same_bits(a.second_moments, b.second_moments));
  EXPECT_EQ(a.rest_inertia.mass, b.rest_inertia.mass);
  EXPECT_EQ(a.rest_inertia.centre, b.rest_inertia.centre);
  for (int i = 0; i < 9; ++i) EXPECT_EQ(a.rest_inertia.inertia.m[i], b.rest_inertia.inertia.m[i]);
  EXPECT_TRUE(same_bits(a.outputs, b.outputs));
  EXPECT_TRUE(same_bits(a.singular_values, b.singular_values));
  EXPECT_TRUE(same_bits(a.full_compliance, b.full_compliance));
  EXPECT_TRUE(same_bits(a.own_compliance, b.own_compliance));
  EXPECT_TRUE(same_bits(a.skin.rest, b.skin.rest));
  EXPECT_TRUE(same_bits(a.skin.triangles, b.skin.triangles));
  EXPECT_TRUE(same_bits(a.skin.modes, b.skin.modes));
  EXPECT_EQ(a.skin.mesh_node, b.skin.mesh_node);
  EXPECT_EQ(a.skin.element, b.skin.element);
  EXPECT_TRUE(same_bits(a.interior.rest, b.interior.rest));
  EXPECT_TRUE(same_bits(a.interior.modes, b.interior.modes));
  EXPECT_TRUE(same_bits(a.interior.inputs, b.interior.inputs));
  const Provenance &p = a.provenance, &q = b.provenance;
  EXPECT_EQ(p.scene_name, q.scene_name);
  EXPECT_EQ(p.scene_text, q.scene_text);
  EXPECT_EQ(p.scene_hash, q.scene_hash);
  EXPECT_EQ(p.mesh_hash, q.mesh_hash);
  EXPECT_EQ(p.version, q.version);
  EXPECT_EQ(p.forced, q.forced);
  EXPECT_EQ(p.nodes, q.nodes);
  EXPECT_EQ(p.elements, q.elements);
  EXPECT_EQ(p.snapshots, q.snapshots);
  EXPECT_EQ(p.pod_tolerance, q.pod_tolerance);
  EXPECT_EQ(p.pod_tolerance_squared, q.pod_tolerance_squared);
  EXPECT_EQ(p.pod_error, q.pod_error);
  EXPECT_EQ(p.seed, q.seed);
  expect_same_errors(a.errors, b.errors);
}

}  // namespace supple::reduced_bodies
