#pragma once
// Mechanics of a batch of reduced robots by batched dense algebra on a device (docs/architecture.md): deformation
// gradients and forces are matrix products over the batch, one team of threads sums each robot's stiffness, the systems
// are factored and solved together. The same source runs on the CPU and on a GPU; for robots on a CPU alone
// ReducedMechanics is the faster choice.
//
// Systems are factored by Cholesky, so only the safe tangent is offered: one-linearisation steps. The exact tangent
// (Newton, quasi-static; indefinite, with the rows' geometric stiffness) throws CapabilityError; force_scale, which
// only those schemes read, is 0. A rigid motion of everything held is offered; driven regions that strain the body are
// not (ReducedMechanics has them).
//
// The model is uploaded once. Every call takes and gives host memory and so crosses the bus: q in, y, f, H and the
// solutions X out, per robot some (rows + 2) r numbers each way. A step that stays on the device will keep q, v, f, H,
// K, A and X where this class has them already and bring only W, d and lambda (rows^2 + 2 rows numbers a robot) to the
// host's row solver.
//
// Bits do not depend on the number of CPU threads. No allocation after construction beyond what a wider solve() asks
// for. See mechanics.hpp.

#include <memory>

#include "engine/dynamics/mechanics.hpp"
#include "engine/reduction/reduced_model.hpp"
#include "kernels/array/device.hpp"

namespace supple {

class ReducedBatchMechanics final : public Mechanics {
 public:
  // The model must outlive this object. Throws CapabilityError for a device that is not there or a model whose motions
  // strain the body, InputError for more robots than 32-bit indices can count (robots r^2 >= 2^31).
  ReducedBatchMechanics(const ReducedModel& model, const Device& device, int robots);
  ~ReducedBatchMechanics() override;

  int robots() const override { return robots_; }
  const Robot& robot() const override { return model_.robot; }
  const Coordinates& coordinates() const override { return coordinates_; }
  const RowLayout& rows() const override { return rows_; }
  void evaluate_outputs(std::span<const double> q, std::span<const double> c, std::span<double> y) override;
  PointReport evaluate_forces(std::span<const double> q, std::span<const double> c, TangentKind kind,
                              std::span<double> f) override;
  void external_forces(std::span<double> p) const override;
  void inertia(std::span<const double> v, std::span<const double> v_c, std::span<double> out) const override;
  void damping(std::span<const double> v, std::span<const double> v_c, std::span<double> out) override;
  SystemReport factor(const SystemCoefficients& coefficients, std::span<const double> y,
                      std::span<const double> multipliers) override;
  void row_jacobians(const RowLayout& layout, std::span<const double> gradients, std::span<double> H,
                     std::span<double> H_c) const override;
  void input_columns(const SystemCoefficients& coefficients, std::span<double> A_c) override;
  void solve(std::span<double> X, int count) override;
  void multiply_rows(const PointRows& rows, std::span<const double> X, int count, std::span<double> out) const override;
  void add_row_forces(const PointRows& rows, std::span<const double> lambda, std::span<double> f) const override;
  void solve_robot(int robot, std::span<double> X, int count) override;
  bool root_solve(int robot, std::span<double> X, int count) override;

  const ReducedModel& model() const { return model_; }
  const Device& device() const;
  // Tangents K of all robots as left by evaluate_forces, copied: [B] r x r row-major, lower triangle.
  std::vector<double> stiffness() const;

 private:
  struct Resident;  // what lies on the device

  const ReducedModel& model_;
  int robots_, r_, m_;
  Coordinates coordinates_;
  RowLayout rows_;
  TangentKind tangent_ = TangentKind::none;
  std::unique_ptr<Resident> on_;
};

}  // namespace supple
