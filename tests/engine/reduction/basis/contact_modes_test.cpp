// Contact modes: how much of the missing compliance they take away, that no others take more, and models with them.

#include "engine/reduction/basis/contact_modes.hpp"

#include <omp.h>

#include "engine/mechanics/full/full_mechanics.hpp"
#include "engine/reduction/basis/contact_compliance.hpp"
#include "engine/reduction/basis/metric.hpp"
#include "engine/reduction/basis/project.hpp"
#include "engine/reduction/basis/rest_response.hpp"
#include "engine/reduction/basis/rigid_motion.hpp"
#include "engine/reduction/pipeline.hpp"
#include "engine/scene/writer.hpp"
#include "tests/engine/bodies/contact_bodies.hpp"
#include "tests/engine/bodies/reduced_bodies.hpp"

namespace supple {
namespace {

using reduced_bodies::TemporaryFolder;

// A bar with a strut of commanded length and a rod in it; an obstacle out of reach.
FullModel bar(bool held = true) {
  Scene scene = reduced_bodies::bar_scene({"corotational", MaterialModel::corotational});
  scene.gravity = {{0, 0, 0}};
  scene.actuators.erase(scene.actuators.begin());
  if (!held) scene.bodies[0].fixes.clear();
  ConstraintScene rod;
  rod.name = "rod";
  rod.kind = ConstraintKind::distance;
  rod.points = {{{0.1, 0.03, 0.05}}, {{0.2, 0.06, 0.05}}};
  if (held) scene.constraints.push_back(rod);
  FullModel model = build_full_model(scene, reduced_bodies::bar(false));
  PlacedObstacle floor = contact_bodies::floor();
  floor.pose.position[2] = -1;
  contact_bodies::place_among(model, {floor});
  return model;
}

PointWeights equal_weights(const FullModel& model) {
  PointWeights weights;
  for (int k = 0; k < model.robot.collision_points; ++k) weights.point.push_back(model.robot.first_collision_point + k);
  weights.weight.assign(weights.point.size(), Mat3d::identity());
  return weights;
}

// sum_p tr(W_p C_p)
double weighted(const std::vector<double>& compliance, const PointWeights& weights) {
  double sum = 0;
  for (std::size_t p = 0; p < weights.weight.size(); ++p)
    for (int i = 0; i < 9; ++i) sum += weights.weight[p].m[i] * compliance[9 * p + static_cast<std::size_t>(i)];
  return sum;
}

double compliance_of(const FullModel& model, const std::vector<double>& basis, const PointWeights& weights) {
  const int modes = static_cast<int>(basis.size()) / model.coordinates.nv;
  const ReducedModel reduced = project(model, basis, modes, all_elements(model));
  ReducedMechanics mechanics(reduced);
  return weighted(point_compliance(mechanics), weights);
}

TEST(ContactModes, TakeAwayWhatTheySayAndNoOthersMore) {
  const FullModel model = bar();
  const int nv = model.coordinates.nv, modes = 8;
  const std::vector<double> basis = reduced_bodies::random_basis(nv, modes);
  // Some points are pressed along a normal, others not at all.
  PointWeights weights = equal_weights(model);
  for (std::size_t p = 0; p < weights.weight.size(); ++p) {
    const Vec3d normal = normalized(Vec3d{{0.1, p % 2 == 0 ? 0.3 : -0.2, 1}});
    weights.weight[p] = p % 3 == 0 ? Mat3d{} : (0.2 + 0.1 * static_cast<double>(p % 5)) * outer(normal, normal);
  }
  FullMechanics mechanics(model);
  const double full = weighted(point_compliance(mechanics), weights);
  double before = 1 - compliance_of(model, basis, weights) / full;
  for (const int count : {1, 3, 6}) {
    const ContactModes joined = join_contact_modes(model, basis, modes, weights, count);
    ASSERT_EQ(joined.count, count);
    EXPECT_LE(orthonormality_defect(joined.basis, nv, modes + count), 1e-12);
    EXPECT_TRUE(std::equal(basis.begin(), basis.end(), joined.basis.begin()));
    // Two systems of condition 1e4, and a difference of compliances.
    const double left = 1 - compliance_of(model, joined.basis, weights) / full;
    EXPECT_NEAR(joined.lacks, left, 1e-9);
    EXPECT_NEAR(joined.lacked, 1 - compliance_of(model, basis, weights) / full, 1e-9);
    EXPECT_LT(left, before);
    before = left;
    // No others take more: the contact modes a little astray.
    boxes::Random random;
    (void)random();  // or columns would be those that the basis is made of
    for (int trial = 0; trial < 4; ++trial) {
      std::vector<double> other = joined.basis;
      for (std::size_t i = basis.size(); i < other.size(); ++i) other[i] += 0.01 * random();
      for (int k = modes; k < modes + count; ++k) {
        const std::span<double> column =
            std::span(other).subspan(static_cast<std::size_t>(k * nv), static_cast<std::size_t>(nv));
        double length = 0;
        for (const double x : column) length += x * x;
        for (double& x : column) x /= std::sqrt(length);
      }
      const std::vector<double> astray = join_modes(basis, std::span<const double>(other).subspan(basis.size()), nv);
      // Measured: 0.05 to 0.15, for what is random is stiff.
      EXPECT_GT(1 - compliance_of(model, astray, weights) / full, left + 0.01);
    }
  }
}

TEST(ContactModes, AllOfThemShowAllOfContact) {
  const FullModel model = bar();
  const int nv = model.coordinates.nv, modes = 4;
  const std::vector<double> basis = reduced_bodies::random_basis(nv, modes);
  const PointWeights weights = equal_weights(model);
  const ContactModes joined = join_contact_modes(model, basis, modes, weights, 3 * model.robot.collision_points + 5);
  // Held lengths take directions away: there are fewer than forces.
  EXPECT_LE(joined.count, 3 * model.robot.collision_points);
  EXPECT_LT(joined.lacks, 1e-8);
  EXPECT_LE(orthonormality_defect(joined.basis, nv, modes + joined.count), 1e-12);
  FullMechanics mechanics(model);
  const ReducedModel reduced = project(model, joined.basis, modes + joined.count, all_elements(model));
  ReducedMechanics own(reduced);
  const std::vector<double> body = point_compliance(mechanics), same = point_compliance(own);
  double largest = 0;
  for (const double c : body) largest = std::max(largest, std::abs(c));
  for (std::size_t i = 0; i < body.size(); ++i) EXPECT_NEAR(same[i], body[i], 1e-7 * largest);
}

// Nothing holds the body: what the modes lack does not depend on the mass that takes the place of a support, and all
// contact modes leave nothing.
TEST(ContactModes, OfABodyThatNothingHoldsAreWithoutItsRigidMotion) {
  const FullModel model = bar(/*held=*/false);
  const int nv = model.coordinates.nv, modes = rigid_mode_count + 6;
  const std::vector<double> basis = join_modes(rigid_modes(model), reduced_bodies::random_basis(nv, 6), nv);
  const PointWeights weights = equal_weights(model);
  PointRows rows;
  for (int p = 0; p < model.robot.collision_points; ++p) rows.point.push_back(model.robot.first_collision_point + p);
  rows.frame.assign(rows.point.size(), Mat3d::identity());
  const auto trace = [&](const std::vector<double>& C) {
    double sum = 0;
    for (int i = 0; i < rows.rows(); ++i) sum += C[static_cast<std::size_t>(i * rows.rows() + i)];
    return sum;
  };
  const auto missing = [&](const std::vector<double>& of_basis, double shift, double& full) {
    const int count = static_cast<int>(of_basis.size()) / nv;
    const ReducedModel reduced = project(model, of_basis, count, all_elements(model));
    FullMechanics mechanics(model);
    ReducedMechanics own(reduced);
    full = trace(RestResponse(mechanics, shift).compliance(rows));
    return full - trace(RestResponse(own, shift).compliance(rows));
  };
  const double shift = lowest_frequency_squared(project(model, basis, modes, all_elements(model)));
  double full, less, least;
  // The rigid part of the compliance grows as the mass that stands for a support falls; what is missing does not. Far
  // below the body's own frequencies, that is: random modes are stiff, and `shift` is not.
  const double lacked_low = missing(basis, 1e-5 * shift, less);
  EXPECT_NEAR(missing(basis, 1e-7 * shift, least), lacked_low, 0.02 * lacked_low);
  EXPECT_GT(least, 50 * less);
  const double lacked = missing(basis, shift, full);
  const ContactModes some = join_contact_modes(model, basis, modes, weights, 3);
  ASSERT_EQ(some.count, 3);
  EXPECT_LE(orthonormality_defect(some.basis, nv, modes + 3), 1e-12);
  EXPECT_NEAR(some.lacked, lacked / full, 1e-9);
  EXPECT_NEAR(some.lacks, missing(some.basis, shift, full) / full, 1e-9);
  EXPECT_LT(some.lacks, some.lacked);
  const ContactModes all = join_contact_modes(model, basis, modes, weights, rows.rows());
  EXPECT_LT(all.lacks, 1e-8);
}

// The bar bent down on a peg by its cables, from scene to model.
class ContactModesOfAScene : public testing::Test {
 protected:
  ContactModesOfAScene()
      : scene_(reduced_bodies::saved_bar(folder_, {"corotational", MaterialModel::corotational}, false)) {
    ObstacleScene peg;
    peg.name = "peg";
    peg.shape = ObstacleShape::box;
    peg.size = {{0.1, 0.2, 0.04}};
    peg.friction = 0.3;
    peg.position = {{0.2, 0.05, -0.0195}};
    scene_.obstacles = {peg};
    scene_.reduction.states = 8;
    scene_.reduction.validation_states = 4;
  }
  Reduction reduced(int contact_modes, int threads = 2) {
    scene_.reduction.contact_modes = contact_modes;
    ReduceSettings settings;
    settings.snapshots.folder = folder_ / "states";
    settings.dynamic_steps = 5;
    settings.rate_seconds = 0.01;
    settings.tolerances = {0.02, 2e-3};
    const int before = omp_get_max_threads();
    omp_set_num_threads(threads);
    Reduction result = reduce(scene_, build_full_model(scene_), settings, {});
    omp_set_num_threads(before);
    return result;
  }
  TemporaryFolder folder_;
  Scene scene_;
};

TEST_F(ContactModesOfAScene, JoinTheOthersAndTheShareOutsideFalls) {
  const Reduction without = reduced(0), with = reduced(4), again = reduced(4, 1);
  EXPECT_EQ(without.model.provenance.scene_text.find("contact_modes"), std::string::npos);
  EXPECT_NE(with.model.provenance.scene_text.find("contact_modes = 4"), std::string::npos);
  EXPECT_EQ(with.model.modes, without.model.modes + 4);
  EXPECT_EQ(with.report.table[1].modes, with.model.modes);
  reduced_bodies::expect_same_model(with.model, again.model);
  const auto told = [](const Reduction& result) {
    return std::ranges::any_of(result.report.notes,
                               [](const std::string& note) { return note.find("contact modes") != std::string::npos; });
  };
  EXPECT_TRUE(told(with));
  EXPECT_FALSE(told(without));
  // Of a press where the bar lies on its peg.
  const auto outside = [&](const ReducedModel& model) {
    const FullModel full = build_full_model(scene_);
    State state = rest_state(FullMechanics(full));
    const Robot& robot = model.robot;
    int nearest = 0;
    double least = 1e9;
    for (int p = 0; p < robot.collision_points; ++p) {
      const Vec3d x = robot.rest_points[static_cast<std::size_t>(robot.first_collision_point + p)];
      const double distance = norm(x - Vec3d{{0.2, 0.05, 0}});
      if (distance < least) {
        least = distance;
        nearest = p;
      }
    }
    state.contact_forces[static_cast<std::size_t>(3 * nearest + 2)] = 1;
    return outside_modes(model, state)->share;
  };
  EXPECT_GT(outside(without.model), 0.02);
  EXPECT_LT(outside(with.model), 0.5 * outside(without.model));
  // Elements know them: the small domain errs as little as all elements do.
  EXPECT_EQ(with.model.errors.failed, 0);
  EXPECT_LT(with.model.errors.shape_mean, 2 * with.report.table[1].errors.shape_mean + 1e-3);
}

TEST_F(ContactModesOfAScene, WithoutAnythingTouchedAreRefused) {
  scene_.obstacles[0].position[2] = -1;
  try {
    (void)reduced(3);
    FAIL();
  } catch (const RunError& error) {
    EXPECT_NE(std::string(error.what()).find("none of the training states touches"), std::string::npos);
  }
  scene_.obstacles.clear();
  try {
    (void)reduced(3);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("contact_modes"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace supple
