// Single points of hexahedra as units of the integration domain: the same points with the same weights are the same
// model, bit for bit; the file, the display and the counts know an element however many of its points are kept.

#include <omp.h>

#include <algorithm>
#include <set>

#include "engine/io/hdf5_file.hpp"
#include "engine/io/model_file.hpp"
#include "engine/mechanics/reduced/step_work.hpp"
#include "engine/model/element_stress.hpp"
#include "engine/model/reduced_shape.hpp"
#include "engine/reduction/elements/selection.hpp"
#include "engine/reduction/elements/training.hpp"
#include "engine/reduction/pipeline.hpp"
#include "kernels/base/extent.hpp"
#include "tests/engine/bodies/reduced_bodies.hpp"

namespace supple {
namespace {

using namespace reduced_bodies;  // NOLINT: a test's own vocabulary

constexpr int modes = 7;

class PointUnits : public testing::TestWithParam<boxes::Law> {
 protected:
  const FullModel full_ = build_full_model(bar_scene(GetParam()), bar(true, 5));
  const ReducedModel elements_ = project(full_, random_basis(full_.coordinates.nv, modes), modes, all_elements(full_));
  const ReducedModel points_ = by_points(elements_);
};

// Every third point with an irregular weight: some elements keep two or three, in no element all.
IntegrationDomain some_points(const ReducedModel& model) {
  IntegrationDomain domain;
  for (int u = 1; u < model.fields[0].total_units(); u += 3) {
    domain.elements.push_back(u);
    domain.xi.push_back(2.5 + 0.37 * (u % 5));
  }
  return domain;
}

std::vector<double> force(const ReducedModel& model, const std::vector<double>& alpha, TangentKind kind,
                          std::vector<double>* stiffness = nullptr) {
  std::vector<double> f(static_cast<std::size_t>(model.modes));
  ReducedMechanics mechanics(model);
  (void)mechanics.evaluate_forces(alpha, {}, kind, f);
  if (stiffness) stiffness->assign(mechanics.stiffness(0).begin(), mechanics.stiffness(0).end());
  return f;
}

TEST_P(PointUnits, AllPointsAreAllElements) {
  const ReducedField &field = points_.fields[0], &whole = elements_.fields[0];
  EXPECT_EQ(field.units(), 8 * whole.units());
  EXPECT_EQ(field.total_units(), field.units());
  EXPECT_EQ(field.points(), whole.points());
  IntegrationDomain every;
  for (int u = 0; u < field.units(); ++u) every.elements.push_back(u);
  every.xi.assign(every.elements.size(), 1.0);
  expect_same_model(restrict_to(points_, {every}), points_);
  const std::vector<double> alpha = boxes::random_vector(modes, 0.01);
  for (const TangentKind kind : {TangentKind::safe, TangentKind::exact}) {
    std::vector<double> K, L;
    EXPECT_TRUE(same_bits(force(points_, alpha, kind, &K), force(elements_, alpha, kind, &L)));
    EXPECT_TRUE(same_bits(K, L));
  }
  EXPECT_TRUE(same_bits(von_mises(points_, alpha, {}), von_mises(elements_, alpha, {})));
  EXPECT_EQ(reduced_step_work(points_).forces, reduced_step_work(elements_).forces);
}

TEST_P(PointUnits, AllPointsOfSomeElementsAreTheseElements) {
  const std::vector<IntegrationDomain> some = some_elements(full_);
  IntegrationDomain all_of_them;
  for (std::size_t k = 0; k < some[0].elements.size(); ++k)
    for (int q = 0; q < 8; ++q) {
      all_of_them.elements.push_back(8 * some[0].elements[k] + q);
      all_of_them.xi.push_back(some[0].xi[k]);
    }
  const ReducedModel a = restrict_to(points_, {all_of_them}), b = restrict_to(elements_, some);
  EXPECT_TRUE(same_bits(a.fields[0].G, b.fields[0].G));
  EXPECT_TRUE(same_bits(a.fields[0].weight, b.fields[0].weight));
  EXPECT_TRUE(same_bits(a.interior.rest, b.interior.rest));
  expect_same_model(by_points(restrict_to(elements_, all_elements(full_))), points_);
}

TEST_P(PointUnits, TheForceIsTheWeightedSumOfPoints) {
  const IntegrationDomain domain = some_points(points_);
  ReducedModel kept = restrict_to(points_, {domain});
  std::fill(kept.stiffness.begin(), kept.stiffness.end(), 0.0);
  const std::vector<double> alpha = boxes::random_vector(modes, 0.01);
  const TrainingMatrix points = training_matrix(points_, 0, alpha, 1),
                       elements = training_matrix(elements_, 0, alpha, 1);
  ASSERT_EQ(points.columns, 8 * elements.columns);
  std::vector<double> sum(modes, 0.0), eight(elements.G.size(), 0.0);
  for (std::size_t k = 0; k < domain.elements.size(); ++k)
    for (std::size_t m = 0; m < modes; ++m) sum[m] += domain.xi[k] * points.G[extent(domain.elements[k], modes) + m];
  for (int p = 0; p < points.columns; ++p)
    for (std::size_t m = 0; m < modes; ++m) eight[extent(p / 8, modes) + m] += points.G[extent(p, modes) + m];
  // Other orders of summation of some ten terms.
  EXPECT_LT(boxes::difference(force(kept, alpha, TangentKind::none), sum), 1e-13);
  EXPECT_LT(boxes::difference(eight, elements.G), 1e-13);
}

TEST_P(PointUnits, TheDisplayKnowsEachElementOnce) {
  const ReducedModel kept = restrict_to(points_, {some_points(points_)});
  const ReducedField& field = kept.fields[0];
  const KeptElements elements = kept_elements(field);
  EXPECT_EQ(elements.count(), 5);  // three points of eight: each keeps some
  EXPECT_EQ(field.units(), 13);
  EXPECT_EQ(field.corners.size(), 8U * 13U);
  std::vector<Vec3d> nodes = kept.skin.rest;
  nodes.insert(nodes.end(), kept.interior.rest.begin(), kept.interior.rest.end());
  for (int u = 0; u < field.units(); ++u) {
    const int e = field.element[static_cast<std::size_t>(u)];
    const int first = elements.first[static_cast<std::size_t>(elements.of_unit[static_cast<std::size_t>(u)])];
    EXPECT_EQ(field.element[static_cast<std::size_t>(first)], e);
    EXPECT_LE(first, u);
    for (int k = 0; k < 8; ++k)
      EXPECT_EQ(
          nodes[static_cast<std::size_t>(field.corners[extent(u, 8) + static_cast<std::size_t>(k)])],
          full_.mesh.nodes[static_cast<std::size_t>(full_.fields[0].node[extent(e, 8) + static_cast<std::size_t>(k)])]);
  }
  // Stress of an element: mean of its kept points by weight, so between the least and the most of all its points.
  const std::vector<double> alpha = boxes::random_vector(modes, 0.01), stress = von_mises(kept, alpha, {});
  ASSERT_EQ(stress.size(), 5U);
  for (std::size_t e = 0; e < stress.size(); ++e) {
    std::vector<double> at_points;
    for (int q = 0; q < 8; ++q)
      at_points.push_back(von_mises(restrict_to(points_, {{{static_cast<int>(8 * e) + q}, {1.0}}}), alpha, {}).front());
    EXPECT_GE(stress[e], *std::ranges::min_element(at_points) * (1 - 1e-12));
    EXPECT_LE(stress[e], *std::ranges::max_element(at_points) * (1 + 1e-12));
  }
}

TEST_P(PointUnits, TheFileComesBackAndDamageIsRefused) {
  const TemporaryFolder folder;
  const std::string path = folder / "bar.rom.h5";
  const ReducedModel kept = restrict_to(points_, {some_points(points_)});
  write_model(kept, path);
  EXPECT_EQ(Hdf5File(path, Hdf5File::Mode::read).read_int("/format_version"), 8);
  const ReducedModel read = read_model(path);
  expect_same_model(read, kept);
  EXPECT_EQ(read.fields[0].unit, DomainUnit::point);
  EXPECT_EQ(read.fields[0].total_units(), 40);
  ReducedModel unknown = kept;
  unknown.fields[0].corners.clear();
  unknown.interior = {};
  write_model(unknown, path);
  expect_same_model(read_model(path), unknown);
  const auto refused = [&](const char* what, const auto& change) {
    ReducedModel damaged = kept;
    change(damaged.fields[0]);
    write_model(damaged, path);
    try {
      (void)read_model(path);
      FAIL() << what;
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find(what), std::string::npos) << error.what();
    }
  };
  refused("/fields/00/points_per_element", [](ReducedField& field) { field.points_per_element = 8; });
  refused("/fields/00/elements", [](ReducedField& field) { std::ranges::fill(field.element, 3); });
  // Whole elements are written as before.
  write_model(elements_, path);
  EXPECT_EQ(Hdf5File(path, Hdf5File::Mode::read).read_int("/format_version"), 2);
  EXPECT_FALSE(Hdf5File(path, Hdf5File::Mode::read).has("/fields/00/unit"));
}

INSTANTIATE_TEST_SUITE_P(Laws, PointUnits,
                         testing::Values(boxes::Law{"corotational", MaterialModel::corotational},
                                         boxes::Law{"mooney_rivlin", MaterialModel::mooney_rivlin}),
                         [](const auto& info) { return info.param.name; });

TEST(PointUnit, OfTetrahedraIsTheElement) {
  const FullModel full = build_full_model(bar_scene(boxes::all_laws()[0]), bar(false));
  const ReducedModel all = project(full, random_basis(full.coordinates.nv, 4), 4, all_elements(full));
  expect_same_model(by_points(all), all);
}

TEST(PointUnit, ThatIsUndefinedNamesItsElement) {
  const FullModel full = build_full_model(bar_scene({"mooney_rivlin", MaterialModel::mooney_rivlin}), bar(true, 5));
  const ReducedModel all = project(full, random_basis(full.coordinates.nv, modes), modes, all_elements(full));
  const ReducedModel points = by_points(all);
  const std::vector<double> alpha = boxes::random_vector(modes, 2.0);  // folds the bar
  std::vector<double> f(modes);
  const PointReport expected = ReducedMechanics(all).evaluate_forces(alpha, {}, TangentKind::none, f);
  ASSERT_GT(expected.undefined, 0);
  EXPECT_EQ(ReducedMechanics(points).evaluate_forces(alpha, {}, TangentKind::none, f).first_undefined,
            expected.first_undefined);
  int undefined = 0;
  for (int u = 0; u < 40; ++u) {
    const PointReport one =
        ReducedMechanics(restrict_to(points, {{{u}, {1.0}}})).evaluate_forces(alpha, {}, TangentKind::none, f);
    if (one.undefined == 0) continue;
    EXPECT_EQ(one.first_undefined, u / 8);
    ++undefined;
  }
  EXPECT_EQ(undefined, expected.undefined);
}

TEST(CandidateUnits, OfManyAreAnEvenPartOfAllKindsOfPoints) {
  const std::vector<int> all = candidate_units(90, 100, DomainUnit::point);
  EXPECT_EQ(all.size(), 90U);
  EXPECT_EQ(all.back(), 89);
  for (const int units : {101, 150, 800, 8000}) {
    const std::vector<int> some = candidate_units(units, 100, DomainUnit::point);
    ASSERT_EQ(some.size(), 100U);
    std::set<int> kinds;
    for (std::size_t k = 0; k < some.size(); ++k) {
      const int begin = static_cast<int>(k) * units / 100, end = static_cast<int>(k + 1) * units / 100;
      EXPECT_GE(some[k], begin);
      EXPECT_LT(some[k], end);
      kinds.insert(some[k] % 8);
    }
    EXPECT_EQ(kinds.size(), 8U) << units;
    EXPECT_EQ(candidate_units(units, 100, DomainUnit::element)[50], units / 2);
  }
}

// A bar of 32 hexahedra, with either unit.
class Unit : public testing::TestWithParam<DomainUnit> {
 protected:
  Reduction reduced(const std::string& name) {
    ReduceSettings settings;
    settings.snapshots.folder = folder_ / name;
    settings.dynamic_steps = 10;
    settings.rate_seconds = 0.01;
    return reduce(scene_, full_, settings, {});
  }
  Unit() { scene_.reduction.unit = GetParam(); }
  TemporaryFolder folder_;
  Scene scene_ = saved_bar(folder_, {"corotational", MaterialModel::corotational}, true);
  const FullModel full_ = build_full_model(scene_);
};

TEST_P(Unit, KeepsTheErrorOfAllElementsOnUnseenStates) {
  const Reduction result = reduced("states");
  const ModelRow &all = result.report.table[1], &hyper = result.report.table[3];
  const ReducedField& field = result.model.fields[0];
  const bool points = GetParam() == DomainUnit::point;
  EXPECT_EQ(field.unit, GetParam());
  EXPECT_EQ(all.elements, 32);
  EXPECT_EQ(all.points, 256);
  EXPECT_EQ(all.units, points ? 256 : 32);
  EXPECT_EQ(hyper.points, field.points());
  EXPECT_EQ(hyper.units, field.units());
  EXPECT_EQ(hyper.points, hyper.units * field.points_per_element);
  EXPECT_EQ(hyper.elements, kept_elements(field).count());
  // Accepted at 10 % above all elements on the selection set; on the six test states within a half.
  EXPECT_LT(hyper.errors.goal_mean, 1.5 * all.errors.goal_mean);
  EXPECT_LT(hyper.errors.shape_mean, 1.5 * all.errors.shape_mean);
  EXPECT_EQ(hyper.errors.failed, 0);
  EXPECT_EQ(result.report.curve.back().units, all.units);
  if (points) {
    EXPECT_LT(hyper.points, 128);
  }
}

TEST_P(Unit, GivesTheSameBitsForAnyNumberOfThreads) {
  const int before = omp_get_max_threads();
  omp_set_num_threads(1);
  const Reduction one = reduced("one");
  omp_set_num_threads(3);
  const Reduction three = reduced("three");
  omp_set_num_threads(before);
  expect_same_model(one.model, three.model);
}

TEST_P(Unit, KeepsSoManyUnitsAndTrainsOnReruns) {
  scene_.reduction.elements = 20;
  scene_.reduction.ecsw_training = "rerun";
  const Reduction result = reduced("states");
  EXPECT_EQ(result.model.fields[0].units(), 20);
  EXPECT_EQ(result.model.fields[0].points(), GetParam() == DomainUnit::point ? 20 : 160);
  for (const std::string& note : result.report.notes) EXPECT_EQ(note.find("second pass"), std::string::npos) << note;
}

INSTANTIATE_TEST_SUITE_P(Units, Unit, testing::Values(DomainUnit::element, DomainUnit::point),
                         [](const auto& info) { return info.param == DomainUnit::point ? "Point" : "Element"; });

}  // namespace
}  // namespace supple
