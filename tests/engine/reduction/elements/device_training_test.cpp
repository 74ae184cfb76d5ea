// Training data on a device: element forces of every kind of field are the host's; portions of elements and states
// change nothing; what is chosen from them is the same.

#include "engine/reduction/elements/device_training.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/reduction/basis/metric.hpp"
#include "engine/reduction/elements/training.hpp"
#include "kernels/base/error.hpp"
#include "kernels/base/extent.hpp"
#include "tests/devices.hpp"
#include "tests/engine/bodies/driven_bodies.hpp"

namespace supple {
namespace {

using namespace reduced_bodies;  // NOLINT: a test's own vocabulary

constexpr int modes = 6;

struct Trained {
  ReducedModel all;
  TrainingStates training;
};

// A bar of `cells` cells along x with a membrane below, under `count` random deformations of 1 %.
Trained trained(const boxes::Law& law, bool hexahedra, int count, bool metric, int cells = 5, bool points = false) {
  Scene scene = bar_scene(law);
  MembraneScene sheet;
  sheet.region = boxes::group_region("z-");
  sheet.young = 1e6;
  sheet.poisson = 0.3;
  sheet.thickness = 1e-3;
  scene.bodies[0].membranes = {sheet};
  const FullModel full = build_full_model(scene, bar(hexahedra, cells));
  Trained t{project(full, random_basis(full.coordinates.nv, modes), modes, all_elements(full)), {}};
  if (points) t.all = by_points(std::move(t.all));
  t.training = {count, boxes::random_vector(modes * count, 0.004), {}};
  if (metric)
    t.training.metric =
        displacement_metric(t.all, t.training.states, std::vector<double>(extent(count, 3), 0.1), count);
  return t;
}

// The forces of all units in all states as the host has them, rows in the metric.
std::vector<double> host_matrix(const Trained& t, int field) {
  const int r = t.all.modes, count = t.training.count;
  TrainingMatrix matrix = training_matrix(t.all, field, t.training.states, count);
  if (t.training.metric.empty()) return matrix.G;
  std::vector<double> weighted(matrix.G.size(), 0.0);
  for (int e = 0; e < matrix.columns; ++e)
    for (int s = 0; s < count; ++s)
      for (int i = 0; i < r; ++i)
        for (int j = 0; j < r; ++j)
          weighted[extent(e, matrix.rows) + extent(s * r + i)] +=
              t.training.metric[extent(s, r, r) + extent(i * r + j)] *
              matrix.G[extent(e, matrix.rows) + extent(s * r + j)];
  return weighted;
}

std::vector<double> device_matrix(const Trained& t, int field, const DeviceRoom& room) {
  const int r = t.all.modes, rows = t.training.count * r, units = t.all.fields[extent(field)].units();
  DeviceForces forces(t.all, field, t.training, room);
  std::vector<double> G(extent(rows, units));
  for (int first = 0; first < units; first += forces.units_at_once()) {
    const int count = std::min(forces.units_at_once(), units - first);
    forces.take_units(first, count);
    for (int state = 0; state < t.training.count; state += forces.states_at_once()) {
      const int states = std::min(forces.states_at_once(), t.training.count - state);
      forces.evaluate(state, states);
      std::vector<double> block(extent(count, states, r));
      forces.block().download(block);
      for (int e = 0; e < count; ++e)
        std::copy_n(block.begin() + e * states * r, states * r,
                    G.begin() + static_cast<std::ptrdiff_t>(extent(first + e, rows)) + state * r);
    }
  }
  return G;
}

// The least room that is not refused, within a tenth.
DeviceRoom least_room(const Trained& t, int field, const Device& device, int sketch_rows = 0) {
  for (double bytes = 1000;; bytes *= 1.1) {
    const DeviceRoom room{device, static_cast<std::size_t>(bytes)};
    try {
      (void)DeviceForces(t.all, field, t.training, room, sketch_rows);
      return room;
    } catch (const CapabilityError&) {
      if (bytes > 1e9) throw;
    }
  }
}

// Some hundred roundings of the largest force: products and sums in another order.
void expect_near(const std::vector<double>& found, const std::vector<double>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  double largest = 0, difference = 0;
  for (std::size_t k = 0; k < found.size(); ++k) {
    largest = std::max(largest, std::abs(expected[k]));
    difference = std::max(difference, std::abs(found[k] - expected[k]));
  }
  EXPECT_GT(largest, 0);
  EXPECT_LE(difference, 512 * std::numeric_limits<double>::epsilon() * largest);
}

class DeviceTraining : public test::OnDevice {};
INSTANTIATE_TEST_SUITE_P(Devices, DeviceTraining, test::every_device(), test::device_name);

TEST_P(DeviceTraining, ForcesAreThoseOfTheHost) {
  const boxes::Law corotational{"corotational", MaterialModel::corotational},
      mooney{"mooney_rivlin", MaterialModel::mooney_rivlin},
      edges{"edge_frame", MaterialModel::corotational, RotationKind::edge_frame};
  for (const bool metric : {false, true})
    for (const Trained& t : {trained(corotational, false, 35, metric), trained(corotational, true, 3, metric),
                             trained(mooney, true, 3, metric, 5, true), trained(edges, false, 3, metric)}) {
      ASSERT_EQ(t.all.fields.size(), 2U);
      for (int field = 0; field < 2; ++field) {
        const std::vector<double> host = host_matrix(t, field), whole = device_matrix(t, field, GetParam());
        expect_near(whole, host);
        const std::vector<double> portions = device_matrix(t, field, least_room(t, field, GetParam()));
        if (GetParam() == cpu())
          EXPECT_TRUE(same_bits(portions, whole));
        else
          expect_near(portions, whole);
      }
    }
}

// Driven regions that strain the body have columns of their own behind the modes.
TEST_P(DeviceTraining, DrivenRegionsStrainElementsToo) {
  const FullModel full = driven_bodies::model(driven_bodies::Drive::ends);
  Trained t{project(full, random_basis(full.coordinates.nv, modes), modes, all_elements(full)), {}};
  ASSERT_GT(t.all.columns(), t.all.modes);
  t.training = {4, boxes::random_vector(4 * (modes + t.all.motions()), 0.004), {}};
  expect_near(device_matrix(t, 0, GetParam()), host_matrix(t, 0));
}

TEST_P(DeviceTraining, SketchAndTargetAreThoseOfAllRows) {
  const Trained t = trained({"corotational", MaterialModel::corotational}, false, 70, true, 9);
  const int units = t.all.fields[0].units(), rows = t.training.count * modes;
  const std::vector<double> G = host_matrix(t, 0);
  std::vector<double> sum(extent(rows), 0.0);
  for (int e = 0; e < units; ++e)
    for (int i = 0; i < rows; ++i) sum[extent(i)] += G[extent(e, rows) + extent(i)];
  std::vector<int> some;
  for (int e = 2; e < units; e += 3) some.push_back(e);
  for (const int sketch_rows : {2000, 90})  // as they are, and sketched
    for (const std::vector<int>& listed : {std::vector<int>{}, some}) {
      RowSketch host(rows, units, sketch_rows, 1, listed), whole(rows, units, sketch_rows, 1, listed),
          portions(rows, units, sketch_rows, 1, listed);
      host.add(G, 0, rows);
      std::vector<double> target, target_of_portions;
      sketch_on_device(t.all, 0, t.training, GetParam(), whole, target, {}, [] {});
      expect_near(whole.matrix(), host.matrix());
      expect_near(target, sum);
      const DeviceRoom room = least_room(t, 0, GetParam(), host.rows());
      EXPECT_LT(DeviceForces(t.all, 0, t.training, room, host.rows()).units_at_once(), units);
      sketch_on_device(t.all, 0, t.training, room, portions, target_of_portions, {}, [] {});
      if (GetParam() == cpu())
        EXPECT_TRUE(same_bits(portions.matrix(), whole.matrix()));
      else
        expect_near(portions.matrix(), whole.matrix());
      expect_near(target_of_portions, target);
    }
}

TEST_P(DeviceTraining, TheSameElementsAreChosen) {
  const Trained t = trained({"corotational", MaterialModel::corotational}, false, 40, true, 9);
  for (const SelectionRule rule : {SelectionRule::displacement, SelectionRule::lawson_hanson_pruned}) {
    TrainingStates training = t.training;
    if (rule != SelectionRule::displacement) training.metric.clear();
    SelectionSettings settings{rule, {0.02, 0.1}};
    const SelectedDomains host = select_domains(t.all, 0, training, settings, {}, [] {});
    settings.device = GetParam();
    const SelectedDomains found = select_domains(t.all, 0, training, settings, {}, [] {});
    ASSERT_EQ(found.domains.size(), host.domains.size());
    for (std::size_t k = 0; k < host.domains.size(); ++k) {
      EXPECT_GT(host.domains[k].elements.size(), 3U);
      EXPECT_EQ(found.domains[k].elements, host.domains[k].elements);
      EXPECT_NEAR(found.domains[k].residual, host.domains[k].residual, 1e-9);
    }
  }
}

TEST_P(DeviceTraining, NoRoomIsSaidInWords) {
  const Trained t = trained({"corotational", MaterialModel::corotational}, false, 40, true);
  try {
    (void)DeviceForces(t.all, 0, t.training, {GetParam(), 5000});
    FAIL() << "a tile in 5000 bytes";
  } catch (const CapabilityError& error) {
    const std::string words = error.what();
    EXPECT_TRUE(words.starts_with("no memory for the element forces of 32 states (the smallest chunk takes ")) << words;
    EXPECT_TRUE(words.ends_with(" kB, 5 kB of " + to_string(GetParam()) + " may be used)")) << words;
    EXPECT_EQ(error.suggestion(), "another device, or --device cpu");
  }
}

TEST(TrainingOnADevice, StopsWhereItIsAsked) {
  const Trained t = trained({"corotational", MaterialModel::corotational}, false, 40, false);
  RowSketch sketch(40 * modes, t.all.fields[0].units(), 100);
  std::vector<double> target;
  EXPECT_THROW(
      sketch_on_device(t.all, 0, t.training, cpu(), sketch, target, {}, [] { throw Interrupted("stopped", "again"); }),
      Interrupted);
}

TEST(DeviceTraining, TilesLeaveTheSketchTo32BitIndices) {
  for (const int units : {1, 4, 32})
    for (const int rows : {0, 1, 100, 2048, 100'000}) {
      const std::size_t tiles = most_training_tiles(units, rows);
      EXPECT_GE(tiles, 1u);
      EXPECT_LE(static_cast<double>(tiles) * units * std::max(rows, 1), 2147483647.0) << units << ' ' << rows;
    }
  EXPECT_EQ(most_training_tiles(32, 0), std::size_t{1} << 15);
  EXPECT_THROW((void)most_training_tiles(32, 100'000'000), CapabilityError);
}

}  // namespace
}  // namespace supple
