// States that are saved and compared: forces of obstacles are part of them where there are obstacles.

#include "engine/io/saved_run.hpp"

#include "engine/io/hdf5_file.hpp"
#include "tests/engine/bodies/reduced_bodies.hpp"

namespace supple {
namespace {

SavedRun example() {
  SavedRun run;
  run.state.robots = 2;
  run.state.time = 0.3;
  run.state.q = {1, 2, 3, 4};
  run.state.v = {5, 6, 7, 8};
  run.state.multipliers = {9, 10};
  run.state.commands = {11, 12};
  run.time_step = 0.01;
  run.integrator = "implicit-euler";
  run.inputs = {"a"};
  run.times = {0, 1};
  run.values = {0, 0.5};
  return run;
}

TEST(SavedRuns, ComeBackWithTheForcesOfObstacles) {
  const reduced_bodies::TemporaryFolder folder;
  const std::string path = folder / "state.h5";
  SavedRun run = example();
  run.state.contact_forces = {0, 0, 1, 0.1, 0, 2};
  write_state(path, run);
  const SavedRun read = read_state(path);
  EXPECT_EQ(read.state.contact_forces, run.state.contact_forces);
  EXPECT_TRUE(same_sizes(read.state, run.state));
  EXPECT_EQ(hash(read.state), hash(run.state));
}

// Robots have contacts of their own, in any number.
TEST(SavedRuns, ComeBackWithTheForcesBetweenBodies) {
  const reduced_bodies::TemporaryFolder folder;
  const std::string path = folder / "state.h5";
  SavedRun run = example();
  run.state.surface_forces = {{}, {{3, 0x80000001u, {1, 2, 3}}, {4, 0xffffffffu, {-1, 0, 0.5}}}};
  write_state(path, run);
  const State read = read_state(path).state;
  EXPECT_EQ(read.surface_forces, run.state.surface_forces);
  EXPECT_EQ(hash(read), hash(run.state));
  // Where nothing touches there are none, of each robot.
  SavedRun still = example();
  still.state.surface_forces.resize(2);
  write_state(path, still);
  EXPECT_EQ(read_state(path).state.surface_forces, still.state.surface_forces);
  // A state from elsewhere, without any, fits and takes those of a robot away.
  State left = read;
  EXPECT_TRUE(same_sizes(example().state, left));
  copy_robot(example().state, 1, left, 1);
  EXPECT_TRUE(left.surface_forces[1].empty());
  // A robot takes its own along, and leaves the others theirs.
  State both = read;
  copy_robot(read, 1, both, 0);
  EXPECT_EQ(both.surface_forces[0], read.surface_forces[1]);
  EXPECT_EQ(both.surface_forces[1], read.surface_forces[1]);
  EXPECT_NE(hash(both), hash(read));
  EXPECT_EQ(one_robot(read, 1).surface_forces, std::vector(1, read.surface_forces[1]));
  EXPECT_EQ(repeated(one_robot(read, 1), 3).surface_forces, std::vector(3, read.surface_forces[1]));
}

TEST(SurfaceForces, ThatAreNoneAreRefused) {
  State state;
  state.robots = 2;
  state.surface_forces.resize(2);
  const State before = state;
  const std::vector<double> good{0, 1, 2, 0.1, 0, 0, 1, 1, 2, 0, 0.2, 0};
  for (const auto& [place, value] :
       {std::pair{6, 2.0}, {6, 0.5}, {6, -1.0}, {7, 4294967296.0}, {6, 0.0}, {4, std::nan("")}}) {
    std::vector<double> rows = good;
    rows[static_cast<std::size_t>(place)] = value;
    EXPECT_FALSE(set_surface_forces(state, rows)) << place << " " << value;
    EXPECT_EQ(state.surface_forces, before.surface_forces);
  }
  EXPECT_FALSE(set_surface_forces(state, std::span(good).first(7)));
  EXPECT_TRUE(set_surface_forces(state, good));
  EXPECT_EQ(surface_force_rows(state), good);
}

// Files of robots without obstacles are what they were before there were any.
TEST(SavedRuns, NeedNoObstacles) {
  const reduced_bodies::TemporaryFolder folder;
  const std::string path = folder / "state.h5";
  const SavedRun run = example();
  write_state(path, run);
  EXPECT_FALSE(Hdf5File(path, Hdf5File::Mode::read).has("/state/contact_forces"));
  const SavedRun read = read_state(path);
  EXPECT_TRUE(read.state.contact_forces.empty());
  EXPECT_EQ(hash(read.state), hash(run.state));
}

TEST(States, DifferInTheForcesOfObstacles) {
  const State none = example().state;
  EXPECT_EQ(hash(none), 12623669959706118918u);  // as before there were obstacles
  State touching = none;
  touching.contact_forces = {0, 0, 1, 0, 0, 0};
  EXPECT_FALSE(same_sizes(none, touching));
  EXPECT_NE(hash(none), hash(touching));
  State other = touching;
  other.contact_forces[2] = 2;
  EXPECT_TRUE(same_sizes(other, touching));
  EXPECT_NE(hash(other), hash(touching));
}

}  // namespace
}  // namespace supple
