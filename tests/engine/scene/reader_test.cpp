#include "engine/scene/reader.hpp"

#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <numbers>

#include "engine/mesh/mesh.hpp"
#include "engine/scene/keys.hpp"
#include "engine/scene/writer.hpp"
#include "tests/engine/scene/scene_text.hpp"

namespace supple {
namespace {

TEST(SceneReader, MinimalHasTheDocumentedDefaults) {
  const Scene scene = parse_scene(test::minimal, "robots/bar.toml");
  const Scene defaults;
  EXPECT_EQ(scene.name, "bar");
  EXPECT_EQ(scene.file, "robots/bar.toml");
  EXPECT_EQ(scene.gravity, (Vec3d{{0, 0, -9.81}}));
  EXPECT_DOUBLE_EQ(scene.time_step, 0.01);
  EXPECT_DOUBLE_EQ(scene.duration, 1);
  EXPECT_EQ(scene.integrator, Integrator::implicit_euler);
  ASSERT_EQ(scene.bodies.size(), 1u);
  const BodyScene& body = scene.bodies.front();
  EXPECT_TRUE(body.mesh_file.starts_with("/") && body.mesh_file.ends_with("/robots/bar.msh")) << body.mesh_file;
  EXPECT_DOUBLE_EQ(body.mesh_unit, 1e-3);
  EXPECT_FALSE(body.mass);
  EXPECT_EQ(body.mass_kind, MassKind::consistent);
  EXPECT_EQ(body.materials.front().model, MaterialModel::corotational);
  EXPECT_EQ(body.materials.front().rotation, RotationKind::polar);
  EXPECT_EQ(body.materials.front().region.kind, Region::Kind::all);
  EXPECT_TRUE(body.fixes.empty());
  EXPECT_EQ(scene.reduction.states, defaults.reduction.states);
}

// Scenes that specify no states, modes or elements ask for an error.
TEST(SceneReader, AnErrorIsAskedForByDefault) {
  const auto read = [](const std::string& keys) {
    return parse_scene(test::minimal + (keys.empty() ? "" : "[reduce]\n" + keys), "bar.toml").reduction;
  };
  for (const char* keys : {"", "seed = 3\n", "validation_states = 40\nelements_acceptance = 0.2\n"}) {
    const ReductionScene recipe = read(keys);
    ASSERT_TRUE(recipe.error) << keys;
    EXPECT_EQ(*recipe.error, 0.01);
    EXPECT_TRUE(recipe.error_is_default && recipe.modes_by_error);
    EXPECT_EQ(recipe.trajectories, 2);
  }
  for (const char* keys : {"states = 5\n", "max_modes = 5\n", "modes_tolerance = 1e-3\n", "elements = 9\n",
                           "elements_tolerance = 0.1\n", "goal_error_limit = 0.1\n", "sampling = \"grid\"\n"}) {
    const ReductionScene recipe = read(keys);
    EXPECT_FALSE(recipe.error || recipe.modes_by_error) << keys;
    EXPECT_EQ(recipe.trajectories, 0) << keys;
  }
  ReductionScene recipe = read("error = \"2 %\"\nstates = 50\ntrajectories = 1\n");
  EXPECT_EQ(recipe.error.value_or(0), 0.02);
  EXPECT_TRUE(recipe.modes_by_error);
  EXPECT_FALSE(recipe.error_is_default);
  EXPECT_EQ(recipe.trajectories, 1);
  EXPECT_FALSE(read("error = \"2 %\"\nmax_modes = 5\n").modes_by_error);  // a limit alone
  drop_default_error(recipe);
  EXPECT_TRUE(recipe.error && recipe.trajectories == 1);
  recipe = read("");
  drop_default_error(recipe);
  EXPECT_FALSE(recipe.error || recipe.modes_by_error || recipe.trajectories > 0);
}

// The defaults that the reference prints are those of the structs.
TEST(SceneReader, ReferenceDefaultsAreTrue) {
  std::string text = test::minimal + "[reduce]\nactuation = \"gait.csv\"\n";  // which `variation` is for
  for (const Key& key : scene_table("[reduce]").keys)
    if (key.fallback != "none") text += std::string(key.name) + " = " + std::string(key.fallback) + "\n";
  const ReductionScene written = parse_scene(text, "").reduction, absent;
  EXPECT_EQ(written.sampling, absent.sampling);
  EXPECT_EQ(written.along.variation, absent.along.variation);
  EXPECT_EQ(std::filesystem::path(written.along.file).filename(), "gait.csv");
  EXPECT_TRUE(std::filesystem::path(written.along.file).is_absolute());
  EXPECT_EQ(written.states, absent.states);
  EXPECT_EQ(written.sweep_steps, absent.sweep_steps);
  EXPECT_EQ(written.friction, absent.friction);
  EXPECT_EQ(written.corners, absent.corners);
  EXPECT_EQ(written.budget, absent.budget);
  EXPECT_EQ(written.converged, absent.converged);
  EXPECT_EQ(written.pod_tolerance, absent.pod_tolerance);
  EXPECT_EQ(written.pod_tolerance_squared, absent.pod_tolerance_squared);
  EXPECT_EQ(written.max_modes, absent.max_modes);
  EXPECT_EQ(written.contact_modes, absent.contact_modes);
  EXPECT_EQ(written.elements_every, absent.elements_every);
  EXPECT_EQ(written.membranes, absent.membranes);
  EXPECT_EQ(written.solids, absent.solids);
  EXPECT_EQ(written.strain_tolerance, absent.strain_tolerance);
  EXPECT_EQ(written.max_strain_modes, absent.max_strain_modes);
  EXPECT_EQ(written.ecsw_tolerance, absent.ecsw_tolerance);
  EXPECT_EQ(written.ecsw_acceptance, absent.ecsw_acceptance);
  EXPECT_EQ(written.unit, absent.unit);
  EXPECT_EQ(written.ecsw_training, absent.ecsw_training);
  EXPECT_EQ(written.ecsw_selection, absent.ecsw_selection);
  EXPECT_EQ(written.seed, absent.seed);
  EXPECT_EQ(written.validation_states, absent.validation_states);
}

TEST(SceneReader, Threads) {
  const BodyScene body =
      parse_scene(
          test::minimal +
              "[[body.membrane]]\ngroup = \"a\"\nthreads = {stiffness = \"500 N\", spacing = \"3 mm\", angle = \"90 "
              "deg\", axis = [0, 2, 0], centre = [1, 0, 0]}\n[[body.membrane]]\ngroup = \"b\"\n"
              "threads = {stiffness = 1, spacing = 1, direction = [0, 0, 5], push = true}\n",
          "")
          .bodies.front();
  const ThreadScene wound = *body.membranes[0].threads, straight = *body.membranes[1].threads;
  EXPECT_DOUBLE_EQ(wound.stiffness, 500);
  EXPECT_DOUBLE_EQ(wound.spacing, 0.003);
  EXPECT_NEAR(wound.angle, std::numbers::pi / 2, 1e-15);
  EXPECT_DOUBLE_EQ(wound.axis[1], 1);
  EXPECT_DOUBLE_EQ(wound.centre->v[0], 1);
  EXPECT_FALSE(straight.centre);
  EXPECT_FALSE(wound.push || wound.direction);
  EXPECT_EQ(wound.buckling, default_buckling);
  EXPECT_TRUE(straight.push);
  EXPECT_DOUBLE_EQ((*straight.direction)[2], 1);
}

TEST(SceneReader, ViscousMaterials) {
  const MaterialScene material =
      parse_scene(test::minimal +
                      "prony = [{modulus = 0.4, time = \"100 ms\"}, {modulus = 0.1, time = 2}]\n"
                      "retardation_time = \"3 ms\"\n",
                  "")
          .bodies.front()
          .materials.front();
  EXPECT_EQ(material.prony, (std::vector<PronyTerm>{{0.4, 0.1}, {0.1, 2}}));
  EXPECT_DOUBLE_EQ(material.retardation, 0.003);
}

TEST(SceneReader, FullScene) {
  const Scene scene = parse_scene(test::full, "all.toml");
  EXPECT_EQ(scene.name, "everything \"quoted\"");
  EXPECT_DOUBLE_EQ(scene.time_step, 0.005);
  EXPECT_DOUBLE_EQ(scene.duration, 2);
  EXPECT_EQ(scene.integrator, Integrator::implicit_euler_newton);
  const BodyScene& body = scene.bodies.front();
  EXPECT_EQ(body.name, "arm");
  EXPECT_DOUBLE_EQ(body.transform.scale, 2);
  EXPECT_DOUBLE_EQ(body.transform.rotation[0], std::numbers::pi / 2);
  EXPECT_DOUBLE_EQ(body.transform.rotation[2], std::numbers::pi / 2);
  EXPECT_DOUBLE_EQ(body.transform.translation[2], 0.035);
  EXPECT_DOUBLE_EQ(*body.density, 1070);
  EXPECT_EQ(body.mass_kind, MassKind::per_node);
  EXPECT_DOUBLE_EQ(body.rayleigh_mass, 0.1);
  EXPECT_DOUBLE_EQ(body.rayleigh_stiffness, 0.002);

  ASSERT_EQ(body.materials.size(), 7u);
  EXPECT_EQ(body.materials[0].rotation, RotationKind::edge_frame);
  EXPECT_DOUBLE_EQ(*body.materials[0].density, 1000);
  EXPECT_EQ(body.materials[1].model, MaterialModel::mooney_rivlin);
  EXPECT_DOUBLE_EQ(*body.materials[1].c01, 60e3);
  EXPECT_DOUBLE_EQ(*body.materials[1].d, 750e3);
  EXPECT_EQ(body.materials[1].region.kind, Region::Kind::sphere);
  EXPECT_DOUBLE_EQ(body.materials[1].region.radius, 0.005);
  EXPECT_DOUBLE_EQ(body.materials[2].mooney_ratio, 0.5);
  EXPECT_EQ(body.materials[2].region.group, "skin");
  EXPECT_EQ(body.materials[3].model, MaterialModel::stable_neo_hookean);
  // D = K/2 = mu (1 + nu)/(3 (1 - 2 nu)); Yeoh mu = 2 c1 = 60 kPa, Ogden 2 mu = 40 1.5 + 10 2 = 80 kPa.
  ASSERT_EQ(body.materials[4].constants.size(), 4u);
  EXPECT_DOUBLE_EQ(body.materials[4].constants[1], -1e3);
  EXPECT_NEAR(body.materials[4].constants[3], 60e3 * 1.49 / 0.06, 1e-6);
  EXPECT_EQ(body.materials[5].constants, (std::vector<double>{60e3, 30, 1e6}));
  ASSERT_EQ(body.materials[6].constants.size(), 7u);
  EXPECT_EQ(body.materials[6].constants[3], -2);
  EXPECT_EQ(body.materials[6].constants[4], 0);
  EXPECT_NEAR(body.materials[6].constants[6], 40e3 * 1.45 / 0.3, 1e-6);
  EXPECT_DOUBLE_EQ(scene.probes.at(0).region.value().radius, 0.04);
  ASSERT_EQ(body.membranes.size(), 2u);
  EXPECT_EQ(body.membranes[0].region.group, "skin");
  EXPECT_DOUBLE_EQ(body.membranes[0].thickness, 4e-4);
  EXPECT_DOUBLE_EQ(body.membranes[0].young, 1.8e6);
  EXPECT_EQ(body.membranes[0].poisson, 0.5);
  EXPECT_DOUBLE_EQ(*body.membranes[0].density, 965);
  EXPECT_DOUBLE_EQ(body.membranes[1].region.radius, 0.005);
  EXPECT_FALSE(body.membranes[1].density);

  ASSERT_EQ(body.fixes.size(), 3u);
  EXPECT_DOUBLE_EQ(body.fixes[0].region.lower[2], -0.04);
  EXPECT_EQ(body.fixes[0].stiffness, unlimited);
  EXPECT_EQ(body.fixes[1].motion, "lift");
  EXPECT_DOUBLE_EQ(norm(body.fixes[1].motion_direction), 1);
  EXPECT_DOUBLE_EQ(body.fixes[1].motion_range.upper, 0.01);
  EXPECT_DOUBLE_EQ(body.fixes[2].stiffness, 100);
  EXPECT_EQ(body.fixes[2].place.line, 91);

  EXPECT_EQ(scene.implicit_velocity, 0.5);
  EXPECT_EQ(scene.implicit_position, 1);
  ASSERT_EQ(scene.constraints.size(), 4u);
  const ConstraintScene &rod = scene.constraints[0], &string = scene.constraints[1], &joint = scene.constraints[2],
                        &table = scene.constraints[3];
  EXPECT_EQ(rod.kind, ConstraintKind::distance);
  EXPECT_EQ(rod.points.size(), 2u);
  EXPECT_DOUBLE_EQ(*rod.length, 0.01);
  EXPECT_DOUBLE_EQ(rod.compliance, 5e-4);
  EXPECT_DOUBLE_EQ(rod.damping_time, 0.005);
  EXPECT_DOUBLE_EQ(rod.attachment_radius, 0.002);
  EXPECT_EQ(rod.form, ConstraintForm::force);
  EXPECT_EQ(string.kind, ConstraintKind::limit);
  EXPECT_EQ(string.bound, LengthBound::shortest);
  EXPECT_DOUBLE_EQ((*string.anchor)[2], 1);
  EXPECT_FALSE(string.length);
  EXPECT_EQ(string.form, ConstraintForm::constraint);
  EXPECT_EQ(joint.kind, ConstraintKind::fixed_point);
  EXPECT_EQ(joint.directions, (std::vector<Vec3d>{{{0, 0, 1}}, {{1, 0, 0}}}));
  EXPECT_DOUBLE_EQ((*joint.position)[2], 0.021);
  EXPECT_EQ(joint.compliance, 0);
  EXPECT_EQ(joint.form, ConstraintForm::constraint);
  EXPECT_EQ(table.kind, ConstraintKind::plane);
  EXPECT_DOUBLE_EQ(table.directions.front()[1], 0.6);
  EXPECT_DOUBLE_EQ(table.compliance, 1e-4);
  EXPECT_EQ(table.form, ConstraintForm::constraint);

  ASSERT_EQ(scene.actuators.size(), 4u);
  const ActuatorScene &north = scene.actuators[0], &south = scene.actuators[1];
  EXPECT_EQ(north.points.size(), 2u);
  EXPECT_DOUBLE_EQ((*north.pull_point)[1], 0.01);
  EXPECT_DOUBLE_EQ(north.attachment_radius, 0.002);
  EXPECT_DOUBLE_EQ(north.range.upper, 0.04);
  EXPECT_DOUBLE_EQ(north.rate, 0.02);
  EXPECT_DOUBLE_EQ(north.force.upper, 30);
  EXPECT_EQ(north.samples, 3);
  EXPECT_EQ(south.control, ActuatorControl::force);
  EXPECT_DOUBLE_EQ(south.range.lower, -1);
  EXPECT_DOUBLE_EQ(south.rate, 5);
  EXPECT_EQ(south.force.lower, -unlimited);
  EXPECT_FALSE(south.pull_point);

  const ActuatorScene &push = scene.actuators[2], &press = scene.actuators[3];
  EXPECT_EQ(push.kind, ActuatorKind::force);
  EXPECT_EQ(push.points.size(), 1u);
  EXPECT_FALSE(push.region);
  EXPECT_DOUBLE_EQ(push.attachment_radius, 0.004);
  EXPECT_DOUBLE_EQ(push.direction[1], 0.6);
  EXPECT_DOUBLE_EQ(push.direction[2], 0.8);
  EXPECT_EQ(push.control, ActuatorControl::force);
  EXPECT_TRUE(push.bilateral);
  EXPECT_DOUBLE_EQ(push.range.lower, -2);
  EXPECT_EQ(push.force.lower, -unlimited);
  EXPECT_TRUE(press.points.empty());
  EXPECT_EQ(press.region->group, "skin");
  EXPECT_EQ(press.direction, (Vec3d{{0, 0, -1}}));
  EXPECT_EQ(press.control, ActuatorControl::displacement);
  EXPECT_FALSE(press.bilateral);
  EXPECT_DOUBLE_EQ(press.range.upper, 0.005);
  EXPECT_DOUBLE_EQ(press.rate, 0.001);
  EXPECT_DOUBLE_EQ(press.force.upper, 9);

  ASSERT_EQ(scene.effectors.size(), 5u);
  const EffectorScene &top = scene.effectors[0], &platform = scene.effectors[1], &tilt = scene.effectors[2];
  EXPECT_EQ(top.name, "top");
  EXPECT_EQ(top.directions, (std::vector<Vec3d>{{{1, 0, 0}}, {{0, 1, 0}}, {{0, 0, 1}}}));
  EXPECT_DOUBLE_EQ(top.weight, 1);
  EXPECT_FALSE(top.exact);
  EXPECT_FALSE(platform.point);
  EXPECT_EQ(platform.region->kind, Region::Kind::box);
  ASSERT_EQ(platform.directions.size(), 2u);
  EXPECT_EQ(platform.directions[0], (Vec3d{{0, 0, 1}}));
  EXPECT_DOUBLE_EQ(norm(platform.directions[1]), 1);
  EXPECT_DOUBLE_EQ(platform.weight, 2.5);
  EXPECT_EQ(tilt.kind, EffectorKind::orientation);
  EXPECT_DOUBLE_EQ(tilt.region->radius, 0.008);
  EXPECT_DOUBLE_EQ(tilt.lever, 0.02);
  EXPECT_TRUE(tilt.exact);
  // `cable` is the path of that actuator, its attachment included.
  const EffectorScene &taken_in = scene.effectors[3], &span = scene.effectors[4];
  EXPECT_EQ(taken_in.kind, EffectorKind::length);
  EXPECT_EQ(taken_in.points, north.points);
  EXPECT_EQ(taken_in.pull_point, north.pull_point);
  EXPECT_EQ(taken_in.attachment_radius, north.attachment_radius);
  EXPECT_EQ(span.points.size(), 2u);
  EXPECT_DOUBLE_EQ((*span.pull_point)[2], 1);
  EXPECT_DOUBLE_EQ(span.attachment_radius, 0.001);
  EXPECT_EQ(scene.probes.at(0).set, "arms");
  EXPECT_EQ(scene.reduction.sampling, SamplingKind::grid);
  EXPECT_DOUBLE_EQ(scene.reduction.pod_tolerance, 0.002);
  EXPECT_FALSE(scene.reduction.converged);
  EXPECT_EQ(scene.reduction.membranes, FieldForm::strains);
  EXPECT_EQ(scene.reduction.strain_tolerance, 0.2);
  EXPECT_EQ(scene.reduction.max_strain_modes, 30);
  EXPECT_EQ(scene.reduction.seed, 7u);
  EXPECT_DOUBLE_EQ(*scene.reduction.shape_error_limit, 0.02);
  EXPECT_NO_THROW(check_reducible(scene));
}

TEST(SceneReader, SamplingKinds) {
  const auto kind = [](const std::string& lines) {
    return parse_scene(test::minimal + "[reduce]\n" + lines, "").reduction;
  };
  EXPECT_EQ(kind("sampling = 'random-paths'").sampling, SamplingKind::random_paths);
  const ReductionScene greedy = kind("sampling = 'greedy'\nstates_tolerance = '2 %'");
  EXPECT_EQ(greedy.sampling, SamplingKind::greedy);
  EXPECT_DOUBLE_EQ(*greedy.states_tolerance, 0.02);
  Scene scene = parse_scene(test::minimal, "");
  scene.reduction = greedy;
  EXPECT_EQ(*parse_scene(write_scene(scene), "").reduction.states_tolerance, *greedy.states_tolerance);
  const int first = static_cast<int>(std::ranges::count(test::minimal, '\n')) + 1;  // line of [reduce]
  EXPECT_EQ(greedy.place.line, first + 1);
  const auto line_of_error = [&](const std::string& lines) {
    try {
      (void)kind(lines);
    } catch (const InputError& error) {
      return error.place().line - first;
    }
    return 0;
  };
  EXPECT_EQ(line_of_error("sampling = 'greedy'\nstates_tolerance = 2"), 2);      // not below 1
  EXPECT_EQ(line_of_error("states = 9\nseed = 1\nstates_tolerance = 0.02"), 3);  // of a hypercube
  EXPECT_EQ(line_of_error("states = 9\nsampling = 'gready'"), 2);
}

TEST(SceneReader, NamesInAnyLanguage) {
  EXPECT_EQ(parse_scene("\xef\xbb\xbfname = \"Rüssel 象\"\n" + test::minimal, "").name, "Rüssel 象");
}

TEST(SceneReader, UnilateralCablesOnlyPull) {
  const Scene scene = parse_scene(
      test::minimal + "[[actuator]]\nname='a'\ntype='cable'\npoints=[[0,0,0],[0,0,1]]\nforce=[-inf,'5 N']\n", "");
  EXPECT_EQ(scene.actuators.front().force.lower, 0);
  EXPECT_EQ(scene.actuators.front().range.lower, 0);
  EXPECT_EQ(scene.actuators.front().range.upper, unlimited);
}

TEST(SceneReader, ForcesGoBothWaysUnlessToldOtherwise) {
  const std::string force = "[[actuator]]\nname='a'\ntype='force'\npoint=[0,0,0]\ndirection=[0,0,1e-200]\n";
  const ActuatorScene free = parse_scene(test::minimal + force, "").actuators.front();
  EXPECT_EQ(free.range.lower, -unlimited);
  EXPECT_EQ(free.range.upper, unlimited);
  EXPECT_EQ(free.direction, (Vec3d{{0, 0, 1}}));  // however short it was written
  const ActuatorScene one_way = parse_scene(test::minimal + force + "bilateral=false\n", "").actuators.front();
  EXPECT_EQ(one_way.range.lower, 0);
  EXPECT_EQ(one_way.force.lower, 0);
}

TEST(SceneReader, CavitiesHavePressuresAndVolumes) {
  const std::string cavity = test::minimal + "[[actuator]]\nname='c'\ntype='cavity'\n";
  Scene scene = parse_scene(cavity + "group='walls'\nrange=[0,'35 kPa']\nrate='20 kPa/s'\npressure=[0,'40 kPa']\n",
                            "/robots/s.toml");
  const ActuatorScene& pressed = scene.actuators.front();
  EXPECT_EQ(pressed.kind, ActuatorKind::cavity);
  EXPECT_EQ(pressed.control, ActuatorControl::force);
  EXPECT_FALSE(pressed.bilateral);
  EXPECT_EQ(pressed.region->group, "walls");
  EXPECT_DOUBLE_EQ(pressed.range.upper, 35e3);
  EXPECT_DOUBLE_EQ(pressed.rate, 20e3);
  EXPECT_DOUBLE_EQ(pressed.force.upper, 40e3);
  EXPECT_TRUE(parse_scene(write_scene(scene), "elsewhere.toml") == scene);
  EXPECT_EQ(input_files(scene).size(), 1u);
  scene = parse_scene(cavity +
                          "surface={file='../walls.stl',unit='mm',scale=2,translation=[0,0,'1 m']}\ncontrol='volume'\n"
                          "range=['-1 mL','5 mL']\nrate='2 mL/s'\nbilateral=true\n",
                      "/robots/here/s.toml");
  const ActuatorScene& filled = scene.actuators.front();
  EXPECT_EQ(filled.control, ActuatorControl::displacement);
  EXPECT_EQ(filled.surface->file, "/robots/walls.stl");
  EXPECT_DOUBLE_EQ(filled.surface->unit, 1e-3);
  EXPECT_EQ(filled.surface->transform.scale, 2);
  EXPECT_EQ(filled.surface->transform.translation[2], 1);
  EXPECT_NEAR(filled.range.lower, -1e-6, 1e-18);
  EXPECT_NEAR(filled.rate, 2e-6, 1e-18);
  EXPECT_EQ(filled.force.lower, -unlimited);
  EXPECT_TRUE(parse_scene(write_scene(scene), "elsewhere.toml") == scene);
  EXPECT_EQ(input_files(scene).back(), "/robots/walls.stl");
  Scene moved = scene;
  moved.actuators.front().surface->transform.translation[2] = 2;
  EXPECT_FALSE(moved == scene);
}

TEST(SceneReader, CavitiesHaveGas) {
  const std::string cavity = test::minimal + "[[actuator]]\nname='c'\ntype='cavity'\ngroup='walls'\n";
  const Scene sealed = parse_scene(cavity + "control='gas'\n", "s.toml");
  const ActuatorScene& closed = sealed.actuators.front();
  EXPECT_EQ(closed.control, ActuatorControl::gas);
  EXPECT_EQ(closed.range.lower, 0);
  EXPECT_EQ(closed.range.upper, 0);
  EXPECT_TRUE(closed.bilateral);
  EXPECT_EQ(closed.atmosphere, standard_atmosphere);
  EXPECT_EQ(closed.force.lower, -standard_atmosphere);
  EXPECT_TRUE(parse_scene(write_scene(sealed), "elsewhere.toml") == sealed);
  const Scene supplied = parse_scene(cavity +
                                         "control='supply'\nresistance='2 kPa s/mL'\ndead_volume='3 mL'\n"
                                         "atmosphere='90 kPa'\nrange=['-20 kPa','50 kPa']\nrate='100 kPa/s'\n",
                                     "s.toml");
  const ActuatorScene& line = supplied.actuators.front();
  EXPECT_EQ(line.control, ActuatorControl::supply);
  EXPECT_NEAR(line.resistance, 2e9, 1e-3);
  EXPECT_NEAR(line.dead_volume, 3e-6, 1e-18);
  EXPECT_DOUBLE_EQ(line.range.upper, 5e4);
  EXPECT_EQ(line.force.lower, -9e4);
  EXPECT_TRUE(parse_scene(write_scene(supplied), "elsewhere.toml") == supplied);
  EXPECT_FALSE(sealed == supplied);
}

TEST(SceneReader, CablesRub) {
  const std::string cable = test::minimal + "[[actuator]]\nname='c'\ntype='cable'\npoints=[[0,0,0],[0,0,1],[0,1,1]]\n";
  const Scene smooth = parse_scene(cable, "s.toml"), rough = parse_scene(cable + "friction=0.3\n", "s.toml");
  EXPECT_EQ(smooth.actuators.front().friction, 0);
  EXPECT_EQ(rough.actuators.front().friction, 0.3);
  EXPECT_EQ(rough.actuators.front().slip_length, default_slip_length);
  EXPECT_TRUE(parse_scene(write_scene(rough), "elsewhere.toml") == rough);
  EXPECT_FALSE(rough == smooth);
}

TEST(SceneReader, ObstaclesHaveShapesAndPoses) {
  const Scene scene = parse_scene(test::full, "/robots/all.toml");
  ASSERT_EQ(scene.obstacles.size(), 7u);
  const auto& o = scene.obstacles;
  for (std::size_t i = 0; i < o.size(); ++i) EXPECT_EQ(o[i].shape, static_cast<ObstacleShape>(i));
  EXPECT_EQ(o[0].name, "floor");
  EXPECT_DOUBLE_EQ(o[0].position[2], -0.005);
  EXPECT_DOUBLE_EQ(o[0].friction, 0.5);
  EXPECT_DOUBLE_EQ(o[1].radius, 0.02);
  EXPECT_FALSE(o[1].inside);
  EXPECT_EQ(o[1].friction, 0);
  EXPECT_DOUBLE_EQ(o[2].radius, 0.03);
  EXPECT_EQ(o[2].length, 0);
  EXPECT_DOUBLE_EQ(o[2].rotation[2], std::numbers::pi / 2);
  EXPECT_TRUE(o[2].inside);
  EXPECT_EQ(o[3].size, (Vec3d{{1, 2, 0.3}}));
  EXPECT_DOUBLE_EQ(o[4].length, 0.08);
  EXPECT_EQ(o[4].max_force, unlimited);
  EXPECT_DOUBLE_EQ(o[5].radius, 0.04);
  EXPECT_DOUBLE_EQ(o[5].thickness, 0.002);
  EXPECT_DOUBLE_EQ(o[5].length, 0.3);
  EXPECT_FALSE(o[5].inside);
  EXPECT_DOUBLE_EQ(o[5].max_force, 1.5);
  EXPECT_EQ(o[6].surface->file, "/robots/rock.stl");
  EXPECT_EQ(o[6].surface->transform.scale, 3);
  EXPECT_EQ(o[6].rotation, (Vec3d{{0, 0, 1}}));
  EXPECT_DOUBLE_EQ(scene.contact.distance, 5e-4);
  EXPECT_DOUBLE_EQ(scene.contact.spacing, 4e-3);
  EXPECT_EQ(scene.contact.region.kind, Region::Kind::sphere);
  EXPECT_EQ(input_files(scene).back(), "/robots/rock.stl");
  const Scene skin = parse_scene(
      test::minimal + "[contact]\nsurface = {file = 'skin.stl', unit = 'mm'}\nbox = [[0, 0, 0], [1, 1, 1]]\n",
      "/robots/a.toml");
  EXPECT_EQ(skin.contact.surface->file, "/robots/skin.stl");
  EXPECT_EQ(skin.contact.surface->unit, 1e-3);
  EXPECT_EQ(skin.contact.surface->place.line, skin.contact.place.line + 1);
  EXPECT_EQ(skin.contact.region.kind, Region::Kind::box);
  EXPECT_EQ(input_files(skin).back(), "/robots/skin.stl");
  EXPECT_TRUE(parse_scene(write_scene(skin), "") == skin);
  // Without obstacles the table says nothing yet.
  EXPECT_EQ(parse_scene(test::minimal + "[contact]\nspacing = 1\n", "").contact.spacing, 1);
  EXPECT_EQ(parse_scene(test::minimal, "").contact.region.kind, Region::Kind::all);
}

TEST(SceneReader, AnAxisIsARotation) {
  for (const Vec3d& axis : {Vec3d{{1, 0, 0}}, Vec3d{{-1, 0, 0}}, Vec3d{{0, 1, 0}}, Vec3d{{0, -1, 0}}, Vec3d{{0, 0, 1}},
                            Vec3d{{0, 0, -1}}, Vec3d{{0.6, 0, -0.8}}, Vec3d{{1, -2, 3}}, Vec3d{{-3, 5, -0.1}}}) {
    const Scene scene =
        parse_scene(test::minimal + "[[obstacle]]\nname='o'\ntype='plane'\naxis=[" + std::to_string(axis[0]) + "," +
                        std::to_string(axis[1]) + "," + std::to_string(axis[2]) + "]\n",
                    "");
    const Transform turned{scene.obstacles.front().rotation, {{0, 0, 0}}, 1};
    // Angles of up to 3 rounded to 4e-16, then four products of their sines.
    EXPECT_LT(norm(apply(turned, {{0, 0, 1}}) - normalized(axis)), 2e-15);
    EXPECT_TRUE(parse_scene(write_scene(scene), "") == scene);
  }
  EXPECT_EQ(
      parse_scene(test::minimal + "[[obstacle]]\nname='o'\ntype='plane'\naxis=[0,0,2]\n", "").obstacles[0].rotation,
      (Vec3d{{0, 0, 0}}));
}

// Of cavities, obstacles and contact alike: at the key, with the file that may be meant.
TEST(SceneReader, MissingSurfacesAreSaid) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::path(testing::TempDir()) / ("supple-surfaces-" + std::to_string(getpid()));
  fs::create_directories(folder);
  for (const char* file : {"bar.msh", "rock.stl"}) std::ofstream(folder / file) << "";
  const std::string path = (folder / "scene.toml").string();
  const auto error_of = [&](const std::string& table) {
    std::ofstream(path) << test::minimal + table;
    try {
      (void)read_scene(path);
    } catch (const InputError& error) {
      return error;
    }
    return InputError("none", "");
  };
  for (const std::string table :
       {"[[actuator]]\nname='a'\ntype='cavity'\n", "[[obstacle]]\nname='o'\ntype='mesh'\n", "[contact]\n\n\n"}) {
    const InputError error = error_of(table + "surface={file='rok.stl'}\n");
    EXPECT_EQ(std::string(error.what()), "the surface '" + (folder / "rok.stl").string() + "' does not exist");
    EXPECT_EQ(error.suggestion(), "file = \"rock.stl\"");
    EXPECT_EQ(error.place().file, path);
    EXPECT_EQ(error.place().line, 10);
    EXPECT_EQ(error.place().column, 15);
    EXPECT_STREQ(error_of(table + "surface={file='rock.stl'}\n").what(), "none");
  }
  fs::remove_all(folder);
}

TEST(SceneReader, WhatAReductionNeeds) {
  const std::string cable = "[[actuator]]\nname='a'\ntype='cable'\npoints=[[0,0,0],[0,0,1]]\n";
  const std::string effector = "[[effector]]\nname='e'\npoint=[0,0,0]\n";
  const auto problem = [](const std::string& text) -> std::string {
    try {
      check_reducible(parse_scene(test::minimal + text, "s.toml"));
    } catch (const InputError& error) {
      return error.what();
    }
    return "none";
  };
  EXPECT_EQ(problem(effector), "the scene has no actuator (there is nothing to sample)");
  EXPECT_EQ(problem(cable + effector), "the range of 'a' is unlimited (a reduction samples all of it)");
  EXPECT_EQ(problem(cable + "range=[0,1]\n"),
            "the scene has no effector (the error of a reduced model is measured there)");
  EXPECT_EQ(problem(cable + "range=[0,1]\n" + effector), "none");
}

}  // namespace
}  // namespace supple
