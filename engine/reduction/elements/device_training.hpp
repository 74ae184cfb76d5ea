#pragma once
// Training data (training.hpp) on a device: forces of units by products and the ops of batches, weighted with the
// metric, added up to the target and sketched there, so that large arrays never leave it. Units and states are
// processed in chunks that fit; on the CPU the sizes of the chunks do not change the bits of the forces.

#include <functional>
#include <span>

#include "engine/reduction/elements/selection.hpp"
#include "kernels/array/room.hpp"
#include "kernels/base/progress.hpp"
#include "solvers/cubature/sketch_rows.hpp"
#include "solvers/dense/batched.hpp"

namespace supple {

// Tiles whose entries of a sketch of so many rows (0: none) 32-bit indices can count.
std::size_t most_training_tiles(int units_of_tile, int sketch_rows);

// Forces of a range of whole tiles of a field.
class DeviceForces {
 public:
  // all: a model with every element. It and the training must outlive this object. sketch_rows: of a sketch beside it.
  // Throws CapabilityError where one tile has no room.
  DeviceForces(const ReducedModel& all, int field, const TrainingStates& training, const DeviceRoom& room,
               int sketch_rows = 0);

  int units_at_once() const { return tiles_ * units_of_tile_; }
  int states_at_once() const { return states_; }
  // The units first ... first + count go there; first: a multiple of units_at_once().
  void take_units(int first, int count);
  // block() <- forces of these units in the states first ... first + count, in the metric if the training has one:
  // column-major, a column of count x modes numbers for each unit.
  void evaluate(int first, int count);
  const Array<double>& block() const { return weighted_ ? in_metric_ : forces_; }
  // Sums of the last block's rows, added to target [count x modes].
  void add_sums(std::span<double> target);
  DenseContext& context() { return context_; }

 private:
  const ReducedField& field_;
  const TrainingStates& training_;
  DenseContext context_;
  bool weighted_;
  int r_, columns_, length_, units_of_tile_, states_, tiles_ = 0;
  int first_point_ = 0, points_ = 0, units_ = 0, evaluated_ = 0;
  Array<double> G_, weight_, F_, P_, x_, metric_, forces_, in_metric_, ones_, sums_;
  Array<int> region_;
  Array<Mat3d> edges_;
  Array<MaterialParameters<double>> parameters_;
  Array<unsigned char> status_;
  std::vector<double> packed_, host_sums_;
};

// The sketch of all rows, and target: the sum of all units [states x modes]. check_stop throws where the user has asked
// to stop.
void sketch_on_device(const ReducedModel& all, int field, const TrainingStates& training, const DeviceRoom& room,
                      RowSketch& sketch, std::vector<double>& target, const Progress& progress,
                      const std::function<void()>& check_stop);

}  // namespace supple
