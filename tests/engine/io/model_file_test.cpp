// The model file: everything comes back bit for bit, and a damaged file is an error, not a crash.

#include "engine/io/model_file.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <thread>

#include "engine/io/hdf5_file.hpp"
#include "engine/io/model_data_parts.hpp"
#include "engine/mesh/generate.hpp"
#include "tests/engine/bodies/constrained_bodies.hpp"
#include "tests/engine/bodies/driven_bodies.hpp"
#include "tests/engine/bodies/flipped_bits.hpp"
#include "tests/engine/bodies/obstacle_scenes.hpp"

namespace supple {
namespace {

using flipped_bits::bytes_of;
using reduced_bodies::TemporaryFolder;

// A model in which every field holds something of its own.
ReducedModel example(const boxes::Law& law, bool hexahedra, int modes = 5) {
  Scene scene = reduced_bodies::bar_with_forces(law);
  scene.name = "bar, \xC3\xA9lastique";
  if (law.exact()) scene.integrator = Integrator::quasi_static;
  const FullModel full = build_full_model(scene, reduced_bodies::bar(hexahedra));
  ReducedModel model = project(full, reduced_bodies::random_basis(full.coordinates.nv, modes), modes,
                               reduced_bodies::some_elements(full));
  model.singular_values = {3, 2, 1e-9, 0};
  Provenance& p = model.provenance;
  p.scene_name = scene.name;
  p.scene_text = "name = \"bar\"\n# a text\n";
  p.scene_hash = 0xfedcba9876543210ULL;
  p.mesh_hash = 42;
  p.version = "1.2.3";
  p.snapshots = 136;
  p.pod_tolerance = 1e-3;
  p.pod_tolerance_squared = true;
  p.pod_error = 0.7e-3;
  p.seed = 0xd1b54a32d192ed03ULL;
  p.forced = "its mean error is large";
  model.errors = {
      30, 1,    0.01, 0.009, 0.05, 0.02, 0.019, 0.06, {{"arm", 0.1, 0.2, 0.3}, {"", 0, 0, 0}}, 17, {0.01, 1.5, -0.001},
      3,  0.01, 0.02, 0.003, 0.004};
  return model;
}

void write_bytes(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

// Some steps with all actuators at work.
std::uint64_t hash_after_steps(const ReducedModel& model) {
  ReducedMechanics mechanics(model);
  Stepper stepper(mechanics, {.time_step = model.robot.time_step});
  State state = rest_state(mechanics);
  Control control = zero_control(mechanics);
  for (int k = 1; k <= 5; ++k) {
    control.commands = {0.001 * k, 0.2 * k, 0.0005 * k, -0.1 * k, -0.0001 * k};
    EXPECT_EQ(stepper.step(control, state).status, StepStatus::ok);
  }
  return hash(state);
}

class ModelFile : public testing::Test {
 protected:
  void expect_round_trip(const ReducedModel& model) {
    write_model(model, path_);
    const std::string whole = bytes_of(path_);
    const ReducedModel read = read_model(path_);
    reduced_bodies::expect_same_model(read, model);
    write_model(read, path_);
    EXPECT_EQ(bytes_of(path_), whole);
  }
  int format_of(const ReducedModel& model) {
    write_model(model, path_);
    return Hdf5File(path_, Hdf5File::Mode::read).read_int("/format_version");
  }
  TemporaryFolder folder_;
  std::string path_ = folder_ / "bar.rom.h5";
};

TEST_F(ModelFile, EverythingComesBackBitForBit) {
  for (const boxes::Law& law : boxes::all_laws())
    for (const bool hexahedra : {false, true}) {
      if (hexahedra && !law.exact()) continue;
      const ReducedModel model = example(law, hexahedra);
      write_model(model, path_);
      EXPECT_TRUE(is_model_file(path_));
      const ReducedModel read = read_model(path_);
      reduced_bodies::expect_same_model(read, model);
      EXPECT_EQ(hash_after_steps(read), hash_after_steps(model));
    }
}

TEST_F(ModelFile, DrivenRegionsComeBack) {
  using driven_bodies::Drive;
  for (const Drive drive : {Drive::rigid, Drive::ends, Drive::springs}) {
    const FullModel full = driven_bodies::model(drive);
    const ReducedModel model =
        project(full, reduced_bodies::random_basis(full.coordinates.nv, 4), 4, reduced_bodies::some_elements(full));
    write_model(model, path_);
    const ReducedModel read = read_model(path_);
    reduced_bodies::expect_same_model(read, model);
    EXPECT_EQ(read.columns(), model.columns());
    const auto refused = [&](const char* what, const auto& change) {
      ReducedModel damaged = model;
      change(damaged);
      write_model(damaged, path_);
      EXPECT_THROW(read_model(path_), InputError) << what;
    };
    refused("range", [](ReducedModel& m) { m.robot.motions[0].range = {1, -1}; });
    refused("direction", [](ReducedModel& m) { m.robot.motions[0].direction[1] = std::nan(""); });
    refused("mass", [](ReducedModel& m) { m.input_mass[0] = std::nan(""); });
    refused("outputs", [](ReducedModel& m) { m.output_inputs[0] = INFINITY; });
    refused("skin", [](ReducedModel& m) { m.skin.inputs[0] = INFINITY; });
    // A rigid one is alone.
    if (drive == Drive::ends) refused("rigid", [](ReducedModel& m) { m.robot.motions[0].rigid = true; });
  }
}

TEST_F(ModelFile, ObstaclesComeBack) {
  const std::string file = folder_ / "rock.obj";
  obstacle_scenes::write_cube(file);
  Scene scene = reduced_bodies::bar_scene(boxes::all_laws()[0]);
  scene.obstacles = obstacle_scenes::all_shapes(file);
  scene.contact.distance = 0.001;
  const FullModel full = build_full_model(scene, reduced_bodies::bar(false));
  ReducedModel model =
      project(full, reduced_bodies::random_basis(full.coordinates.nv, 3), 3, reduced_bodies::some_elements(full));
  ASSERT_GT(model.robot.pairs(), 0);
  std::filesystem::remove(file);  // the model needs it no more
  expect_round_trip(model);
  model.full_compliance = boxes::random_vector(9 * model.robot.collision_points, 1e-3);
  model.own_compliance = boxes::random_vector(9 * model.robot.collision_points, 1e-3);
  expect_round_trip(model);
  // Programs that know no obstacles, no tubes or no largest forces must not run the robot without them.
  EXPECT_EQ(format_of(model), 6);
  ReducedModel simpler = model;
  simpler.robot.obstacles.back().max_force = unlimited;
  EXPECT_EQ(format_of(simpler), 6);
  simpler.robot.obstacles.pop_back();
  EXPECT_EQ(format_of(simpler), 4);
  EXPECT_FALSE(Hdf5File(path_, Hdf5File::Mode::read).has("/robot/obstacles/00/max_force"));
  simpler.robot.obstacles[0].max_force = 3;
  EXPECT_EQ(format_of(simpler), 6);
  EXPECT_EQ(format_of(example(boxes::all_laws()[0], false)), 2);

  const auto refused = [&](const char* what, const auto& change) {
    ReducedModel damaged = model;
    change(damaged.robot);
    write_model(damaged, path_);
    try {
      (void)read_model(path_);
      ADD_FAILURE() << what;
    } catch (const InputError& error) {
      EXPECT_EQ(error.place().file, path_) << what;
    }
  };
  refused("points", [](Robot& r) { r.collision_points = static_cast<int>(r.rest_points.size()); });
  refused("no points", [](Robot& r) { r.collision_points = 0; });
  refused("first point", [](Robot& r) { r.first_collision_point = -1; });
  refused("distance", [](Robot& r) { r.contact_distance = -1; });
  refused("friction", [](Robot& r) { r.obstacles[0].friction = -0.1; });
  refused("endless friction", [](Robot& r) { r.obstacles[0].friction = INFINITY; });
  refused("no force", [](Robot& r) { r.obstacles[0].max_force = 0; });
  refused("any force", [](Robot& r) { r.obstacles[0].max_force = std::nan(""); });
  refused("rotation", [](Robot& r) { r.obstacles[1].pose.rotation.m[0] = 1.001; });
  refused("mirror", [](Robot& r) { r.obstacles[1].pose.rotation.m[0] = -1; });
  refused("position", [](Robot& r) { r.obstacles[2].pose.position[1] = std::nan(""); });
}

TEST_F(ModelFile, ConstraintsComeBack) {
  Scene scene = constrained_bodies::constrained_bar(reduced_bodies::bar_scene(boxes::all_laws()[0]));
  scene.implicit_velocity = 0.75;
  scene.implicit_position = 0.5;
  const FullModel full = build_full_model(scene, reduced_bodies::bar(false));
  const ReducedModel model =
      project(full, reduced_bodies::random_basis(full.coordinates.nv, 6), 6, reduced_bodies::some_elements(full));
  ASSERT_FALSE(model.robot.constraints.empty());
  ASSERT_FALSE(model.robot.springs.empty());
  expect_round_trip(model);
  // Programs that know no constraints, or another step, must not run the robot.
  EXPECT_EQ(format_of(model), 5);
  ReducedModel averaged = example(boxes::all_laws()[0], false);
  EXPECT_EQ(format_of(averaged), 2);
  averaged.robot.implicit_velocity = 0.5;
  EXPECT_EQ(format_of(averaged), 5);

  const auto refused = [&](const char* what, const auto& change) {
    ReducedModel damaged = model;
    change(damaged.robot);
    write_model(damaged, path_);
    try {
      (void)read_model(path_);
      ADD_FAILURE() << what;
    } catch (const InputError& error) {
      EXPECT_EQ(error.place().file, path_) << what;
    }
  };
  refused("points", [](Robot& r) { r.constraints[0].first_point = static_cast<int>(r.rest_points.size()); });
  refused("no points", [](Robot& r) { r.constraints[1].point_count = 0; });
  refused("two points", [](Robot& r) { r.constraints[1].point_count = 2; });
  refused("three ends", [](Robot& r) { r.springs[0].anchor = Vec3d{{0, 0, 0}}; });
  refused("one end", [](Robot& r) { r.constraints[0].anchor.reset(); });
  refused("length", [](Robot& r) { r.springs[0].rest_length = std::nan(""); });
  refused("side", [](Robot& r) { r.constraints[0].side = 0; });
  refused("direction", [](Robot& r) { r.constraints[1].direction = {{1, 1, 0}}; });
  refused("place", [](Robot& r) { r.constraints[1].place[2] = INFINITY; });
  refused("compliance", [](Robot& r) { r.constraints[1].compliance = -1; });
  refused("hard spring", [](Robot& r) { r.springs[1].compliance = 0; });
  refused("damping", [](Robot& r) { r.springs[1].damping_time = -1; });
  refused("one-sided spring", [](Robot& r) { r.springs[1].one_sided = true; });
  refused("factors", [](Robot& r) { r.implicit_position = 0.4; });
}

// Shapes that cannot be made, so that no model has them: files say so by hand.
TEST_F(ModelFile, ImpossibleObstaclesAreErrors) {
  const auto edited = [&](const char* what, const auto& write) {
    {
      Hdf5File other(path_, Hdf5File::Mode::create);
      other.write("/robot/obstacles/count", std::int64_t{1});
      const std::string at = "/robot/obstacles/00";
      other.write(at + "/name", std::string("o"));
      other.write(at + "/rotation", std::vector<double>{1, 0, 0, 0, 1, 0, 0, 0, 1}, {3, 3});
      other.write(at + "/position", std::vector<double>{0, 0, 0}, {3});
      other.write(at + "/friction", 0.0);
      write(other, at);
      other.write("/robot/contact/points", std::vector<int>{0, 1}, {2});
      other.write("/robot/contact/distance", 0.0);
      other.close();
    }
    const Hdf5File other(path_, Hdf5File::Mode::read);
    ReducedModel model;
    model.robot.rest_points = {{{0, 0, 0}}};
    try {
      read_contact(other, Checked(other), model);
      return std::string("read");
    } catch (const InputError& error) {
      EXPECT_EQ(error.place().file, path_) << what;
      return std::string(error.what());
    }
  };
  const auto shape = [](const char* word, int inside, std::vector<double> measures) {
    return [=](Hdf5File& other, const std::string& at) {
      other.write(at + "/shape", std::string(word));
      other.write(at + "/inside", static_cast<std::int64_t>(inside));
      other.write(at + "/measures", measures, {measures.size()});
      other.write(at + "/thickness", 0.1);
      other.write(at + "/nodes", std::vector<double>{0, 0, 0, 1, 0, 0, 0, 1, 0}, {3, 3});
      other.write(at + "/triangles", std::vector<int>{0, 1, 3}, {1, 3});
    };
  };
  const auto sphere = shape("sphere", 1, {1, 0, 0, 0, 0});
  EXPECT_EQ(edited("good", sphere), "read");
  const auto pushes = [&](double newton) {
    return [&, newton](Hdf5File& other, const std::string& at) {
      sphere(other, at);
      other.write("/robot/contact/pushes", newton);
    };
  };
  EXPECT_EQ(edited("pushes", pushes(0.5)), "read");
  EXPECT_EQ(edited("pushes of 0", pushes(0)), "'/robot/contact/pushes' is not above 0");
  EXPECT_NE(edited("pushes of no number", pushes(std::nan(""))), "read");
  EXPECT_EQ(edited("shape", shape("cone", 0, {1, 1, 1, 1, 1})),
            "'/robot/obstacles/00/shape' is none that this program knows");
  EXPECT_EQ(edited("plane", shape("plane", 1, {0, 0, 0, 0, 0})), "'/robot/obstacles/00/inside' is said of a plane");
  EXPECT_EQ(edited("tube", shape("tube", 1, {1, 1, 0, 0, 0})), "'/robot/obstacles/00/inside' is said of a tube");
  for (const char* word : {"sphere", "capsule", "box", "cylinder", "tube", "mesh"})
    EXPECT_NE(edited(word, shape(word, 0, {0, 1, 0, 1, 1})).find("'/robot/obstacles/00' is impossible"),
              std::string::npos);
  EXPECT_NE(edited("measures", shape("sphere", 0, {1, 0})), "read");
  EXPECT_NE(edited("radius", shape("sphere", 0, {INFINITY, 0, 0, 0, 0})), "read");
}

// A driven body with nodes inside.
ReducedModel thick(bool hexahedra) {
  const Vec3d lower{{0, 0, 0}}, upper{{0.3, 0.1, 0.1}};
  const FullModel full =
      build_full_model(driven_bodies::scene(driven_bodies::Drive::ends),
                       hexahedra ? box_hexahedra(lower, upper, 3, 2, 2) : box_tetrahedra(lower, upper, 3, 2, 2));
  return project(full, reduced_bodies::random_basis(full.coordinates.nv, 3), 3, reduced_bodies::some_elements(full));
}

TEST_F(ModelFile, KeptElementsComeBack) {
  for (const bool hexahedra : {false, true}) {
    const ReducedModel model = thick(hexahedra);
    ASSERT_FALSE(model.interior.rest.empty());
    write_model(model, path_);
    reduced_bodies::expect_same_model(read_model(path_), model);
    const auto refused = [&](const char* what, const auto& change) {
      ReducedModel damaged = model;
      change(damaged);
      write_model(damaged, path_);
      EXPECT_THROW(read_model(path_), InputError) << what;
    };
    const int shown = static_cast<int>(model.skin.rest.size() + model.interior.rest.size());
    refused("corner", [&](ReducedModel& m) { m.fields[0].corners[3] = shown; });
    refused("negative corner", [](ReducedModel& m) { m.fields[0].corners[0] = -1; });
    refused("no interior", [](ReducedModel& m) { m.interior = {}; });
    refused("interior", [](ReducedModel& m) { m.interior.rest[0][1] = std::nan(""); });
    refused("modes inside", [](ReducedModel& m) { m.interior.modes[0] = INFINITY; });
    refused("inputs inside", [](ReducedModel& m) { m.interior.inputs[0] = std::nan(""); });
    refused("node of the mesh", [](ReducedModel& m) { m.skin.mesh_node[0] = -1; });
    refused("element of the mesh", [](ReducedModel& m) { m.skin.element[0] = -1; });
  }
}

// A model without them is written as files were before they had them, and read.
TEST_F(ModelFile, KeptElementsMayBeUnknown) {
  ReducedModel model = thick(false);
  model.interior = {};
  model.skin.mesh_node.clear();
  model.skin.element.clear();
  model.fields[0].corners.clear();
  write_model(model, path_);
  const Hdf5File file(path_, Hdf5File::Mode::read);
  for (const char* object : {"/interior", "/skin/mesh_node", "/skin/element", "/fields/00/corners"})
    EXPECT_FALSE(file.has(object)) << object;
  reduced_bodies::expect_same_model(read_model(path_), model);
}

TEST_F(ModelFile, EmptyListsComeBack) {
  ReducedModel model = example(boxes::all_laws()[0], false);
  model.robot.actuators.clear();
  model.robot.effectors.clear();
  model.robot.probes.clear();
  model.robot.rest_points.clear();
  model.outputs.clear();
  model.skin = {};
  model.fields[0].corners.clear();
  model.singular_values.clear();
  model.errors = {};
  model.provenance = {};
  model.robot.name = "";
  write_model(model, path_);
  reduced_bodies::expect_same_model(read_model(path_), model);
}

TEST_F(ModelFile, ManyPointsAndSeveralFieldsComeBack) {
  ReducedModel model = example(boxes::all_laws()[1], false);
  model.fields.push_back(example(boxes::all_laws()[5], false).fields[0]);
  for (int i = 0; i < 130; ++i) model.robot.probes.push_back({fmt::format("p{}", i), "set", i % 5});
  write_model(model, path_);
  reduced_bodies::expect_same_model(read_model(path_), model);
}

TEST_F(ModelFile, OtherFilesAreToldApart) {
  EXPECT_FALSE(is_model_file(folder_ / "nothing"));
  EXPECT_THROW(read_model(folder_ / "nothing"), InputError);
  write_bytes(path_, "a text");
  EXPECT_FALSE(is_model_file(path_));
  EXPECT_THROW(read_model(path_), InputError);
  {
    Hdf5File other(path_, Hdf5File::Mode::create);
    other.write("/x", 1.0);
    other.close();
  }
  EXPECT_FALSE(is_model_file(path_));
  EXPECT_THROW(read_model(path_), InputError);
  EXPECT_THROW(read_model(folder_ / "."), InputError);
}

TEST_F(ModelFile, NewerFormatAsksForANewerProgram) {
  {
    Hdf5File file(path_, Hdf5File::Mode::create);
    file.write("/format", std::string("supple reduced model"));
    file.write("/format_version", std::int64_t{model_format_version + 1});
    file.close();
  }
  EXPECT_TRUE(is_model_file(path_));
  try {
    read_model(path_);
    FAIL() << "read a newer format";
  } catch (const InputError& error) {
    EXPECT_NE(error.suggestion().find("newer"), std::string::npos) << error.suggestion();
  }
}

TEST_F(ModelFile, EqualModelsAreEqualBytes) {
  const ReducedModel model = example(boxes::all_laws()[0], false);
  write_model(model, path_);
  const std::string before = bytes_of(path_);
  std::this_thread::sleep_for(std::chrono::milliseconds(1100));  // another second on the clock
  write_model(read_model(path_), path_);
  EXPECT_EQ(bytes_of(path_), before);
}

TEST_F(ModelFile, IsReplacedWholeOrNotAtAll) {
  const ReducedModel model = example(boxes::all_laws()[0], false);
  write_model(model, path_);
  const std::string before = bytes_of(path_);
  EXPECT_THROW(write_model(model, folder_ / "no/such/folder.rom.h5"), InputError);
  ReducedModel wrong = model;
  wrong.robot.name = "other";
  write_model(wrong, path_);
  EXPECT_NE(bytes_of(path_), before);
  for (const auto& entry : std::filesystem::directory_iterator(folder_ / "."))
    EXPECT_EQ(entry.path().filename(), "bar.rom.h5");  // no temporary file is left
}

TEST_F(ModelFile, CutOffFilesAreErrors) {
  write_model(example(boxes::all_laws()[0], false), path_);
  const std::string whole = bytes_of(path_);
  const std::string cut = folder_ / "cut";
  for (std::size_t length = 0; length < whole.size(); length += length < 2048 ? 64 : 1999) {
    write_bytes(cut, whole.substr(0, length));
    EXPECT_THROW(read_model(cut), InputError) << length << " of " << whole.size() << " bytes";
  }
  write_bytes(cut, whole.substr(0, whole.size() - 1));
  EXPECT_THROW(read_model(cut), InputError);
}

// What is read can be used: no index points outside, no number of the operators is not finite.
void use(const ReducedModel& model) {
  ReducedMechanics mechanics(model);
  Stepper stepper(mechanics, {.time_step = model.robot.time_step});
  State state = rest_state(mechanics);
  (void)stepper.step(zero_control(mechanics), state);
}

TEST_F(ModelFile, EveryFlippedBitIsSeen) {
  write_model(example({"edge_frame", MaterialModel::corotational, RotationKind::edge_frame}, false, 3), path_);
  const std::string whole = bytes_of(path_);
  // Equal models are equal bytes.
  const auto same = [&](const std::string& copy) {
    write_model(read_model(copy), path_);
    return bytes_of(path_) == whole;
  };
  EXPECT_GT(flipped_bits::refused(path_, 151, same), 0.8);
}

TEST_F(ModelFile, OlderFormatsAreToBeMadeAgain) {
  const std::string old = std::string(SUPPLE_SOURCE_DIR) + "/tests/fuzz/corpus/model/format_1.rom.h5";
  EXPECT_TRUE(is_model_file(old));
  try {
    read_model(old);
    FAIL() << "read an older format";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("format 1, this program reads formats 2 to 18"), std::string::npos)
        << error.what();
    EXPECT_NE(error.suggestion().find("supple reduce"), std::string::npos) << error.suggestion();
  }
}

TEST_F(ModelFile, SeedsOfTheFuzzerAreModels) {
  for (const char* name : {"tetrahedra", "hexahedra", "kept_elements", "obstacles", "strain_modes"}) {
    const ReducedModel model =
        read_model(std::string(SUPPLE_SOURCE_DIR) + "/tests/fuzz/corpus/model/" + name + ".rom.h5");
    // Two are from before files said where their elements are.
    const bool old = std::string(name).ends_with("hedra");
    EXPECT_EQ(model.fields[0].corners.empty(), old);
    EXPECT_EQ(model.skin.element.empty(), old);
    EXPECT_EQ(model.robot.obstacles.size(), std::string(name) == "obstacles" ? 6u : 0u);
    EXPECT_EQ(model.fields.back().strains.count, std::string(name) == "strain_modes" ? 3 : 0);
    write_model(model, path_);
    reduced_bodies::expect_same_model(read_model(path_), model);
  }
}

TEST_F(ModelFile, FlippedBitsAreErrorsOrModels) {
  write_model(example({"edge_frame", MaterialModel::corotational, RotationKind::edge_frame}, false, 3), path_);
  const std::string whole = bytes_of(path_);
  boxes::Random random;
  const auto below = [&](std::size_t n) {
    return std::min(n - 1, static_cast<std::size_t>((random() + 1) / 2 * static_cast<double>(n)));
  };
  int errors = 0;
  const std::string flipped = folder_ / "flipped";
  for (int k = 0; k < 600; ++k) {
    std::string bytes = whole;
    for (std::size_t n = 1 + below(3); n > 0; --n)
      // Half of them in the first kilobytes, which hold the superblock and the root group.
      bytes[below(k % 2 ? bytes.size() : 4096)] ^= static_cast<char>(1 << below(8));
    write_bytes(flipped, bytes);
    try {
      use(read_model(flipped));
    } catch (const InputError& error) {
      EXPECT_FALSE(error.report().empty());
      ++errors;
    }
  }
  EXPECT_GT(errors, 50);
  RecordProperty("errors", errors);
}

// Single values of a whole file that must not be believed.
TEST_F(ModelFile, InconsistentContentIsAnError) {
  const ReducedModel good = example({"edge_frame", MaterialModel::corotational, RotationKind::edge_frame}, false);
  const auto refused = [&](const std::string& what, const auto& change) {
    ReducedModel model = good;
    change(model);
    write_model(model, path_);
    EXPECT_THROW(read_model(path_), InputError) << what;
  };
  const double nan = std::nan("");
  refused("G", [&](ReducedModel& m) { m.fields[0].G[3] = nan; });
  refused("mass", [&](ReducedModel& m) { m.mass[0] = INFINITY; });
  refused("stiffness", [&](ReducedModel& m) { m.stiffness[1] = nan; });
  refused("outputs", [&](ReducedModel& m) { m.outputs[0] = nan; });
  refused("weight", [&](ReducedModel& m) { m.fields[0].weight[0] = -1; });
  refused("region", [&](ReducedModel& m) { m.fields[0].region[0] = 7; });
  refused("negative region", [&](ReducedModel& m) { m.fields[0].region[0] = -1; });
  refused("edges", [&](ReducedModel& m) { m.fields[0].edges.clear(); });
  refused("material", [&](ReducedModel& m) { m.fields[0].parameters[0].p[0] = nan; });
  refused("triangle", [&](ReducedModel& m) { m.skin.triangles[0][1] = static_cast<int>(m.skin.rest.size()); });
  refused("effector", [&](ReducedModel& m) { m.robot.effectors[0].point = 1000; });
  refused("cable", [&](ReducedModel& m) { m.robot.actuators[0].first_point = 1000; });
  refused("cable without points", [&](ReducedModel& m) { m.robot.actuators[0].point_count = 0; });
  refused("cable length", [&](ReducedModel& m) { m.robot.actuators[0].rest_length = nan; });
  refused("cable range", [&](ReducedModel& m) { m.robot.actuators[0].range = {2, 1}; });
  refused("path of one point", [&](ReducedModel& m) {
    m.robot.actuators[0].pull_point.reset();
    m.robot.actuators[0].point_count = 1;
  });
  refused("direction", [&](ReducedModel& m) { m.robot.actuators[3].direction = {{0, 0, 1.001}}; });
  refused("force on two points", [&](ReducedModel& m) { m.robot.actuators[3].point_count = 2; });
  refused("weight of an effector", [&](ReducedModel& m) { m.robot.effectors[2].weight = 0; });
  refused("no directions", [&](ReducedModel& m) { m.robot.effectors[0].directions.clear(); });
  refused("four directions", [&](ReducedModel& m) { m.robot.effectors[0].directions.resize(4, {{1, 0, 0}}); });
  refused("bent direction", [&](ReducedModel& m) { m.robot.effectors[3].directions[0] = {{nan, 0, 1}}; });
  refused("lever", [&](ReducedModel& m) { m.robot.effectors[3].lever = -1; });
  refused("columns", [&](ReducedModel& m) { m.robot.effectors[3].point_count = 2; });
  refused("columns elsewhere", [&](ReducedModel& m) { m.robot.effectors[3].first_point = 1000; });
  refused("path elsewhere", [&](ReducedModel& m) { m.robot.effectors[4].first_point = -1; });
  refused("length", [&](ReducedModel& m) { m.robot.effectors[4].rest_length = nan; });
  refused("time step", [&](ReducedModel& m) { m.robot.time_step = 0; });
  refused("gravity", [&](ReducedModel& m) { m.gravity[0] = nan; });
  refused("tolerance", [&](ReducedModel& m) { m.fields[0].tolerance = nan; });
  write_model(good, path_);
  EXPECT_NO_THROW(read_model(path_));
}

}  // namespace
}  // namespace supple
