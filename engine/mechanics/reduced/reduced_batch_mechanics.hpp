#pragma once
// Mechanics of a batch of reduced robots by batched dense algebra on a device (docs/architecture.md): deformation
// gradients and forces are matrix products over the batch, one team of threads sums each robot's stiffness, the systems
// are factored and solved together. The same source runs on the CPU and on a GPU; for robots on a CPU alone
// ReducedMechanics is the faster choice.
//
// The safe tangent, of steps of one linearisation, is factored by Cholesky; force_scale, which only Newton's method
// reads, is then 0. The exact one may be indefinite: L B L^T, with the rows' geometric stiffness, which is found on the
// host. Prescribed motions that carry the whole body are supported; those that strain it are not (ReducedMechanics has
// them).
//
// The model is uploaded once, and every stage works on arrays of the device. What contact needs on the host
// (Mechanics::solve_robot and the like) is taken through the factor there, robot by robot, after all factors have come
// across together.
//
// Bits do not depend on the number of CPU threads. No allocation after construction beyond what a wider solve(),
// springs and, on a CPU, products that fill no panel of columns ask for. See mechanics.hpp.

#include <memory>

#include "engine/mechanics/reduced/reduced_robots.hpp"
#include "kernels/array/device.hpp"

namespace supple {

// What is computed in single precision.
// mixed: the stiffness of the points. Their part of K is then rounded to 1e-7 of its largest entries, everything else
//   stays in double. A step's motion changes by what K does; equilibria, where forces vanish, do not.
// fp32: points, forces, K, A, its factor and solves. Coordinates, rows and constraint space stay in double, so that
//   motions smaller than the rounding of coordinates are not lost. Forces are rounded to 1e-7 of their largest terms,
//   and equilibria move by what that does to the softest modes. The rows of contacts are taken through the rounded
//   factor in double.
enum class Precision { fp64, mixed, fp32 };

// From K to constraint space: batched algebra of libraries, or one team of threads for each robot, all in one
// (FusedSystemTeamOp), which keeps no factor. The same to rounding.
enum class SystemAlgebra { library, fused };

struct BatchSettings {
  Precision precision = Precision::fp64;
  SystemAlgebra algebra = SystemAlgebra::library;
};

struct ResidentRobots;  // what lies on the device (resident_robots.hpp)

class ReducedBatchMechanics final : public ReducedRobots {
 public:
  // The model must outlive this object. Throws CapabilityError for a device that is not there or a model whose motions
  // strain the body, InputError for more robots than 32-bit indices can count (robots r^2 >= 2^31) and for fused
  // algebra where a factor is needed again: contacts, strain modes, springs between points, prescribed motions.
  ReducedBatchMechanics(const ReducedModel& model, const Device& device, int robots,
                        const BatchSettings& settings = {});
  ~ReducedBatchMechanics() override;

  // What the exact tangent and force_scale need; evaluate_forces() does it where the exact tangent is first asked for.
  // Throws CapabilityError in single precision, with fused algebra, and where there is no room.
  void reserve_newton();

  const Device& device() const override;
  void evaluate_outputs(std::span<const double> q, std::span<const double> c, std::span<double> y) override;
  using Mechanics::evaluate_forces;
  void evaluate_forces(std::span<const double> q, std::span<const double> c, TangentKind kind, std::span<double> f,
                       std::span<PointReport> found) override;
  void inertia(std::span<const double> v, std::span<const double> v_c, std::span<double> out) const override;
  void damping(std::span<const double> v, std::span<const double> v_c, std::span<double> out) override;
  using Mechanics::factor;
  void factor(const SystemCoefficients& coefficients, std::span<const double> y, std::span<const double> multipliers,
              std::span<SystemReport> found) override;
  void row_jacobians(const RowLayout& layout, std::span<const double> gradients, std::span<double> H,
                     std::span<double> H_c) const override;
  void input_columns(const SystemCoefficients& coefficients, std::span<double> A_c) override;
  void solve(std::span<double> X, int count) override;
  bool finds_space() const override { return algebra_ == SystemAlgebra::fused; }
  void find_space(const SystemCoefficients& coefficients, const RightSidesTeamOp& sides, const SpaceTeamOp& rows,
                  const SpaceTeamOp& effectors, std::span<SystemReport> found) override;
  void solve_robot(int robot, std::span<double> X, int count) override;
  bool root_solve(int robot, std::span<double> X, int count) override;

  // Tangents K of all robots as left by evaluate_forces, copied: [B] r x r row-major, lower triangle.
  std::vector<double> stiffness() const;
  // For contact on the device.
  ResidentRobots& resident() { return *on_; }

 private:
  void take_variations() override;
  void add_points(std::span<const PointStiffness> points);
  void add_geometric(std::span<const PointStiffness> points, std::span<const double> y,
                     std::span<const double> multipliers);

  TangentKind tangent_ = TangentKind::none;
  SystemAlgebra algebra_;
  std::vector<std::vector<double>> hessians_;  // scratch of each thread, of cavities' volumes
  std::unique_ptr<ResidentRobots> on_;
};

}  // namespace supple
