#pragma once
// Where in the actuation box to look: the paper's grid sweep (figure 1, Algorithm 1), Latin hypercubes, independent
// draws. A sample is one command per actuator. Own generator arithmetic on std::mt19937_64, so the same seed gives the
// same numbers everywhere.

#include <cstdint>
#include <vector>

#include "engine/model/robot.hpp"
#include "engine/scene/scene.hpp"

namespace supple {

using Sample = std::vector<double>;

// The grid of s_i values per actuator in reflected Gray order: neighbours differ in one actuator by one step.
std::vector<Sample> gray_grid(const Robot& robot);
// s_1 s_2 ... as a floating number (it overflows integers quickly).
double grid_size(const Robot& robot);
// Latin hypercube: in every actuator exactly one sample per stratum of 1/count of its range.
std::vector<Sample> latin_hypercube(const Robot& robot, int count, std::uint64_t seed);
// Every actuator as near to zero as its range allows.
Sample released_sample(const Robot& robot);
// Independent uniform draws in the box.
std::vector<Sample> uniform_draws(const Robot& robot, int count, std::uint64_t seed);

// A path: samples visited one after the other, each continued from the one before, the first from rest.
struct SamplePath {
  std::vector<Sample> samples;
};

struct SamplingPlan {
  std::string kind;  // "grid" or "latin-hypercube"
  std::string note;  // why not what was asked for, if so
  // True: every sample is a converged equilibrium. False: one linearised step per sample (the paper's sweep).
  bool converged = true;
  std::vector<SamplePath> paths;
  int states() const;
};

// The plan a scene asks for. Grid: one path, sweep_steps increments between neighbours. Latin hypercube: the samples
// ordered by a greedy nearest-neighbour walk from all actuators released and cut into paths of equal length; with
// `corners` the corners of the box and the released state are among the samples. A grid above the budget falls back to
// the hypercube (Algorithm 1) and says so in `note`.
SamplingPlan make_plan(const Robot& robot, const ReductionScene& recipe);

}  // namespace supple
