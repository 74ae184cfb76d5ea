// Membranes: triangles in plane stress on the faces of a body.

#include <fmt/format.h>
#include <omp.h>

#include <cmath>

#include "engine/io/hdf5_file.hpp"
#include "engine/io/model_file.hpp"
#include "engine/mechanics/reduced/reduced_batch_mechanics.hpp"
#include "engine/mesh/geometry.hpp"
#include "engine/model/element_stress.hpp"
#include "engine/reduction/pipeline.hpp"
#include "engine/step/equilibrium.hpp"
#include "tests/engine/bodies/reduced_bodies.hpp"

namespace supple {
namespace {

const boxes::Law corotational{"corotational", MaterialModel::corotational};

MembraneScene sheet(const Region& region, double young, double poisson = 0.4, double thickness = 1e-3) {
  MembraneScene membrane;
  membrane.region = region;
  membrane.young = young;
  membrane.poisson = poisson;
  membrane.thickness = thickness;
  return membrane;
}

// The irregular bar of reduced_bodies.hpp with a sheet below it and one on a side, unlike each other.
FullModel covered_bar(bool hexahedra, double rayleigh_stiffness = 0.002) {
  Scene scene = reduced_bodies::bar_scene(corotational);
  scene.bodies[0].membranes = {sheet(boxes::group_region("z-"), 3e7), sheet(boxes::group_region("y+"), 1e6, 0, 2e-3)};
  scene.bodies[0].rayleigh_stiffness = rayleigh_stiffness;
  if (rayleigh_stiffness == 1) scene.bodies[0].rayleigh_mass = 0;  // damping() is then the product with K
  return build_full_model(scene, reduced_bodies::bar(hexahedra));
}

std::vector<double> forces(FullMechanics& mechanics, const std::vector<double>& q, TangentKind kind) {
  std::vector<double> f(q.size());
  const PointReport report = mechanics.evaluate_forces(q, {}, kind, f);
  EXPECT_EQ(report.undefined, 0);
  return f;
}

// `build` fails with these words.
template <class Build>
void expect_error(const Build& build, const std::string& problem, const std::string& suggestion) {
  try {
    build();
    ADD_FAILURE() << "no error: " << problem;
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find(problem), std::string::npos) << error.what();
    EXPECT_NE(error.suggestion().find(suggestion), std::string::npos) << error.suggestion();
  }
}

TEST(Membrane, ForceIsTheDerivativeOfTheEnergyAndStiffnessThatOfTheForce) {
  for (const bool hexahedra : {false, true}) {
    const FullModel model = covered_bar(hexahedra, 1);
    FullMechanics mechanics(model);
    const std::vector<double> q = boxes::random_vector(model.coordinates.nv, 0.004),
                              v = boxes::random_vector(model.coordinates.nv, 1);
    const std::vector<double> f = forces(mechanics, q, TangentKind::exact);
    std::vector<double> Kv(q.size());
    mechanics.damping(v, {}, Kv);
    const double h = 1e-8;  // of displacements of 4 mm in elements of 0.1 m
    const std::vector<double> plus = boxes::plus(q, h, v), minus = boxes::plus(q, -h, v);
    const std::vector<double> change =
        boxes::plus(forces(mechanics, plus, TangentKind::none), -1, forces(mechanics, minus, TangentKind::none));
    std::vector<double> slope = change;
    for (double& x : slope) x /= 2 * h;
    EXPECT_LT(boxes::difference(slope, Kv), 1e-7);
    const auto energy = [&](const std::vector<double>& at) {
      std::vector<double> u(3 * model.mesh.nodes.size());
      node_displacements(model, at, {}, u);
      double springs = 0;
      for (std::size_t i = 0; i < at.size(); ++i) springs += 0.5 * model.node_spring[i / 3] * at[i] * at[i];
      return boxes::elastic_energy(model, u) + springs;
    };
    EXPECT_NEAR((energy(plus) - energy(minus)) / (2 * h) / boxes::dot(f, v), 1, 1e-6);
  }
}

// A flat sheet of irregular triangles under an affine motion, turned by 150 degrees: no force inside.
TEST(Membrane, PatchTest) {
  Mesh mesh = box_tetrahedra({{0, 0, 0}}, {{1, 1, 0.2}}, 4, 4, 1);
  boxes::Random random;
  for (Vec3d& x : mesh.nodes)
    for (int k = 0; k < 2; ++k)
      if (x[0] > 1e-9 && x[0] < 1 - 1e-9 && x[1] > 1e-9 && x[1] < 1 - 1e-9) x[k] += 0.06 * random();
  Scene scene = boxes::scene(corotational, 1e5);
  const FullModel bare = build_full_model(scene, mesh);
  scene.bodies[0].membranes = {sheet(boxes::group_region("z-"), 1e8)};
  const FullModel model = build_full_model(scene, mesh);
  ASSERT_EQ(model.fields.size(), 2U);
  EXPECT_EQ(model.fields[1].name, "corotational-membrane");
  EXPECT_EQ(model.fields[1].elements(), 32);
  EXPECT_EQ(model.fields[1].element.front(), model.mesh.element_count());
  const Mat3d F = boxes::rotation({{1, 1, 0}}, 2.6) * Mat3d{{1.2, 0.1, 0, 0.05, 0.9, 0, 0, 0, 1.1}};
  FullMechanics with(model), without(bare);
  const std::vector<double> q = boxes::affine(model, F);
  const std::vector<double> f =
      boxes::plus(forces(with, q, TangentKind::none), -1, forces(without, q, TangentKind::none));
  double inside = 0, edge = 0;
  for (std::size_t n = 0; n < model.mesh.nodes.size(); ++n) {
    const Vec3d& x = model.mesh.nodes[n];
    const Vec3d force{{f[3 * n], f[3 * n + 1], f[3 * n + 2]}};
    const bool inner = x[2] > 1e-9 || (x[0] > 1e-9 && x[0] < 1 - 1e-9 && x[1] > 1e-9 && x[1] < 1 - 1e-9);
    (inner ? inside : edge) = std::max(inner ? inside : edge, norm(force));
  }
  EXPECT_GT(edge, 1e3);
  EXPECT_LT(inside, 1e-11 * edge);
  // Turned over and not strained, it is at rest, and nothing is inside out.
  std::vector<double> still(q.size());
  const PointReport report =
      with.evaluate_forces(boxes::affine(model, boxes::rotation({{1, 1, 0}}, 3.1)), {}, TangentKind::safe, still);
  EXPECT_EQ(report.inverted, 0);
  EXPECT_LT(boxes::norm(still), 1e-9 * 1e8 * 1e-3);
}

// A sheet on each side of a layer of next to nothing, pulled at both ends: force = 2 E h w strain, lateral contraction
// nu strain, at 5 % too (the law is linear in the stretches).
TEST(Membrane, PlaneStressInEquilibrium) {
  const double L = 0.2, w = 0.1, E = 1e6, nu = 0.45, h = 1e-3, strain = 0.05;
  Scene scene = boxes::scene(corotational, 0.05, 0);
  scene.bodies[0].membranes = {sheet(boxes::group_region("z-"), E, nu, h), sheet(boxes::group_region("z+"), E, nu, h)};
  // Holds the rigid motions; the pulls balance.
  FixScene spring;
  spring.region = boxes::box_region({{-1, -1, -1}}, {{1e-6, 1, 1}});
  spring.stiffness = 1e-3;
  scene.bodies[0].fixes = {spring};
  for (const char* end : {"x-", "x+"}) {
    ActuatorScene pull;
    pull.name = end;
    pull.kind = ActuatorKind::force;
    pull.region = boxes::group_region(end);
    pull.direction = {{end[1] == '+' ? 1.0 : -1.0, 0, 0}};
    pull.control = ActuatorControl::force;
    pull.bilateral = true;
    scene.actuators.push_back(pull);
  }
  for (const Vec3d& x : {Vec3d{{0, 0, 0}}, Vec3d{{L, 0, 0}}, Vec3d{{L, w, 0}}})
    scene.probes.push_back({fmt::format("p{}", scene.probes.size()), x, "", {}});
  const FullModel model = build_full_model(scene, box_hexahedra({{0, 0, 0}}, {{L, w, 0.01}}, 6, 3, 1));
  FullMechanics mechanics(model);
  State state = rest_state(mechanics);
  Equilibrium equilibrium(mechanics, {});
  Control control = zero_control(mechanics);
  const double force = 2 * E * h * w * strain;
  control.commands = {force, force};
  const EquilibriumReport report = equilibrium.solve(control, state);
  ASSERT_EQ(report.status, StepStatus::ok) << describe(report.status);
  const std::vector<double>& y = equilibrium.outputs();
  const auto probe = [&](std::size_t k) {
    const auto at = 3 * static_cast<std::size_t>(model.robot.probes[k].point);
    return Vec3d{{y[at], y[at + 1], y[at + 2]}};
  };
  // The layer holds 0.05 Pa x 10 mm against 1e6 Pa x 2 mm, the springs 1e-2 N/m against 1e4.
  EXPECT_NEAR((norm(probe(1) - probe(0)) / L - 1) / strain, 1, 2e-6);
  EXPECT_NEAR((1 - norm(probe(2) - probe(1)) / w) / (nu * strain), 1, 2e-6);
  // Cauchy stress E e / (1 - nu e), the thickness as at rest.
  std::vector<double> u(3 * model.mesh.nodes.size());
  node_displacements(model, state.q, {}, u);
  const std::vector<double> stress = von_mises(model, u);
  ASSERT_EQ(static_cast<int>(stress.size()), model.mesh.element_count() + model.fields[1].elements());
  EXPECT_NEAR(stress.back() / (E * strain / (1 - nu * strain)), 1, 2e-6);
}

// A soft bar (E, H) on a sheet (E_m, h) that hardly stretches, clamped at one end and pulled along its axis at the
// other. As two layers in one beam, with nu = 0: the elastic centre lies at
//   z_c = E H (H/2) / (E H + E_m h),   EI = w (E H^3 / 12 + E H (H/2 - z_c)^2 + E_m h z_c^2),
// so a pull N at H/2 bends it by N (H/2 - z_c) / EI towards the sheet, everywhere alike but within about
// sqrt(1/6) H of the free end, where the sheet's force is zero (it grows over sqrt(E H^2 / (12 G)), shear of the
// bar); that takes 0.41 H of the 10 H with a lever of less than 0.41 H off a tip deflection kappa L^2 / 2: 2e-3.
TEST(Membrane, SheetUnderASoftBarBendsItAsABeamOfTwoLayers) {
  const double L = 0.2, H = 0.02, w = 0.02, E = 1e5, Em = 2e8, h = 5e-4, N = 1e-3;
  const double centre = E * H * (H / 2) / (E * H + Em * h), arm = H / 2 - centre;
  const double EI = w * (E * H * H * H / 12 + E * H * arm * arm + Em * h * centre * centre);
  const double expected = -N * arm / EI * L * L / 2;
  std::vector<double> errors;
  for (const int n : {2, 4, 8}) {
    Scene scene = boxes::scene(corotational, E, 0);
    scene.bodies[0].fixes = {boxes::clamp_at_origin()};
    scene.bodies[0].membranes = {sheet(boxes::box_region({{-1, -1, -1e-9}}, {{1, 1, 1e-9}}), Em, 0, h)};
    ActuatorScene pull;
    pull.name = "pull";
    pull.kind = ActuatorKind::force;
    pull.region = boxes::group_region("x+");
    pull.direction = {{1, 0, 0}};
    pull.control = ActuatorControl::force;
    scene.actuators = {pull};
    scene.probes = {{"tip", {{L, w / 2, 0}}, "", {}}};
    const FullModel model = build_full_model(scene, box_hexahedra({{0, 0, 0}}, {{L, w, H}}, 10 * n, 1, n));
    EXPECT_EQ(model.fields[1].elements(), 20 * n);
    FullMechanics mechanics(model);
    State state = rest_state(mechanics);
    Equilibrium equilibrium(mechanics, {});
    Control control = zero_control(mechanics);
    control.commands = {N};
    ASSERT_EQ(equilibrium.solve(control, state).status, StepStatus::ok);
    const double tip = equilibrium.outputs()[static_cast<std::size_t>(3 * model.robot.probes[0].point + 2)];
    EXPECT_LT(tip, 0);  // towards the sheet
    errors.push_back(tip / expected - 1);
  }
  testing::Test::RecordProperty("relative_error_finest", fmt::format("{:.2e}", errors.back()));
  // Hexahedra as high as long lock at second order; what is left at h -> 0 is the end.
  EXPECT_LT(std::abs(errors[1]), 0.35 * std::abs(errors[0]));
  const double limit = errors[2] + (errors[2] - errors[1]) / 3;
  EXPECT_LT(std::abs(limit), 3e-3) << errors[0] << " " << errors[1] << " " << errors[2];
}

TEST(Membrane, MassIsAddedWhereThereIsADensity) {
  for (const MassKind kind : {MassKind::consistent, MassKind::lumped, MassKind::per_node}) {
    Scene scene = boxes::scene(corotational);
    scene.bodies[0].mass_kind = kind;
    const Mesh mesh = boxes::cube(true, 2, 0.05);
    const auto mass_of = [](const FullModel& model, bool below_only) {
      double sum = 0;
      for (int column = 0; column < static_cast<int>(model.mesh.nodes.size()); ++column)
        for (int k = model.mass.column_start[static_cast<std::size_t>(column)];
             k < model.mass.column_start[static_cast<std::size_t>(column) + 1]; ++k) {
          const int row = model.mass.row[static_cast<std::size_t>(k)];
          const double value = model.mass.value[static_cast<std::size_t>(k)];
          if (!below_only || column < 9) sum += value;
          if (row != column && (!below_only || row < 9)) sum += value;
        }
      return sum;
    };
    scene.bodies[0].membranes = {sheet(boxes::group_region("z-"), 1e6)};
    const FullModel massless = build_full_model(scene, mesh);
    scene.bodies[0].membranes[0].density = 2e5;
    const FullModel model = build_full_model(scene, mesh);
    double volume = 0;
    for (double v : model.fields[1].volume) volume += v;
    const double added = 2e5 * volume;
    EXPECT_NEAR(model.total_mass - massless.total_mass, added, 1e-12 * model.total_mass);
    EXPECT_NEAR(mass_of(model, false) - mass_of(massless, false), added, 1e-12 * model.total_mass);
    EXPECT_NEAR(mass_of(model, true) - mass_of(massless, true), added, 1e-12 * model.total_mass);  // on its own nodes
  }
}

TEST(Membrane, CoversFacesInsideTheBodyToo) {
  Mesh mesh = box_tetrahedra({{0, 0, 0}}, {{1, 1, 1}}, 2, 2, 2);
  CellGroup middle{"middle", CellType::triangle, {}};
  for (const Face& face : all_faces(mesh)) {
    bool flat = true;
    for (std::size_t k = 0; k < 3; ++k)
      flat = flat && std::abs(mesh.nodes[static_cast<std::size_t>(face.nodes[k])][2] - 0.5) < 1e-9;
    // Each face of the plane belongs to two elements.
    const std::array<int, 3> triangle{face.nodes[0], face.nodes[1], face.nodes[2]};
    const Vec3d up =
        cross(mesh.nodes[static_cast<std::size_t>(triangle[1])] - mesh.nodes[static_cast<std::size_t>(triangle[0])],
              mesh.nodes[static_cast<std::size_t>(triangle[2])] - mesh.nodes[static_cast<std::size_t>(triangle[0])]);
    if (!flat || up[2] < 0) continue;
    middle.cells.push_back(static_cast<int>(mesh.triangles.size()));
    mesh.triangles.push_back(triangle);
  }
  mesh.groups.push_back(middle);
  Scene scene = boxes::scene(corotational);
  scene.bodies[0].membranes = {sheet(boxes::group_region("middle"), 1e6)};
  const FullModel model = build_full_model(scene, mesh);
  ASSERT_EQ(model.fields[1].elements(), 8);
  double volume = 0;
  for (double v : model.fields[1].volume) volume += v;
  EXPECT_NEAR(volume, 1e-3, 1e-15);
}

TEST(Membrane, WhatIsNotASheetIsExplained) {
  const Mesh mesh = boxes::cube(false, 2);
  const auto build = [&](const std::vector<Region>& regions, const Mesh& on) {
    return [=] {
      Scene scene = boxes::scene(corotational);
      for (const Region& region : regions) scene.bodies[0].membranes.push_back(sheet(region, 1e6));
      (void)build_full_model(scene, on);
    };
  };
  expect_error(build({boxes::group_region("zz")}, mesh), "the mesh has no group \"zz\"", "did you mean \"z-\"?");
  expect_error(build({boxes::group_region("body")}, mesh),
               "group \"body\" of the mesh holds no triangle of the body (a surface is wanted)", "physical surface");
  // Three nodes of the surface are inside, and no face with all of its own.
  expect_error(build({boxes::box_region({{-1, -1, -0.1}}, {{2, 0.1, 0.1}})}, mesh),
               "this membrane's region holds no face of the body's surface with all its nodes",
               "move or enlarge it (lengths are in metres after the transform)");
  expect_error(build({boxes::group_region("z-"), boxes::box_region({{-1, -1, -0.1}}, {{0.6, 2, 0.1}})}, mesh),
               "is covered twice, by membranes 1 and 2 (its stiffness would count twice)", "do not overlap");
  Mesh copied = mesh;
  for (CellGroup& group : copied.groups)
    if (group.name == "z-") {
      auto turned = copied.triangles[static_cast<std::size_t>(group.cells.front())];
      std::swap(turned[0], turned[2]);
      group.cells.push_back(static_cast<int>(copied.triangles.size()));
      copied.triangles.push_back(turned);
    }
  expect_error(build({boxes::group_region("z-")}, copied), "is covered twice, by this membrane", "remove the copy");
  Mesh across = mesh;
  across.groups.push_back({"across", CellType::triangle, {static_cast<int>(across.triangles.size())}});
  across.triangles.push_back({0, 2, 26});
  expect_error(build({boxes::group_region("across")}, across),
               "of group \"across\" is no face of the body's elements (its nodes are 0, 2 and 26)",
               "mesh surface and volume together");
}

std::vector<double> commands(int k) {
  return {0.0004 * k, 0.05 * k, 0.002 * std::sin(0.5 * k)};
}

// With every coordinate as a mode and every element, the reduced model is the full one: rounding of two orders of
// summation, through solves times the condition number (a sheet 150 times as stiff as its bar: 1e6).
TEST(Membrane, FullBasisIsTheFullModel) {
  for (const bool hexahedra : {false, true}) {
    const FullModel model = covered_bar(hexahedra, 1);
    const int nv = model.coordinates.nv;
    const ReducedModel reduced = project(model, reduced_bodies::full_basis(nv), nv, all_elements(model));
    ASSERT_EQ(reduced.fields.size(), 2U);
    FullMechanics full(model);
    ReducedMechanics mine(reduced);
    const std::vector<double> q = boxes::random_vector(nv, 0.004), v = boxes::random_vector(nv, 1);
    for (const TangentKind kind : {TangentKind::none, TangentKind::safe, TangentKind::exact}) {
      std::vector<double> f(q.size()), g(q.size()), Kv(q.size()), Lv(q.size());
      (void)full.evaluate_forces(q, {}, kind, f);
      (void)mine.evaluate_forces(q, {}, kind, g);
      EXPECT_LT(boxes::difference(g, f), 1e-12);
      if (kind == TangentKind::none) continue;
      full.damping(v, {}, Kv);
      mine.damping(v, {}, Lv);
      EXPECT_LT(boxes::difference(Lv, Kv), 1e-12);
    }
    const FullModel damped = covered_bar(hexahedra);
    const ReducedModel all = project(damped, reduced_bodies::full_basis(nv), nv, all_elements(damped));
    FullMechanics a(damped);
    ReducedMechanics b(all);
    Stepper first(a, {.time_step = 0.01}), second(b, {.time_step = 0.01});
    State x = rest_state(a), z = rest_state(b);
    Control control = zero_control(a);
    for (int k = 1; k <= 10; ++k) {
      control.commands = commands(k);
      ASSERT_EQ(first.step(control, x).status, StepStatus::ok);
      ASSERT_EQ(second.step(control, z).status, StepStatus::ok);
    }
    EXPECT_LT(boxes::difference(z.q, x.q), 1e-10);
    EXPECT_LT(boxes::difference(z.multipliers, x.multipliers), 1e-9);
  }
}

TEST(Membrane, ModelFileComesBack) {
  const reduced_bodies::TemporaryFolder folder;
  const std::string path = folder / "bar.rom.h5";
  const FullModel full = covered_bar(false);
  const ReducedModel model =
      project(full, reduced_bodies::random_basis(full.coordinates.nv, 4), 4, reduced_bodies::some_elements(full));
  const ReducedField& field = model.fields[1];
  ASSERT_EQ(field.corners.size(), 3 * field.element.size());
  for (int element : field.element) EXPECT_GE(element, full.mesh.element_count());
  // Corners are where the triangles of the full model are.
  for (std::size_t e = 0; e < field.element.size(); ++e)
    for (std::size_t a = 0; a < 3; ++a) {
      const int node =
          full.fields[1].node[3 * static_cast<std::size_t>(field.element[e] - full.mesh.element_count()) + a];
      EXPECT_EQ(model.skin.rest[static_cast<std::size_t>(field.corners[3 * e + a])],
                full.mesh.nodes[static_cast<std::size_t>(node)]);
    }
  write_model(model, path);
  reduced_bodies::expect_same_model(read_model(path), model);
  EXPECT_EQ(Hdf5File(path, Hdf5File::Mode::read).read_int("/format_version"), 3);
  const auto refused = [&](const std::string& message, const auto& change) {
    ReducedModel damaged = model;
    change(damaged);
    write_model(damaged, path);
    expect_error([&] { (void)read_model(path); }, message, "the model file is damaged: reduce again");
  };
  refused("'/fields/01/edges' has a wrong shape", [](ReducedModel& m) { m.fields[1].edges.clear(); });
  refused("'/fields/01/edges' holds a frame that is askew",
          [](ReducedModel& m) { m.fields[1].edges[2](0, 0) += 1e-3; });
  refused("'/fields/01/points_per_element' is 8, outside of 1 ... 1",
          [](ReducedModel& m) { m.fields[1].points_per_element = 8; });
  refused("'/fields/01/corners' names what is not there", [](ReducedModel& m) { m.fields[1].corners[0] = 100000; });
  // Without membranes the file is one that older programs read.
  ReducedModel bare = model;
  bare.fields.pop_back();
  write_model(bare, path);
  EXPECT_EQ(Hdf5File(path, Hdf5File::Mode::read).read_int("/format_version"), 2);
}

TEST(Membrane, BatchStepsAsOneRobot) {
  const FullModel full = covered_bar(false);
  const ReducedModel model =
      project(full, reduced_bodies::random_basis(full.coordinates.nv, 6), 6, reduced_bodies::some_elements(full));
  constexpr int robots = 5;
  ReducedMechanics one(model, robots);
  ReducedBatchMechanics batch(model, {}, robots);
  Stepper a(one, {.time_step = 0.01}), b(batch, {.time_step = 0.01});
  State x = rest_state(one), z = rest_state(batch);
  Control control = zero_control(one);
  for (int k = 1; k <= 10; ++k) {
    for (int robot = 0; robot < robots; ++robot)
      for (std::size_t i = 0; i < 3; ++i)
        control.commands[static_cast<std::size_t>(3 * robot) + i] = commands(k)[i] * (1 + 0.1 * robot);
    ASSERT_EQ(a.step(control, x).status, StepStatus::ok);
    ASSERT_EQ(b.step(control, z).status, StepStatus::ok);
  }
  EXPECT_GT(boxes::norm(x.q), 1e-3);
  EXPECT_LT(boxes::difference(z.q, x.q), 1e-10);
}

TEST(Membrane, SameBitsFromAnyNumberOfThreads) {
  Scene scene = reduced_bodies::bar_scene(corotational);
  scene.bodies[0].membranes = {sheet(boxes::group_region("z-"), 3e7)};
  const FullModel model = build_full_model(scene, box_tetrahedra({{0, 0, 0}}, {{0.3, 0.1, 0.1}}, 24, 8, 8));
  const int before = omp_get_max_threads();
  std::vector<std::uint64_t> hashes;
  for (const int threads : {1, 2, 8}) {
    omp_set_num_threads(threads);
    FullMechanics mechanics(model);
    Stepper stepper(mechanics, {.time_step = 0.01});
    State state = rest_state(mechanics);
    Control control = zero_control(mechanics);
    for (int k = 1; k <= 5; ++k) {
      control.commands = commands(k);
      EXPECT_EQ(stepper.step(control, state).status, StepStatus::ok);
    }
    hashes.push_back(hash(state));
  }
  omp_set_num_threads(before);
  EXPECT_EQ(hashes[1], hashes[0]);
  EXPECT_EQ(hashes[2], hashes[0]);
}

// From the scene to a reduced model with a domain in each of the two fields.
TEST(Membrane, IsReducedWithItsBody) {
  const reduced_bodies::TemporaryFolder folder;
  Scene scene = reduced_bodies::saved_bar(folder, corotational, false);
  scene.bodies[0].membranes = {sheet(boxes::group_region("z-"), 3e7)};
  scene.reduction.ecsw_tolerance = 1e-3;
  const FullModel model = build_full_model(scene);
  ReduceSettings settings;
  settings.snapshots.folder = folder / "states";
  settings.dynamic_steps = 10;
  settings.rate_seconds = 0.01;
  settings.tolerances = {0.2, 0.02};
  const Reduction result = reduce(scene, model, settings, {});
  ASSERT_EQ(result.model.fields.size(), 2U);
  for (const ReducedField& field : result.model.fields) {
    EXPECT_GT(field.element.size(), 0U);
    EXPECT_LT(static_cast<int>(field.element.size()), field.total_elements) << field.name;
    EXPECT_LE(field.residual, 1.001e-3) << field.name;
  }
  const ReduceReport& report = result.report;
  EXPECT_EQ(report.snapshots.failed, 0);
  ASSERT_EQ(report.table.size(), 4U);
  // By prediction the elements left out of each field move the body by a thousandth.
  const ErrorSummary &all = report.table[1].errors, &hyper = report.table[3].errors;
  EXPECT_EQ(hyper.failed, 0);
  EXPECT_LT(hyper.goal_mean, all.goal_mean + 2e-3);
  EXPECT_LT(hyper.shape_mean, all.shape_mean + 2e-3);
  testing::Test::RecordProperty(
      "errors", fmt::format("{} + {} elements: goal {:.2e}, shape {:.2e}; all: {:.2e}, {:.2e}",
                            result.model.fields[0].element.size(), result.model.fields[1].element.size(),
                            hyper.goal_mean, hyper.shape_mean, all.goal_mean, all.shape_mean));
}

}  // namespace
}  // namespace supple
