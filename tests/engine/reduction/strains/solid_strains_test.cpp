// Solids by modes of their strains: forces and stiffness of modes, the fit to forces, whole reductions, refusals.

#include "engine/reduction/strains/solid_strains.hpp"

#include <gtest/gtest.h>
#include <omp.h>

#include <cmath>

#include "engine/io/model_file.hpp"
#include "engine/mechanics/reduced/step_work.hpp"
#include "engine/mechanics/reduced/strain_forces.hpp"
#include "engine/reduction/pipeline.hpp"
#include "engine/reduction/strains/strain_fit.hpp"
#include "kernels/base/extent.hpp"
#include "tests/engine/bodies/reduced_bodies.hpp"

namespace supple {
namespace {

StrainModes random_modes(int count, int n, bool single) {
  StrainModes modes;
  modes.count = count;
  modes.linear = boxes::random_vector(count * n, 1);
  modes.quadratic = boxes::random_vector(count * n * (n + 1) / 2, 1);
  if (single)
    for (double& q : modes.quadratic) q = static_cast<double>(static_cast<float>(q));
  return modes;
}

// By the formula, in the order in which it stands.
struct Formula {
  std::vector<double> s, f, K, geometric;
  Formula(const StrainModes& modes, int n, const std::vector<double>& x)
      : f(extent(n), 0.0), K(extent(n, n), 0.0), geometric(extent(n, n), 0.0) {
    const std::size_t pairs = extent(n, n + 1) / 2;
    for (int k = 0; k < modes.count; ++k) {
      const auto Q = [&](int i, int j) {
        const int a = std::max(i, j), b = std::min(i, j);
        return modes.quadratic[extent(k) * pairs + extent(a, a + 1) / 2 + extent(b)];
      };
      std::vector<double> W(extent(n));
      double value = 0;
      for (int i = 0; i < n; ++i) {
        W[extent(i)] = modes.linear[extent(k, n) + extent(i)];
        value += W[extent(i)] * x[extent(i)];
        for (int j = 0; j < n; ++j) {
          W[extent(i)] += Q(i, j) * x[extent(j)];
          value += 0.5 * x[extent(i)] * Q(i, j) * x[extent(j)];
        }
      }
      s.push_back(value);
      for (int i = 0; i < n; ++i) {
        f[extent(i)] += W[extent(i)] * value;
        for (int j = 0; j < n; ++j) {
          K[extent(i, n) + extent(j)] += W[extent(i)] * W[extent(j)] + value * Q(i, j);
          geometric[extent(i, n) + extent(j)] += value * Q(i, j);
        }
      }
    }
  }
};

// Numbers of modes and columns that fill groups and vectors, and that do not; in both precisions of Q.
TEST(StrainForces, AreThoseOfTheFormula) {
  for (const int n : {1, 6, 7, 16, 33})
    for (const int count : {1, 4, 9})
      for (const bool single : {false, true}) {
        const StrainModes modes = random_modes(count, n, single);
        const std::vector<double> x = boxes::random_vector(n, 1);
        const Formula expected(modes, n, x);
        const StrainForces forces(modes, n);
        StrainScratch scratch;
        forces.reserve(scratch);
        const double e = 1.5;
        forces.evaluate(x.data(), e, StrainForces::Tangent::set, scratch);
        std::vector<double> geometric(extent(n, n + 1) / 2, 0.0);
        forces.add_geometric(scratch.s.data(), e, geometric.data());
        // Sums of at most 9 * 33 * 33 products of numbers of size one, in another order.
        const double rounding = 1e-12 * (1 + boxes::norm(expected.K));
        for (int k = 0; k < count; ++k) EXPECT_NEAR(scratch.s[extent(k)], expected.s[extent(k)], rounding);
        for (int i = 0; i < n; ++i) {
          EXPECT_NEAR(scratch.f[extent(i)], e * expected.f[extent(i)], rounding);
          EXPECT_GE(scratch.magnitude[extent(i)], std::abs(scratch.f[extent(i)]) - rounding);
          for (int j = 0; j <= i; ++j) {
            EXPECT_NEAR(scratch.K[extent(i, StrainForces::row(n)) + extent(j)],
                        e * expected.K[extent(i, n) + extent(j)], rounding);
            EXPECT_NEAR(geometric[extent(i, i + 1) / 2 + extent(j)], e * expected.geometric[extent(i, n) + extent(j)],
                        rounding);
          }
        }
      }
}

// Forces of modes that there are: from modes nearby the fit finds forces a hundred times nearer.
TEST(StrainFit, FindsModesThatMakeTheForces) {
  constexpr int n = 4, states = 40, motions = 3, count = 5;
  const auto random = [](int rows, int columns, double size) {
    const std::vector<double> values = boxes::random_vector(rows * columns, size);
    return Eigen::MatrixXd(Eigen::Map<const Eigen::MatrixXd>(values.data(), rows, columns));
  };
  ForceSamples samples{.columns = n,
                       .rows = n,
                       .states = states,
                       .weights = std::vector<double>(motions, 10.0),
                       .own = std::vector<double>(states, 1.0),
                       .x = {},
                       .force = {},
                       .metric = {},
                       .spread = Eigen::VectorXd::Constant(n, 0.5)};
  samples.x = random(n, samples.samples(), 1);
  for (int k = 0; k < states; ++k) {
    for (int m = 1; m <= motions; ++m)
      samples.x.col(k * (1 + motions) + m) =
          samples.x.col(k * (1 + motions)) + 0.01 * samples.x.col(k * (1 + motions) + m);
    for (int i = 0; i < n * n; ++i) samples.metric.push_back(i % (n + 1) == 0 ? 0.1 : 0.01);
  }
  const Eigen::MatrixXd truth = random(count, feature_count(n), 1);
  const auto force = [&](const Eigen::VectorXd& x) {
    Eigen::VectorXd above(feature_count(n)), below(feature_count(n)), f(n);
    for (int i = 0; i < n; ++i) {
      const double h = 1e-5;
      Eigen::VectorXd moved = x;
      moved(i) += h;
      strain_features(moved.data(), n, above.data());
      moved(i) -= 2 * h;
      strain_features(moved.data(), n, below.data());
      f(i) = ((truth * above).squaredNorm() - (truth * below).squaredNorm()) / (4 * h) / samples.spread(i);
    }
    return f;
  };
  samples.force.resize(n, samples.samples());
  for (int k = 0; k < states; ++k) {
    const int first = k * (1 + motions);
    samples.force.col(first) = force(samples.x.col(first));
    for (int m = 1; m <= motions; ++m)
      samples.force.col(first + m) = force(samples.x.col(first + m)) - samples.force.col(first);
  }
  EXPECT_LT(force_misfit(samples, truth), 1e-7);  // central differences
  const Eigen::MatrixXd start = truth + random(count, feature_count(n), 0.05);
  int steps = 0;
  const Eigen::MatrixXd found = fit_forces(
      samples, start, start, 1e-6, [&](int, double) { ++steps; }, [] {});
  EXPECT_GT(steps, 0);
  EXPECT_LT(force_misfit(samples, found), 0.01 * force_misfit(samples, start));
}

class SolidStrainPipeline : public testing::Test {
 protected:
  explicit SolidStrainPipeline(const boxes::Law& law = {"corotational", MaterialModel::corotational})
      : scene_(reduced_bodies::saved_bar(folder_, law, false)) {
    scene_.reduction.solids = FieldForm::strains;
    scene_.reduction.max_modes = 3;
    scene_.reduction.states = 40;
    settings_.snapshots.folder = folder_ / "states";
    settings_.dynamic_steps = 10;
    settings_.rate_seconds = 0.01;
  }
  Reduction reduced() { return reduce(scene_, build_full_model(scene_), settings_, {}); }
  void expect_refusal(const char* message) {
    try {
      (void)reduced();
      ADD_FAILURE() << message;
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find(message), std::string::npos) << error.what();
    }
  }
  reduced_bodies::TemporaryFolder folder_;
  Scene scene_;
  ReduceSettings settings_;
};

// All elements with the same modes, the second row of the table, are too stiff.
TEST_F(SolidStrainPipeline, ErrorsAreBelowThoseOfAllElements) {
  const Reduction found = reduced();
  ASSERT_EQ(found.model.fields.size(), 1u);
  const ReducedField& field = found.model.fields[0];
  EXPECT_GE(field.strains.count, found.model.modes);
  EXPECT_EQ(field.units(), 0);
  const ModelRow &all = found.report.table[1], &own = found.report.table.back();
  EXPECT_EQ(own.strain_modes, field.strains.count);
  EXPECT_GT(all.elements, 0);
  EXPECT_EQ(found.model.errors.failed, 0);
  RecordProperty("all_elements", std::to_string(all.errors.shape_mean));
  RecordProperty("strains", std::to_string(own.errors.shape_mean));
  EXPECT_LT(own.errors.shape_mean, 0.8 * all.errors.shape_mean);
  EXPECT_FALSE(found.report.dynamic.failed);
  // The same bits again, with another number of threads, and from a file.
  const int threads = omp_get_max_threads();
  omp_set_num_threads(threads == 1 ? 3 : 1);
  reduced_bodies::expect_same_model(reduced().model, found.model);
  omp_set_num_threads(threads);
  write_model(found.model, folder_ / "bar.rom.h5");
  reduced_bodies::expect_same_model(read_model(folder_ / "bar.rom.h5"), found.model);
}

TEST_F(SolidStrainPipeline, OfBothFormsTheCheaperOneIsTaken) {
  settings_.fastest_solids = true;
  const Reduction chosen = reduced();
  settings_.fastest_solids = false;
  const Reduction strains = reduced();
  scene_.reduction.solids = FieldForm::elements;
  const Reduction elements = reduced();
  ASSERT_LT(reduced_step_work(strains.model).total(), reduced_step_work(elements.model).total());
  ASSERT_LT(strains.model.errors.shape_mean, elements.model.errors.shape_mean);
  reduced_bodies::expect_same_model(chosen.model, strains.model);
  EXPECT_NE(chosen.report.notes.back().find("solids by strain modes; by elements"), std::string::npos);
  // Where strain modes are not supported those of elements are returned, and the reason.
  scene_.bodies[0].materials[0].retardation = 0.01;
  settings_.snapshots.folder = folder_ / "viscous states";
  const Reduction alone = reduced();
  settings_.fastest_solids = true;
  const Reduction same = reduced();
  reduced_bodies::expect_same_model(same.model, alone.model);
  EXPECT_NE(same.report.notes.back().find("materials are viscous"), std::string::npos);
}

// Inertia that holds a state in time is no elastic force.
TEST_F(SolidStrainPipeline, StatesInTimeAreNotTakenForEquilibria) {
  scene_.reduction.trajectories = 2;
  scene_.reduction.max_modes = 6;
  const Reduction found = reduced();
  EXPECT_EQ(found.model.errors.failed, 0);
  EXPECT_LT(found.model.errors.shape_mean, found.report.table[1].errors.shape_mean);
}

TEST_F(SolidStrainPipeline, MaterialsShareAFactor) {
  const ReducedModel model = reduced().model;
  ReducedMechanics mechanics(model);
  const std::vector<double> alpha = boxes::random_vector(model.modes, 1e-3);
  // Springs stay as they are.
  std::vector<std::vector<double>> f;
  for (const double scale : {1.0, 2.0, 3.0}) {
    Variations own;
    own.material_scale.assign(extent(model.regions()), scale);
    mechanics.set_variations(own);
    f.emplace_back(alpha.size());
    (void)mechanics.evaluate_forces(alpha, {}, TangentKind::none, f.back());
  }
  EXPECT_GT(boxes::norm(boxes::plus(f[1], -1, f[0])), 0.1 * boxes::norm(f[0]));
  for (std::size_t i = 0; i < alpha.size(); ++i)
    EXPECT_NEAR(f[2][i] - f[1][i], f[1][i] - f[0][i], 1e-12 * boxes::norm(f[2]));
}

TEST_F(SolidStrainPipeline, WhatItCannotDoIsRefused) {
  scene_.reduction.elements = 20;
  expect_refusal("in conflict with solids");
  scene_.reduction.elements = 0;
  scene_.bodies[0].materials[0].model = MaterialModel::corotational;
  scene_.bodies[0].materials[0].rotation = RotationKind::edge_frame;
  expect_refusal("rotations are those of edges");
}

class HyperelasticStrains : public SolidStrainPipeline {
 protected:
  HyperelasticStrains() : SolidStrainPipeline({"stable_neo_hookean", MaterialModel::stable_neo_hookean}) {}
};
TEST_F(HyperelasticStrains, ErrorsAreBelowThoseOfAllElements) {
  const Reduction found = reduced();
  EXPECT_EQ(found.model.errors.failed, 0);
  EXPECT_LT(found.model.errors.shape_mean, 1.0 * found.report.table[1].errors.shape_mean);
}

}  // namespace
}  // namespace supple
