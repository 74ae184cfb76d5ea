#pragma once
// Elements of several robots of one full model on a device: from the displacements of the nodes to forces and
// stiffness, both assembled by gather (kernels/elements/element_ops.hpp), so that a robot's numbers depend on neither the
// others, their number nor threads. On the CPU the lists of model and pattern are used where they are.

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "engine/mechanics/full/node_pattern.hpp"
#include "engine/mechanics/mechanics.hpp"
#include "engine/model/full_model.hpp"
#include "kernels/array/aligned.hpp"
#include "kernels/array/array.hpp"
#include "kernels/elements/point_ops.hpp"

namespace supple {

// A list of the host for a device's ops: itself on the CPU, which it must outlive; a copy elsewhere.
template <class T>
class Placed {
 public:
  Placed(const Device& device, const std::vector<T>& list)
      : list_(list.data()), copy_(device, device == cpu() ? std::span<const T>() : std::span<const T>(list)) {}
  const T* data() const { return copy_.device() == cpu() ? list_ : copy_.data(); }
  std::size_t bytes() const { return copy_.size() * sizeof(T); }  // of the copy

 private:
  const T* list_;
  Array<T> copy_;
};

// Corners (point, element node) of all fields, one after the other, that meet in each free node.
struct CornerLists {
  std::vector<int> start;  // [free nodes + 1]
  std::vector<long> corner;
};

class FullElements {
 public:
  // Model and pattern (of the model) must outlive this object. Throws CapabilityError where the device does not exist
  // or has no memory left. What a tangent takes is allocated by the first evaluation of one on the CPU, else here.
  FullElements(const FullModel& model, const NodePattern& pattern, const Device& device, int robots);

  // Of the robots [0, robots), everything on the device: u [robots][mesh nodes][3] (m) gives f [robots][nv] (N),
  // magnitude [robots][nv] (the sum of the absolute values of what adds up to f) and, with a tangent, stiffness
  // [robots][nonzeros of the pattern] (N/m), the lower triangle. reports [robots] is the host's: what the points found,
  // but for force_scale.
  void evaluate(int robots, const double* u, TangentKind kind, double* f, double* magnitude, double* stiffness,
                std::span<PointReport> reports);

  // Mechanics::begin_viscous_step() and end_viscous_step(), with the displacements u where the step ends. On a CPU.
  void begin_viscous_step(double h, std::span<const double> viscous);
  void end_viscous_step(double h, const double* u, std::span<const unsigned char> moved, std::span<double> viscous);

  // A step of Newton's method in statics by turning (turned_ops.hpp), of one robot on a CPU, that begins at the
  // displacements u and is linear to the motion du of the nodes: right [free nodes][3] <- sum w G^T (F' - F - D) [N], and
  // the largest angle that it turns a point by [rad].
  double turn(const double* u, const double* du, double* right);
  // To the exact tangent at u, where that step ends: what follows from the stress of the linear step. stiffness: as of
  // evaluate(); blocks: those of the elements, or null.
  void add_linear_stress(const double* u, double* stiffness, double* blocks);
  // The matrix of the least squares: w g_a^T Q g_b in the place of [0] of each block (element_block_offsets).
  std::vector<double> turn_blocks() const;

  // The model's moduli and shape have changed in place. On a CPU.
  void parameters_changed();

  // In a viscous step, StepParameters::factor of all fields; else 1.
  double step_factor() const;

  int robots() const { return robots_; }
  const Device& device() const { return device_; }
  // Of the last evaluation, on the device: weighted stress tiles of a field, robot by robot; the blocks of a robot's
  // elements (element_block_offsets), with a tangent.
  const Array<double>& weighted_stress(int field) const { return fields_[static_cast<std::size_t>(field)].P; }
  double* blocks() { return blocks_.data(); }
  const double* blocks(int robot) const { return blocks_.data() + static_cast<std::size_t>(robot) * block_numbers_; }
  std::size_t block_numbers() const { return block_numbers_; }  // of one robot
  // What it allocates on the device, with a tangent.
  struct Memory {
    std::size_t shared, of_robot;  // bytes
    std::size_t of(int robots) const { return shared + static_cast<std::size_t>(robots) * of_robot; }
  };
  static Memory memory(const FullModel& model, const NodePattern& pattern, const Device& device);
  std::size_t bytes() const;

 private:
  struct Field {
    const ElementField* elements;
    Placed<int> node, region;
    Placed<double> gradient, volume;
    Placed<MaterialParameters<double>> parameters;
    Placed<Mat3d> edges;
    std::size_t first_corner, first_block;  // in numbers
    Array<double> F, P;
    Array<unsigned char> status;
    // Of viscous materials: parameters of a step of length `step`, those of the shape alone, and H (viscous_ops.hpp).
    StepParameters of_step;
    std::vector<MaterialParameters<double>> of_shape;
    double step = -1;
    AlignedVector<double> held_stress;
    // Of a step by turning: F before it, D of the linear step.
    AlignedVector<double> turned_F, turned_D;

    Field(const ElementField& field, const Device& device, std::size_t corner, std::size_t block, int robots);
    PointField<double> points(bool viscous_step) const;
  };

  void reserve_tangent();
  void find_gradients(Field& field, int robots, const double* u);
  void evaluate_field(Field& field, int robots, const double* u, TangentKind kind);
  void sum_corners(int robots, double* f, double* magnitude);
  void report(const Field& field, std::span<PointReport> reports) const;

  Device device_;
  int robots_, nodes_, mesh_nodes_;                                                  // nodes: free ones
  std::size_t nonzeros_, block_numbers_ = 0, corner_numbers_ = 0, row_numbers_ = 0;  // of one robot
  std::vector<Field> fields_;
  std::size_t viscous_ = 0;  // numbers that a robot's points remember
  bool in_step_ = false;
  CornerLists corners_;
  Placed<int> corner_start_;
  Placed<long> corner_;
  Placed<int> column_start_, contribution_start_, scalar_start_;
  Placed<long> source_;
  Array<double> corner_forces_, rows_, blocks_;
};

// Where one robot's results go, all of the host.
struct ElementResults {
  double* f;          // [nv]
  double* magnitude;  // [nv]
  double* stiffness;  // [nonzeros], with a tangent
  double* blocks;     // [block_numbers], with a tangent; null: not asked for
};

// What evaluates the elements of one robot: u [mesh nodes][3] of the host.
using EvaluateElements = std::function<PointReport(const double* u, TangentKind kind, const ElementResults& results)>;

}  // namespace supple
