// Where samples lie: Gray order, Latin strata, plans, disjoint sets, the same numbers on every machine.

#include "engine/reduction/snapshots/sampling.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <random>
#include <set>

#include "engine/reduction/pipeline.hpp"
#include "engine/reduction/snapshots/plans.hpp"
#include "tests/engine/bodies/reduced_bodies.hpp"

namespace supple {
namespace {

// A robot of cables with these ranges and samples.
Robot robot_of(const std::vector<std::pair<Interval, int>>& actuators) {
  Robot robot;
  for (const auto& [range, samples] : actuators) {
    ActuatorRow cable;
    cable.range = range;
    cable.samples = samples;
    robot.actuators.push_back(cable);
  }
  return robot;
}

Robot diamond() {
  return robot_of(std::vector<std::pair<Interval, int>>(4, {{0, 0.04}, 2}));
}

TEST(GrayGrid, VisitsEveryPointOnceByOneStep) {
  const Robot robot = robot_of({{{0, 1}, 2}, {{-1, 1}, 5}, {{2, 8}, 3}, {{0, 3}, 4}});
  const std::vector<Sample> grid = gray_grid(robot);
  ASSERT_EQ(static_cast<double>(grid.size()), grid_size(robot));
  EXPECT_EQ(grid.size(), 120U);
  std::set<std::vector<int>> seen;
  std::vector<int> before;
  for (const Sample& sample : grid) {
    std::vector<int> digit;
    for (std::size_t i = 0; i < sample.size(); ++i) {
      const ActuatorRow& cable = robot.actuators[i];
      const double position =
          (sample[i] - cable.range.lower) / (cable.range.upper - cable.range.lower) * (cable.samples - 1);
      digit.push_back(static_cast<int>(std::lround(position)));
      EXPECT_NEAR(position, digit.back(), 1e-12);
      EXPECT_GE(sample[i], cable.range.lower);
      EXPECT_LE(sample[i], cable.range.upper);
    }
    EXPECT_TRUE(seen.insert(digit).second);
    if (!before.empty()) {
      int steps = 0;
      for (std::size_t i = 0; i < digit.size(); ++i) steps += std::abs(digit[i] - before[i]);
      EXPECT_EQ(steps, 1);
    }
    before = digit;
  }
  EXPECT_EQ(grid.front(), (Sample{0, -1, 2, 0}));  // it begins with every actuator at its lower end
}

TEST(GrayGrid, SizeDoesNotOverflow) {
  EXPECT_DOUBLE_EQ(grid_size(robot_of(std::vector<std::pair<Interval, int>>(40, {{0, 1}, 10}))), 1e40);
}

TEST(SamplingPlan, DiamondOfThePaper) {
  // Figure 1 and Algorithm 1: 2^4 corners, 15 edges of nine increments, and the start.
  ReductionScene recipe;
  recipe.sampling = SamplingKind::grid;
  recipe.sweep_steps = 9;
  const SamplingPlan plan = make_plan(diamond(), recipe);
  EXPECT_EQ(plan.kind, "grid");
  EXPECT_TRUE(plan.note.empty());
  ASSERT_EQ(plan.paths.size(), 1U);
  EXPECT_EQ(plan.states(), 136);
  const std::vector<Sample>& samples = plan.paths[0].samples;
  for (std::size_t k = 1; k < samples.size(); ++k) {
    double distance = 0;
    for (std::size_t i = 0; i < 4; ++i) distance += std::abs(samples[k][i] - samples[k - 1][i]);
    EXPECT_NEAR(distance, 0.04 / 9, 1e-15);
  }
  const std::vector<Sample> grid = gray_grid(diamond());
  for (std::size_t k = 0; k < grid.size(); ++k) EXPECT_EQ(samples[9 * k], grid[k]);  // exactly, not by rounding
}

TEST(SamplingPlan, GridAboveTheBudgetFallsBackAndSaysSo) {
  ReductionScene recipe;
  recipe.sampling = SamplingKind::grid;
  recipe.budget = 15;
  recipe.states = 20;
  recipe.corners = false;
  const SamplingPlan plan = make_plan(diamond(), recipe);
  EXPECT_EQ(plan.kind, "latin-hypercube");
  EXPECT_NE(plan.note.find("16"), std::string::npos) << plan.note;
  EXPECT_NE(plan.note.find("15"), std::string::npos) << plan.note;
  EXPECT_EQ(plan.states(), 20);
  recipe.budget = 16;
  EXPECT_EQ(make_plan(diamond(), recipe).kind, "grid");
  recipe.sampling = SamplingKind::latin_hypercube;  // what was asked for needs no note
  EXPECT_TRUE(make_plan(diamond(), recipe).note.empty());
}

TEST(LatinHypercube, HasOneSamplePerStratum) {
  const Robot robot = robot_of({{{0, 1}, 2}, {{-3, 5}, 2}, {{1e-3, 2e-3}, 2}});
  for (const int count : {1, 2, 17, 100}) {
    const std::vector<Sample> samples = latin_hypercube(robot, count, 3);
    ASSERT_EQ(samples.size(), static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < robot.actuators.size(); ++i) {
      const Interval range = robot.actuators[i].range;
      std::set<int> strata;
      for (const Sample& sample : samples)
        strata.insert(static_cast<int>((sample[i] - range.lower) / (range.upper - range.lower) * count));
      EXPECT_EQ(strata.size(), samples.size());
      EXPECT_GE(*strata.begin(), 0);
      EXPECT_LT(*strata.rbegin(), count);
    }
  }
}

TEST(LatinHypercube, ActuatorsAreIndependent) {
  const int count = 2000;
  const std::vector<Sample> samples = latin_hypercube(robot_of({{{-1, 1}, 2}, {{-1, 1}, 2}}), count, 11);
  double product = 0, square = 0;
  for (const Sample& s : samples) {
    product += s[0] * s[1] / count;
    square += s[0] * s[0] / count;
  }
  EXPECT_NEAR(square, 1.0 / 3, 1e-3);  // stratified: far better than 1 / sqrt(count)
  // Correlation of independent permutations: standard deviation 1 / sqrt(count) of the variance; four of them.
  EXPECT_NEAR(product, 0, 4 / std::sqrt(count) / 3);
}

// mt19937_64's published numbers, the top 53 bits of each; every machine must draw these.
TEST(Draws, AreTheSameEverywhere) {
  std::mt19937_64 generator(5489);
  for (int k = 1; k < 10000; ++k) generator();
  ASSERT_EQ(generator(), 9981545732273789042ULL);  // the standard's check value
  const Robot robot = robot_of({{{0, 1}, 2}, {{0, 1}, 2}});
  const std::vector<Sample> draws = uniform_draws(robot, 3, 1);
  const double expected[] = {0.13387664401253263, 0.13640703636619722, 0.4512149038445381,
                             0.02102422841672702, 0.35089811378291946, 0.9113580479111768};
  for (std::size_t k = 0; k < 6; ++k) EXPECT_EQ(draws[k / 2][k % 2], expected[k]);
  const std::vector<Sample> cube = latin_hypercube(robot, 3, 1);
  const double strata[] = {0.4837383012815127,  0.3581416800237222,  0.6736747428055757,
                           0.18994904956736555, 0.11696603792763982, 0.8784104061045787};
  for (std::size_t k = 0; k < 6; ++k) EXPECT_EQ(cube[k / 2][k % 2], strata[k]);
  EXPECT_EQ(uniform_draws(robot, 3, 1), draws);
  EXPECT_NE(uniform_draws(robot, 3, 2), draws);
}

TEST(SamplingPlan, HypercubePathsAreAShortWalk) {
  ReductionScene recipe;
  recipe.states = 100;
  recipe.corners = false;
  recipe.seed = 5;
  const Robot robot = diamond();
  const SamplingPlan plan = make_plan(robot, recipe);
  EXPECT_EQ(plan.states(), 100);
  std::vector<Sample> walk, cube = latin_hypercube(robot, 100, 5);
  for (const SamplePath& path : plan.paths) {
    EXPECT_LE(path.samples.size(), plan.paths.front().samples.size());
    walk.insert(walk.end(), path.samples.begin(), path.samples.end());
  }
  const auto length = [](const std::vector<Sample>& samples) {
    double sum = 0;
    for (std::size_t k = 1; k < samples.size(); ++k) {
      double d = 0;
      for (std::size_t i = 0; i < 4; ++i) d += std::pow(samples[k][i] - samples[k - 1][i], 2);
      sum += std::sqrt(d);
    }
    return sum;
  };
  EXPECT_LT(length(walk), 0.7 * length(cube));
  std::sort(walk.begin(), walk.end());
  std::sort(cube.begin(), cube.end());
  EXPECT_EQ(walk, cube);  // the same samples, in another order
}

TEST(SamplingPlan, CornersAreAmongTheSamples) {
  ReductionScene recipe;
  recipe.states = 30;
  recipe.corners = true;
  const SamplingPlan plan = make_plan(diamond(), recipe);
  EXPECT_EQ(plan.states(), 30 + 16);
  EXPECT_EQ(plan.paths.front().samples.front(), (Sample{0, 0, 0, 0}));  // all released: the walk begins there
  std::set<Sample> corners;
  for (const SamplePath& path : plan.paths)
    for (const Sample& sample : path.samples)
      if (std::all_of(sample.begin(), sample.end(), [](double x) { return x == 0 || x == 0.04; }))
        corners.insert(sample);
  EXPECT_EQ(corners.size(), 16U);
  // An actuator that pushes and pulls is released within its range: one state more, and the walk begins there.
  const SamplingPlan both_ways = make_plan(robot_of({{{-1, 2}, 2}, {{0, 1}, 2}, {{0.5, 1}, 2}}), recipe);
  EXPECT_EQ(both_ways.states(), 30 + 8 + 1);
  EXPECT_EQ(both_ways.paths.front().samples.front(), (Sample{0, 0, 0.5}));
  // 2^7 corners would be more than the states: none of them.
  const Robot seven = robot_of(std::vector<std::pair<Interval, int>>(7, {{0, 1}, 2}));
  EXPECT_EQ(make_plan(seven, recipe).states(), 30);
}

// Two cables that end in the body, on a base that slides.
Robot sliding() {
  Robot robot = robot_of({{{0, 1}, 2}, {{0, 2}, 3}});
  robot.motions = {{"slide", {{0, 0, 1}}, {0.01, 0.03}, true}};
  return robot;
}

TEST(Motions, ThatCarryTheRobotAlongAreNotTrainedButTested) {
  const Robot robot = sliding();
  ReductionScene recipe;
  recipe.states = 20;
  recipe.validation_states = 20;
  const SamplingPlans plans = make_plans(robot, recipe);
  EXPECT_EQ(plans.training.states(), 20 + 4);  // corners of the cables alone
  for (const SamplePath& path : plans.training.paths)
    for (const Sample& sample : path.samples) {
      ASSERT_EQ(sample.size(), 3U);
      EXPECT_EQ(sample[2], 0.01);  // the end of its range that is nearest to rest
    }
  std::set<double> moved;
  for (const SamplingPlan* plan : {&plans.selection, &plans.test})
    for (const SamplePath& path : plan->paths) moved.insert(path.samples[0][2]);
  EXPECT_EQ(moved.size(), 30U);
  EXPECT_GE(*moved.begin(), 0.01);
  EXPECT_LE(*moved.rbegin(), 0.03);
  EXPECT_EQ(grid_size(robot), 6);
  EXPECT_EQ(gray_grid(robot).size(), 6U);
  const Control control = control_of(robot, {0.5, 1.5, 0.02});
  EXPECT_EQ(control.commands, (std::vector<double>{0.5, 1.5}));
  EXPECT_EQ(control.motions, (std::vector<double>{0.02}));
}

TEST(Motions, ThatChangeEquilibriaAreTrained) {
  std::vector<Robot> robots(4, sliding());
  robots[0].motions[0].rigid = false;                       // it strains the body
  robots[1].actuators[1].pull_point = Vec3d{{0, 0, 1}};     // a cable to a point fixed in space
  robots[2].actuators[0].kind = ActuatorKind::force;        // a displacement in space
  robots[3].actuators[0].control = ActuatorControl::force;  // not by itself
  robots[3].actuators[0].kind = ActuatorKind::force;
  for (std::size_t k = 0; k < robots.size(); ++k) {
    const bool trained = k < 3;
    EXPECT_EQ(grid_size(robots[k]), trained ? 12 : 6) << k;
    std::set<double> values;
    for (const Sample& sample : latin_hypercube(robots[k], 10, 1)) values.insert(sample[2]);
    EXPECT_EQ(values.size(), trained ? 10U : 1U) << k;
  }
}

TEST(SamplingPlans, TrainingSelectionAndTestAreDisjoint) {
  for (const SamplingKind kind :
       {SamplingKind::latin_hypercube, SamplingKind::grid, SamplingKind::random_paths, SamplingKind::greedy}) {
    ReductionScene recipe;
    recipe.sampling = kind;
    recipe.states = 60;
    recipe.validation_states = 40;
    const SamplingPlans plans = make_plans(diamond(), recipe);
    EXPECT_EQ(plans.test.states(), 40);
    EXPECT_EQ(plans.selection.states(), 20);
    std::set<Sample> all;
    int states = 0;
    for (const SamplingPlan* plan : {&plans.training, &plans.selection, &plans.test}) {
      states += plan->states();
      for (const SamplePath& path : plan->paths)
        for (const Sample& sample : path.samples) {
          all.insert(sample);
          for (double x : sample) {
            EXPECT_GE(x, 0);
            EXPECT_LE(x, 0.04);
          }
        }
    }
    EXPECT_EQ(static_cast<int>(all.size()), states);
    // Validation starts every state from rest, so that no state profits from its neighbour.
    for (const SamplePath& path : plans.test.paths) EXPECT_EQ(path.samples.size(), 1U);
    for (const SamplePath& path : plans.selection.paths) EXPECT_EQ(path.samples.size(), 1U);
  }
}

// A crawler is trained along its gait: the gait, and variations of it that are others in every set.
TEST(SamplingPlans, FollowCommandsOverTime) {
  const reduced_bodies::TemporaryFolder folder;
  std::ofstream(folder / "gait.csv") << "time [s],a [mm],b [mm]\n0,5,0\n0.1,5,30\n0.2,25,0\n";
  Robot robot = robot_of({{{0, 0.04}, 2}, {{0, 0.031}, 2}});
  robot.actuators[0].name = "a";
  robot.actuators[1].name = "b";
  robot.time_step = 0.01;
  ReductionScene recipe;
  recipe.along.file = folder / "gait.csv";
  EXPECT_THROW((void)make_plans(robot, recipe), InputError);  // equilibria are what a held robot is trained on
  robot.floating = true;
  robot.collision_points = 1;
  robot.obstacles.push_back({"floor", Obstacle::plane(), {}, 0.5});
  const SamplingPlans plans = make_plans(robot, recipe);
  EXPECT_EQ(plans.training.paths.size(), 3U);
  EXPECT_EQ(plans.test.paths.size(), 2U);
  EXPECT_EQ(plans.selection.paths.size(), 1U);
  EXPECT_FALSE(can_double(plans.training));
  std::set<double> at_end, at_middle;
  for (const SamplingPlan* plan : {&plans.training, &plans.test, &plans.selection}) {
    EXPECT_FALSE(plan->converged);
    for (const SamplePath& path : plan->paths) {
      EXPECT_TRUE(path.friction);
      ASSERT_EQ(path.samples.size(), 20U);
      EXPECT_NEAR(path.samples[4][0], 0.005, 1e-12);  // its first value does not vary
      EXPECT_LE(std::abs(path.samples[19][0] - 0.025), 0.1 * 0.020 + 1e-12);
      EXPECT_LE(path.samples[9][1], 0.031);  // cut to its range
      at_end.insert(path.samples[19][0]);
      at_middle.insert(path.samples[4][1]);
    }
  }
  EXPECT_EQ(at_end.size(), 6U);
  EXPECT_EQ(at_middle.size(), 6U);
  const Sample& first = plans.training.paths[0].samples[9];
  EXPECT_NEAR(first[0], 0.005, 1e-15);
  EXPECT_NEAR(first[1], 0.030, 1e-15);
  std::ofstream(folder / "still.csv") << "time [s],a [mm]\n0,5\n0.1,5\n";
  recipe.along.file = folder / "still.csv";
  EXPECT_THROW((void)make_plans(robot, recipe), InputError);
}

ReductionScene recipe_of(SamplingKind kind, int states) {
  ReductionScene recipe;
  recipe.sampling = kind;
  recipe.states = states;
  recipe.corners = false;
  return recipe;
}

std::vector<Sample> samples_of(const SamplingPlan& plan) {
  std::vector<Sample> samples;
  for (const SamplePath& path : plan.paths) samples.insert(samples.end(), path.samples.begin(), path.samples.end());
  return samples;
}

TEST(RandomPaths, CoverTheBoxAndItsFacesEvenly) {
  const Robot robot = robot_of({{{0, 0.04}, 2}, {{-1, 2}, 2}, {{3, 4}, 2}});
  ReductionScene recipe = recipe_of(SamplingKind::random_paths, 300);
  const SamplingPlan plan = make_plan(robot, recipe);
  EXPECT_EQ(plan.kind, "random-paths");
  EXPECT_TRUE(plan.converged);
  EXPECT_EQ(plan.states(), 300);
  EXPECT_EQ(plan.paths.size(), 38U);  // of eight
  const std::vector<Sample> samples = samples_of(plan);
  for (std::size_t i = 0; i < 3; ++i) {
    const Interval range = robot.actuators[i].range;
    int quarter[4] = {}, ends = 0;
    for (const Sample& sample : samples) {
      const double x = (sample[i] - range.lower) / (range.upper - range.lower);
      ASSERT_GE(sample[i], range.lower);
      ASSERT_LE(sample[i], range.upper);
      ++quarter[std::min(3, static_cast<int>(4 * x))];
      ends += x < 0.02 || x > 0.98;
    }
    // A triangle is in each quarter a quarter of its time, and 4 % of it that near to the ends; round corners stay
    // there a little longer. A sine: a third, a sixth, a sixth, a third; 18 %.
    for (const int count : quarter) EXPECT_NEAR(count / 300.0, 0.25, 0.05);
    EXPECT_GT(ends, 0.04 * 300);
    EXPECT_LT(ends, 0.14 * 300);
  }
  EXPECT_EQ(samples_of(make_plan(robot, recipe)), samples);
  ++recipe.seed;
  EXPECT_NE(samples_of(make_plan(robot, recipe)), samples);
}

TEST(RandomPaths, GoOnWhereTheyWere) {
  const Robot robot = robot_of(std::vector<std::pair<Interval, int>>(4, {{0, 1}, 2}));
  const std::vector<Sample> samples = samples_of(make_plan(robot, recipe_of(SamplingKind::random_paths, 40)));
  double largest = 0;
  for (std::size_t k = 1; k < samples.size(); ++k)
    for (std::size_t i = 0; i < 4; ++i) largest = std::max(largest, std::abs(samples[k][i] - samples[k - 1][i]));
  // The whole range in 3 / 1.4 states at the quickest, a round wave a fifth faster in its middle.
  EXPECT_LT(largest, 1.4 / 3 * 1.25);
  EXPECT_GT(largest, 1.0 / 3);
  ReductionScene with_corners = recipe_of(SamplingKind::random_paths, 40);
  with_corners.corners = true;
  EXPECT_EQ(make_plan(robot, with_corners).states(), 40 + 16);
}

TEST(RandomPaths, InTimeAreSmoothAndBeginAtRest) {
  Robot robot = robot_of(std::vector<std::pair<Interval, int>>(3, {{0, 2}, 2}));
  robot.floating = true;
  robot.obstacles.push_back({"floor", Obstacle::plane(), {}, 0});
  robot.collision_points = 3;
  ReductionScene recipe = recipe_of(SamplingKind::random_paths, 20);
  recipe.sweep_steps = 10;
  const SamplingPlan plan = make_plan(robot, recipe);
  EXPECT_FALSE(plan.converged);
  ASSERT_EQ(plan.paths.size(), 3U);
  EXPECT_EQ(plan.states(), 20 * 10);
  double farthest = 0;
  for (const SamplePath& path : plan.paths) {
    Sample before = released_sample(robot);
    for (const Sample& sample : path.samples) {
      for (std::size_t i = 0; i < 3; ++i) {
        // The range in 30 steps, or 30 / 1.4; fading in adds as much.
        EXPECT_LT(std::abs(sample[i] - before[i]), 2 * 2 * 1.4 / 30 * 1.25);
        farthest = std::max(farthest, sample[i]);
      }
      before = sample;
    }
  }
  EXPECT_GT(farthest, 1.9);
}

TEST(Doublings, FollowThePlanOfFewer) {
  const Robot robot = diamond();
  for (const SamplingKind kind : {SamplingKind::latin_hypercube, SamplingKind::random_paths}) {
    ReductionScene recipe = recipe_of(kind, 20);
    recipe.corners = true;
    recipe.trajectories = 1;
    std::vector<SamplingPlan> plans;
    for (const int doublings : {0, 1, 2}) {
      recipe.doublings = doublings;
      plans.push_back(make_plan(robot, recipe));
      // Corners are there once.
      EXPECT_EQ(plans.back().states(), (20 + 80) * (1 << doublings) + 16);
      EXPECT_TRUE(can_double(plans.back()));
    }
    std::set<Sample> seen;
    for (const Sample& sample : samples_of(plans[2])) EXPECT_TRUE(seen.insert(sample).second);
    for (const SamplingPlan& fewer : {plans[0], plans[1]})
      for (std::size_t k = 0; k < fewer.paths.size(); ++k) {
        EXPECT_EQ(fewer.paths[k].samples, plans[2].paths[k].samples);
        EXPECT_EQ(fewer.paths[k].in_time, plans[2].paths[k].in_time);
      }
  }
  // The first hypercube alone is the plan that it was before there were doublings.
  ReductionScene recipe = recipe_of(SamplingKind::latin_hypercube, 20);
  std::vector<Sample> first = latin_hypercube(robot, 20, recipe.seed);
  order_by_walk(robot, first);
  EXPECT_EQ(samples_of(make_plan(robot, recipe)), first);
  recipe.doublings = 1;
  for (const SamplingKind kind : {SamplingKind::grid, SamplingKind::greedy}) {
    recipe.sampling = kind;
    EXPECT_THROW((void)make_plan(robot, recipe), InputError);
  }
}

TEST(GreedyPlan, BeginsAlikeForAnyNumberOfStates) {
  const Robot robot = diamond();
  const SamplingPlan few = make_plan(robot, recipe_of(SamplingKind::greedy, 60)),
                     many = make_plan(robot, recipe_of(SamplingKind::greedy, 600));
  EXPECT_EQ(few.kind, "greedy");
  EXPECT_EQ(few.states(), 32);  // eight for each cable
  EXPECT_EQ(samples_of(few), samples_of(many));
  EXPECT_EQ(few.most_states, 60);
  EXPECT_EQ(many.most_states, 600);
  ReductionScene with_corners = recipe_of(SamplingKind::greedy, 60);
  with_corners.corners = true;
  EXPECT_EQ(make_plan(robot, with_corners).states(), 32 + 16);
  EXPECT_EQ(make_plan(robot, with_corners).most_states, 60 + 16);
  EXPECT_EQ(make_plan(robot, recipe_of(SamplingKind::greedy, 20)).states(), 20);
  EXPECT_EQ(make_plan(robot, recipe_of(SamplingKind::latin_hypercube, 20)).most_states, 0);
}

TEST(GreedyPlan, IsRefusedWhereThereAreNoEquilibria) {
  Robot robot = diamond();
  ReductionScene recipe = recipe_of(SamplingKind::greedy, 60);
  recipe.place = {"scene.toml", 7, 1, "sampling = \"greedy\""};
  recipe.converged = false;
  const auto line_of_error = [&] {
    try {
      (void)make_plan(robot, recipe);
    } catch (const InputError& error) {
      return error.place().line;
    }
    return -1;
  };
  EXPECT_EQ(line_of_error(), 7);
  recipe.converged = true;
  EXPECT_EQ(line_of_error(), -1);
  robot.floating = true;
  robot.obstacles.push_back({"floor", Obstacle::plane(), {}, 0});
  robot.collision_points = 3;
  EXPECT_EQ(line_of_error(), 7);
}

TEST(NearestSample, CountsRangesNotUnits) {
  const Robot robot = robot_of({{{0, 1}, 2}, {{0, 1000}, 2}});
  const std::vector<InputRange> inputs = training_ranges(robot);
  const std::vector<Sample> samples{{0.5, 0}, {0, 300}, {0, 300}};
  EXPECT_EQ(nearest_sample(inputs, samples, {0, 0}), 1);  // 0.3 of a range against half of one; the first of two
  EXPECT_EQ(nearest_sample(inputs, samples, {0.5, 200}), 0);
}

// A robot that lies loose among obstacles is led from each state to the next.
TEST(SamplingPlan, LooseRobotsAreShakenAlongRamps) {
  Robot robot = robot_of(std::vector<std::pair<Interval, int>>(5, {{0, 2e4}, 2}));
  robot.floating = true;
  EXPECT_FALSE(shaken_in_time(robot));
  robot.obstacles.push_back({"floor", Obstacle::plane(), {}, 0});
  robot.collision_points = 3;
  ASSERT_TRUE(shaken_in_time(robot));
  ReductionScene recipe;
  recipe.sampling = SamplingKind::grid;
  recipe.sweep_steps = 15;
  const SamplingPlan grid = make_plan(robot, recipe);
  EXPECT_FALSE(grid.converged);
  ASSERT_EQ(grid.paths.size(), 1U);
  EXPECT_EQ(grid.states(), 31 * 15 + 1);  // Goury & Duriez 2018, section V

  recipe.sampling = SamplingKind::latin_hypercube;
  recipe.states = 20;
  recipe.corners = false;
  const SamplingPlan plan = make_plan(robot, recipe);
  EXPECT_FALSE(plan.converged);
  ASSERT_EQ(plan.paths.size(), 3U);
  EXPECT_EQ(plan.states(), 20 * 15);
  const auto friction = [&](ShakingFriction kind) {
    recipe.friction = kind;
    const SamplingPlans plans = make_plans(robot, recipe);
    std::string of_paths;
    for (const SamplingPlan* each : {&plans.training, &plans.test}) {
      for (const SamplePath& path : each->paths) of_paths += path.friction ? '1' : '0';
      of_paths += ' ';
    }
    return of_paths;
  };
  recipe.validation_states = 20;
  robot.obstacles[0].friction = 0;
  EXPECT_EQ(friction(ShakingFriction::none), "000 000 ");
  const auto refused = [&](const std::string& why) {
    recipe.friction = ShakingFriction::own;
    try {
      (void)make_plan(robot, recipe);
    } catch (const InputError& error) {
      return std::string(error.what()).find(why) != std::string::npos && error.place().line == 7;
    }
    return false;
  };
  recipe.friction_place = {"scene.toml", 7, 1, ""};
  EXPECT_TRUE(refused("no obstacle has friction"));
  // The exam is the same whatever was learnt from.
  robot.obstacles[0].friction = 0.5;
  EXPECT_EQ(friction(ShakingFriction::none), "000 111 ");
  EXPECT_EQ(friction(ShakingFriction::own), "111 111 ");
  // Every fifth state: the same three parts of each ramp.
  recipe.elements_every = 5;
  recipe.elements_every_place = recipe.friction_place;
  EXPECT_TRUE(refused("elements_every = 5 and sweep_steps = 15 have a common factor"));
  recipe.elements_every = 4;
  EXPECT_EQ(friction(ShakingFriction::own), "111 111 ");

  // Equilibria have none.
  robot.obstacles.clear();
  EXPECT_TRUE(refused("equilibria with friction depend on the way"));
  recipe.friction = ShakingFriction::none;
  const SamplingPlan ends = make_plan(robot, recipe);
  for (std::size_t k = 0; k < 3; ++k) {
    const std::vector<Sample>& way = plan.paths[k].samples;
    Sample before = released_sample(robot);
    for (std::size_t s = 0; s < way.size(); ++s) {
      const Sample& end = ends.paths[k].samples[s / 15];
      for (std::size_t i = 0; i < 5; ++i)
        EXPECT_NEAR(way[s][i], before[i] + static_cast<double>(s % 15 + 1) / 15 * (end[i] - before[i]), 1e-8);
      if (s % 15 == 14) {
        EXPECT_EQ(way[s], end);
        before = end;
      }
    }
  }
}

}  // namespace
}  // namespace supple
