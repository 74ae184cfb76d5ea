#pragma once
// Where in the actuation box to look: the paper's grid sweep (figure 1, Algorithm 1), Latin hypercubes, independent
// draws. A sample is one command per actuator, then one value per motion of a driven region. Own generator arithmetic
// on std::mt19937_64, so the same seed gives the same numbers everywhere.
//
// Training leaves a motion at rest that equilibria do not depend on: a rigid one (MotionInput::rigid) of a robot that
// nothing but its base ties to the world, no cable to a point fixed in space and no command of a displacement in space.
// Independent draws, which models are judged by, move every input.

#include <cstdint>
#include <vector>

#include "engine/dynamics/state.hpp"
#include "engine/model/robot.hpp"
#include "engine/scene/scene.hpp"

namespace supple {

using Sample = std::vector<double>;

// A dimension of the box.
struct InputRange {
  Interval range;
  int samples = 2;  // of a grid; 1: it stays at its lower end, which is its upper
};
// All inputs, in the order of a sample; motions have two samples.
std::vector<InputRange> input_ranges(const Robot& robot);
// The same for training.
std::vector<InputRange> training_ranges(const Robot& robot);

// The robot's commands and motions of one sample.
Control control_of(const Robot& robot, const Sample& sample);

// The grid of s_i values per input in reflected Gray order: neighbours differ in one input by one step.
std::vector<Sample> gray_grid(const Robot& robot);
// s_1 s_2 ... as a floating number (it overflows integers quickly).
double grid_size(const Robot& robot);
// Latin hypercube: in every input exactly one sample per stratum of 1/count of its range.
std::vector<Sample> latin_hypercube(const Robot& robot, int count, std::uint64_t seed);
// Every actuator as near to zero as its range allows, motions at rest.
Sample released_sample(const Robot& robot);
// Independent uniform draws in the whole box.
std::vector<Sample> uniform_draws(const Robot& robot, int count, std::uint64_t seed);

// A path: samples visited one after the other, each continued from the one before, the first from rest.
struct SamplePath {
  std::vector<Sample> samples;
};

struct SamplingPlan {
  std::string kind;  // "grid" or "latin-hypercube"
  std::string note;  // why not what was asked for, if so
  // True: every sample is a converged equilibrium. False: one linearised time step per sample, from rest at the
  // beginning of a path (the paper's sweep).
  bool converged = true;
  std::vector<SamplePath> paths;
  int states() const;
};

// Whether a robot is shaken, learnt and judged in time: one that lies loose among obstacles has no equilibrium but with
// its contacts, and those depend on the way.
bool shaken_in_time(const Robot& robot);

// Paths of at most eight samples, visited in this order: in time along ramps of sweep_steps from one to the next, the
// first from the released sample; else one after the other.
std::vector<SamplePath> paths_through(const Robot& robot, const std::vector<Sample>& samples, int sweep_steps);

// The plan a scene asks for, over training_ranges. Grid: one path, sweep_steps increments between neighbours. Latin
// hypercube: the samples ordered by a greedy nearest-neighbour walk from the released sample and cut into paths of
// equal length; with `corners` the corners of the box and the released sample are among them. A grid above the budget
// falls back to the hypercube (Algorithm 1) and says so in `note`.
SamplingPlan make_plan(const Robot& robot, const ReductionScene& recipe);

}  // namespace supple
