#include "engine/reduction/elements/device_training.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include "kernels/array/launch.hpp"
#include "kernels/base/contract.hpp"
#include "kernels/base/error.hpp"
#include "kernels/base/extent.hpp"
#include "kernels/elements/batch_ops.hpp"
#include "kernels/elements/training_ops.hpp"

namespace supple {

namespace {

constexpr int most_states = 32;              // of a chunk: wide enough for products
constexpr std::size_t most_tiles = 1 << 15;  // 32-bit indices of its points in 32 states

template <class T>
void copy_to(Array<T>& target, const T* source, std::size_t count) {
  target.upload(std::span<const T>(source, count));
}

}  // namespace

std::size_t most_training_tiles(int units_of_tile, int sketch_rows) {
  const std::size_t of_tile = extent(units_of_tile, std::max(1, sketch_rows));
  const std::size_t most = static_cast<std::size_t>(std::numeric_limits<int>::max()) / of_tile;
  if (most == 0)
    throw CapabilityError(
        "a sketch of " + std::to_string(sketch_rows) + " rows is too large for a device (32-bit indices)",
        "--device cpu");
  return std::min(most, most_tiles);
}

DeviceForces::DeviceForces(const ReducedModel& all, int field, const TrainingStates& training, const DeviceRoom& room,
                           int sketch_rows)
    : field_(all.fields[extent(field)]),
      training_(training),
      context_(room.device),
      weighted_(!training.metric.empty()),
      r_(all.modes),
      columns_(all.columns()),
      length_(all.modes + all.motions()),
      units_of_tile_(tile_size / field_.points_per_element),
      states_(std::min(training.count, most_states)) {
  SUPPLE_EXPECT(field_.units() == field_.total_units() && tile_size % field_.points_per_element == 0);
  const Device& device = room.device;
  const std::size_t real = sizeof(double), rows = extent(states_, r_), units = extent(units_of_tile_);
  const std::size_t of_tile =
      extent(columns_, tile_rows) * real + 2 * extent(states_, tile_rows) * real + extent(states_, tile_size) +
      extent(tile_size) * (real + sizeof(int) + (field_.edges.empty() ? 0 : sizeof(Mat3d))) +
      units * ((weighted_ ? 2 : 1) * rows * real + real + extent(sketch_rows) * real + sizeof(int));
  const std::size_t fixed = (extent(states_, columns_) + rows + (weighted_ ? extent(states_, r_, r_) : 0)) * real +
                            field_.parameters.size() * sizeof(MaterialParameters<double>) +
                            extent(sketch_rows + 1) * sizeof(int) + 8 * rows * (sizeof(int) + real);
  tiles_ = static_cast<int>(
      room.portion("the element forces of " + std::to_string(states_) + " states", fixed, of_tile, 1,
                   std::min(most_training_tiles(units_of_tile_, sketch_rows), extent(tile_count(field_.points())))));
  const auto make = [&](auto& array, std::size_t size) { array = std::decay_t<decltype(array)>(device, size); };
  const std::size_t points = extent(tiles_, tile_size), all_units = extent(units_at_once());
  make(G_, extent(tiles_, columns_, tile_rows));
  make(F_, extent(states_, tiles_, tile_rows));
  make(P_, F_.size());
  make(status_, extent(states_) * points);
  make(weight_, points);
  make(region_, points);
  if (!field_.edges.empty()) make(edges_, points);
  make(x_, extent(states_, columns_));
  make(forces_, all_units * rows);
  make(sums_, rows);
  if (weighted_) {
    make(metric_, extent(states_, r_, r_));
    make(in_metric_, forces_.size());
  }
  parameters_ = Array<MaterialParameters<double>>(device, field_.parameters);
  ones_ = Array<double>(device, std::vector<double>(all_units, 1.0));
}

void DeviceForces::take_units(int first, int count) {
  SUPPLE_EXPECT(first % units_of_tile_ == 0 && count > 0 && count <= units_at_once());
  units_ = count;
  first_point_ = first * field_.points_per_element;
  points_ = count * field_.points_per_element;
  const std::size_t at = extent(first_point_), points = extent(points_);
  copy_to(G_, field_.G.data() + extent(first_point_ / tile_size, columns_, tile_rows),
          extent(tile_count(points_), columns_, tile_rows));
  copy_to(weight_, field_.weight.data() + at, points);
  copy_to(region_, field_.region.data() + at, points);
  if (!field_.edges.empty()) copy_to(edges_, field_.edges.data() + at, points);
}

void DeviceForces::evaluate(int first, int count) {
  SUPPLE_EXPECT(units_ > 0 && count > 0 && count <= states_ && first + count <= training_.count);
  const Device& device = context_.device();
  const int tiles = tile_count(points_), stride = tiles * tile_rows, rows = count * r_;
  evaluated_ = count;
  packed_.clear();
  for (int s = first; s < first + count; ++s) {
    const double* state = training_.states.data() + extent(s, length_);
    packed_.insert(packed_.end(), state, state + columns_);
  }
  x_.upload(packed_);
  // F - I = G x, a column of 288 rows for each state at each tile.
  gemm(context_, tile_rows, count, columns_, 1.0,
       {G_.data(), tile_rows, Transpose::no, static_cast<std::ptrdiff_t>(extent(columns_, tile_rows))},
       {x_.data(), columns_}, 0.0, {F_.data(), stride, tile_rows}, tiles);
  const PointField<double> view{.points = points_,
                                .weight = weight_.data(),
                                .region = region_.data(),
                                .parameters = parameters_.data(),
                                .edges = field_.edges.empty() ? nullptr : edges_.data(),
                                .without_identity = true};
  visit_law(field_.law, [&](auto law) {
    launch(device, count * tiles * tile_size,
           StressOp<decltype(law), double>{view, F_.data(), P_.data(), status_.data()});
  });
  launch(device, count * units_,
         UnitForceOp{count, r_, columns_, units_, field_.points_per_element, G_.data(), P_.data(), forces_.data()});
  if (!weighted_) return;
  metric_.upload(std::span(training_.metric).subspan(extent(first, r_, r_), extent(count, r_, r_)));
  gemm(context_, r_, units_, r_, 1.0, {metric_.data(), r_, Transpose::yes, static_cast<std::ptrdiff_t>(extent(r_, r_))},
       {forces_.data(), rows, Transpose::no, r_}, 0.0, {in_metric_.data(), rows, r_}, count);
}

void DeviceForces::add_sums(std::span<double> target) {
  const int rows = evaluated_ * r_;
  SUPPLE_EXPECT(target.size() == extent(rows));
  gemm(context_, rows, 1, units_, 1.0, {block().data(), rows}, {ones_.data(), units_}, 0.0, {sums_.data(), rows});
  host_sums_.resize(extent(rows));
  sums_.download(host_sums_);
  for (std::size_t i = 0; i < target.size(); ++i) target[i] += host_sums_[i];
}

void sketch_on_device(const ReducedModel& all, int field, const TrainingStates& training, const DeviceRoom& room,
                      RowSketch& sketch, std::vector<double>& target, const Progress& progress,
                      const std::function<void()>& check_stop) {
  const int r = all.modes, units = all.fields[extent(field)].units(), sketch_rows = sketch.rows();
  const Device& device = room.device;
  DeviceForces forces(all, field, training, room, sketch_rows);
  target.assign(extent(training.count, r), 0.0);
  const std::vector<int>& listed = sketch.listed();
  Array<int> start(device, extent(sketch_rows + 1)), source, column(device, extent(forces.units_at_once()));
  Array<double> factor;
  const double total = static_cast<double>(units) * training.count;
  for (int first = 0; first < units; first += forces.units_at_once()) {
    const int count = std::min(forces.units_at_once(), units - first);
    forces.take_units(first, count);
    const auto from = std::lower_bound(listed.begin(), listed.end(), first),
               to = std::lower_bound(from, listed.end(), first + count);
    std::vector<int> own(from, to);
    for (int& unit : own) unit -= first;
    column.upload(own);
    Array<double> part(device, own.size() * extent(sketch_rows));
    for (int state = 0; state < training.count; state += forces.states_at_once()) {
      progress("element forces", static_cast<double>(first) * training.count + static_cast<double>(count) * state,
               total);
      const int states = std::min(forces.states_at_once(), training.count - state);
      forces.evaluate(state, states);
      forces.add_sums(std::span(target).subspan(extent(state, r), extent(states, r)));
      const RowSketch::Lists lists = sketch.lists(state * r, states * r);
      if (source.size() < lists.source.size()) {
        source = Array<int>(device, lists.source.size());
        factor = Array<double>(device, lists.source.size());
      }
      start.upload(lists.start);
      source.upload(lists.source);
      factor.upload(lists.factor);
      launch(device, static_cast<int>(part.size()),
             SketchOp{states * r, sketch_rows, start.data(), source.data(), factor.data(), column.data(),
                      forces.block().data(), part.data()});
      check_stop();
    }
    part.download(sketch.columns(static_cast<std::size_t>(from - listed.begin()), own.size()));
  }
}

}  // namespace supple
