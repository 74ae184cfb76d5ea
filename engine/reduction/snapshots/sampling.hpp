#pragma once
// Where in the actuation box to look: the paper's grid sweep (figure 1, Algorithm 1), Latin hypercubes, smooth random
// paths, independent draws; greedy.hpp where the snapshots so far determine the next. A sample is one command per
// actuator, then one value per prescribed motion, then one per parameter, then four for a push where there are any
// (pushes.hpp). Own generator arithmetic on std::mt19937_64, so the same seed gives the same numbers everywhere.
//
// Training leaves a motion at rest that equilibria do not depend on: a rigid one (MotionInput::rigid) of a robot that
// nothing but its base ties to the world, no cable to a point fixed in space and no command of a displacement in space.
// Independent draws, which models are judged by, move every input.

#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include "engine/model/robot.hpp"
#include "engine/model/state.hpp"
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

// Uniform in [0, 1): the top 53 bits.
double uniform(std::mt19937_64& generator);

// The robot's commands and motions of one sample, its parameters, and the numbers of its push.
Control control_of(const Robot& robot, const Sample& sample);
std::span<const double> parameters_of(const Robot& robot, const Sample& sample);
std::span<const double> push_numbers(const Robot& robot, const Sample& sample);
Sample without_push(const Robot& robot, Sample sample);
// Inputs that stay along a trajectory, the last ones: parameters and the push, of which there is none then.
std::size_t still_inputs(const Robot& robot);

// The grid of s_i values per input in reflected Gray order: neighbours differ in one input by one step.
std::vector<Sample> gray_grid(const Robot& robot);
// s_1 s_2 ... as a floating number (it overflows integers quickly).
double grid_size(const Robot& robot);
// Latin hypercube: in every input exactly one sample per stratum of 1/count of its range.
std::vector<Sample> latin_hypercube(const Robot& robot, int count, std::uint64_t seed);
// Every actuator as near to zero as its range allows, motions at rest, parameters as the scene has them, no push.
Sample released_sample(const Robot& robot);
// The same with parameters drawn from their ranges: of a trajectory, along which they stay.
Sample released_with_parameters(const Robot& robot, std::uint64_t seed);
// Independent uniform draws in the whole box.
std::vector<Sample> uniform_draws(const Robot& robot, int count, std::uint64_t seed);

// A path: samples visited one after the other, each continued from the one before, the first from rest. An equilibrium
// that does not converge soon from there is retried from rest.
struct SamplePath {
  std::vector<Sample> samples;
  bool friction = false;  // in time: obstacles have theirs
  bool in_time = false;   // a linearised time step for each sample, from equilibrium with all actuators released
};

struct SamplingPlan {
  std::string kind;  // "grid", "latin-hypercube", "random-paths", "greedy"; of draws "uniform"; "commands" over time
  std::string note;  // why not what was asked for, if so
  // True: every sample is a converged equilibrium. False: one linearised time step per sample, from rest at the
  // beginning of a path (the paper's sweep).
  bool converged = true;
  std::vector<SamplePath> paths;
  int states() const;
  // Greedy: the plan grows until it has so many states, and what was predicted on the way.
  int most_states = 0;
  struct Prediction {
    int states;    // from a model of these
    double error;  // GreedyChoice::predicted_error
  };
  std::vector<Prediction> predictions;
};

// Whether a robot is trained and tested on transient trajectories: a free-floating robot in contact has no equilibrium
// without its contacts, and these depend on the path.
bool shaken_in_time(const Robot& robot);
// The same, and some obstacle has friction: trajectories of the test set have it, whether the training trajectories
// have it or not.
bool slides_with_friction(const Robot& robot);

// Index of the sample nearest to this one, ranges having length one; the first of several.
int nearest_sample(const std::vector<InputRange>& inputs, const std::vector<Sample>& samples, const Sample& to);
// Ordered by a walk from the released sample to the nearest that is left.
void order_by_walk(const Robot& robot, std::vector<Sample>& samples);

// Samples of a path: few enough to lose little when killed, many enough for continuation to pay. Those of a round of
// greedy sampling are few, and all jobs wait for its end.
inline constexpr int states_per_path = 8, states_per_greedy_path = 4;

// Paths of at most `length` samples, visited in this order: in time along ramps of sweep_steps from one to the next,
// the first from the released sample; else one after the other.
std::vector<SamplePath> paths_through(const Robot& robot, const std::vector<Sample>& samples, int sweep_steps,
                                      int length = states_per_path);

// The plan a scene asks for, over training_ranges. Grid: one path, sweep_steps increments between neighbours. Latin
// hypercube: the samples ordered by a walk and cut into paths of equal length. A grid above the budget falls back to
// the hypercube (Algorithm 1), stated in `note`. Random paths: waves of incommensurate periods about six states
// (smooth_path.hpp); in time sweep_steps steps for each state. Greedy: the hypercube that it begins with, which does
// not depend on the number of states asked for. With `corners` the corners of the box and the released sample are
// visited too, by all but the grid. Converged equilibria do not excite vibrations: `trajectories` in time join them,
// but for free-floating bodies, greedy sampling and rerun training. `doublings`: as many states and trajectories again,
// drawn like the first, follow those that there are, so that a plan begins with the plan of fewer doublings.
SamplingPlan make_plan(const Robot& robot, const ReductionScene& recipe);

// Whether doublings continue the plan: not where it is a grid or greedy.
bool can_double(const SamplingPlan& plan);

}  // namespace supple
