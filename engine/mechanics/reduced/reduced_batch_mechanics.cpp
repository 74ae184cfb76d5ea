#include "engine/mechanics/reduced/reduced_batch_mechanics.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "engine/mechanics/reduced/resident_robots.hpp"
#include "kernels/array/room.hpp"
#include "kernels/base/contract.hpp"
#include "kernels/base/each.hpp"
#include "kernels/base/error.hpp"
#include "kernels/base/threads.hpp"
#include "solvers/dense/symmetric_factor.hpp"

namespace supple {

namespace {

void check_fused(const ReducedModel& model) {
  const auto refuse = [](const std::string& what, const std::string& why) {
    throw InputError("fused algebra cannot step robots " + what + " (" + why + ")",
                     "the algebra of libraries: without --fused");
  };
  if (std::ranges::any_of(model.fields, [](const ReducedField& field) { return field.strains.count > 0; }))
    refuse("with strain modes", "a system that is not positive is not factored again");
  if (model.robot.pairs() > 0) refuse("in contact with obstacles", "it keeps no factor for the rows of contacts");
  if (!model.robot.springs.empty()) refuse("with springs between points", "their stiffness is added to systems");
  if (!model.robot.motions.empty()) refuse("with prescribed motions", "it keeps no factor for their columns");
}

}  // namespace

ReducedBatchMechanics::ReducedBatchMechanics(const ReducedModel& model, const Device& device, int robots,
                                             const BatchSettings& settings)
    : ReducedRobots(model, robots), algebra_(settings.algebra) {
  if (model.columns() > r_)
    throw CapabilityError(
        "a batch on " + to_string(device) + " cannot step this model (its prescribed motions strain the body)",
        "--device cpu");
  if (model.robot.viscous > 0)
    throw CapabilityError("a batch on " + to_string(device) + " cannot step this model (its materials are viscous)",
                          "--device cpu");
  if (algebra_ == SystemAlgebra::fused) check_fused(model);
  const std::size_t widest = std::max({extent(r_, r_), extent(rows_.rows() + 1, r_), extent(model.robot.outputs())});
  if (extent(robots) * widest >= static_cast<std::size_t>(std::numeric_limits<int>::max()))
    throw InputError("a batch of " + std::to_string(robots) + " robots is too large (" + std::to_string(r_) +
                         " modes leave 32-bit indices for fewer)",
                     "several batches, one after the other");
  need_memory(device, ResidentRobots::bytes(model, device, robots, settings.precision),
              "a batch of " + std::to_string(robots) + " robots", "a smaller batch");
  on_ = std::make_unique<ResidentRobots>(model, device, robots, settings.precision);
  if (algebra_ == SystemAlgebra::fused) on_->reserve_fused(rows_.rows());
  take_variations();
}

ReducedBatchMechanics::~ReducedBatchMechanics() = default;

const Device& ReducedBatchMechanics::device() const {
  return on_->device;
}

void ReducedBatchMechanics::take_variations() {
  on_->set_materials(model_, variations_.material_scale);
  on_->set_systems(std::span(own_systems(), own_systems() ? extent(robots_) : 0));
  if (on_->newton.rounding_forces.size() > 0) on_->newton.rounding_forces = upload(on_->device, rounding_forces());
}

void ReducedBatchMechanics::evaluate_outputs(std::span<const double> q, std::span<const double> c,
                                             std::span<double> y) {
  on_->find_outputs(q.data(), c.data(), y.data());
}

void ReducedBatchMechanics::evaluate_forces(std::span<const double> q, std::span<const double>, TangentKind kind,
                                            std::span<double> f, std::span<PointReport> found) {
  if (kind == TangentKind::exact) reserve_newton();
  if (kind != TangentKind::none) tangent_ = kind;
  on_->find_forces(q.data(), kind, f.data(), found.data());
}

void ReducedBatchMechanics::reserve_newton() {
  if (on_->precision == Precision::fp32 || algebra_ == SystemAlgebra::fused)
    throw CapabilityError("Newton's method on a batch needs forces in double precision and factors that are kept",
                          "without --precision fp32 and --fused, or the integrator implicit-euler");
  on_->reserve_newton(rounding_forces());
}

void ReducedBatchMechanics::inertia(std::span<const double> v, std::span<const double> v_c,
                                    std::span<double> out) const {
  on_->multiply_mass(v.data(), v_c.empty() ? nullptr : v_c.data(), out.data());
}

void ReducedBatchMechanics::damping(std::span<const double> v, std::span<const double> v_c, std::span<double> out) {
  SUPPLE_EXPECT(!damped().by_stiffness || tangent_ != TangentKind::none);
  inertia(v, v_c, out);
  on_->damp(Mechanics::system(0), v.data(), out.data());
}

// A += L_i^T S L_j, entries in the order of their robots.
void ReducedBatchMechanics::add_points(std::span<const PointStiffness> points) {
  if (points.empty()) return;
  std::vector<int>& first = on_->host_first;
  first.assign(extent(robots_ + 1), 0);
  for (const PointStiffness& at : points) ++first[extent(at.robot + 1)];
  std::partial_sum(first.begin(), first.end(), first.begin());
  if (points.size() > on_->points.size()) on_->points = Array<PointStiffness>(on_->device, points.size());
  if (on_->first_point.size() == 0) on_->first_point = Array<int>(on_->device, first.size());
  on_->points.upload(points);
  on_->first_point.upload(first);
  on_->add_points();
}

// The same of points and of the curvature of rows, found on the host: towards the inputs too.
void ReducedBatchMechanics::add_geometric(std::span<const PointStiffness> points, std::span<const double> y,
                                          std::span<const double> multipliers) {
  std::vector<double>&A = on_->newton.host_geometric, &A_c = on_->newton.host_of_inputs;
  std::ranges::fill(A, 0.0);
  std::ranges::fill(A_c, 0.0);
  hessians_.resize(extent(most_threads()));
  const int n = rows_.rows(), ny = model_.robot.outputs();
  for_each_robot(robots_, [&](int b) {
    double *own = A.data() + extent(b, r_, r_), *own_c = A_c.data() + extent(b, m_, r_);
    for (int row = 0; row < n; ++row)
      add_row_curvature(model_, row, y.subspan(extent(b, ny), extent(ny)), multipliers[extent(b, n) + extent(row)], own,
                        own_c, hessians_[extent(this_thread())]);
    for (const PointStiffness& at : points_of(points, b)) add_point_stiffness(model_, at, own, own_c);
  });
  on_->add_geometric();
}

void ReducedBatchMechanics::factor(const SystemCoefficients& coefficients, std::span<const double> y,
                                   std::span<const double> multipliers, std::span<SystemReport> found) {
  SUPPLE_EXPECT(tangent_ != TangentKind::none && (tangent_ == TangentKind::exact || !coefficients.geometric));
  SUPPLE_EXPECT(std::ranges::is_sorted(coefficients.points, {}, &PointStiffness::robot));
  ++factorisations_;
  on_->find_system(coefficients);
  if (coefficients.geometric)
    add_geometric(coefficients.points, y, multipliers);
  else
    add_points(coefficients.points);
  if (tangent_ == TangentKind::exact)
    on_->factor_indefinite(found.data());
  else
    on_->factor_system(coefficients, found.data());
}

void ReducedBatchMechanics::find_space(const SystemCoefficients& coefficients, const RightSidesTeamOp& sides,
                                       const SpaceTeamOp& rows, const SpaceTeamOp& effectors,
                                       std::span<SystemReport> found) {
  SUPPLE_EXPECT(tangent_ == TangentKind::safe && coefficients.points.empty());
  ++factorisations_;
  on_->find_fused_space(coefficients, sides, rows, effectors, found.data());
}

void ReducedBatchMechanics::row_jacobians(const RowLayout& layout, std::span<const double> gradients,
                                          std::span<double> H, std::span<double> H_c) const {
  on_->find_jacobians(layout, gradients.data(), H.data(), H_c.data());
}

void ReducedBatchMechanics::input_columns(const SystemCoefficients& coefficients, std::span<double> A_c) {
  SUPPLE_EXPECT(A_c.size() == extent(robots_, m_, r_));
  // A rigid motion has no stiffness, nor do springs that hold the body to itself alone.
  launch(on_->device, robots_ * m_ * r_,
         MassRepeatOp{on_->factors(coefficients), on_->input_mass.data(), m_ * r_, A_c.data()});
  if (coefficients.geometric) launch(on_->device, robots_ * m_ * r_, AddOp{on_->newton.of_inputs.data(), A_c.data()});
}

void ReducedBatchMechanics::solve(std::span<double> X, int count) {
  on_->solve_systems(X.data(), count);
}

void ReducedBatchMechanics::solve_robot(int robot, std::span<double> X, int count) {
  const double* factor = on_->factor_of(robot);
  if (on_->indefinite)
    ldlt_solve(factor, r_, r_, on_->pivots_of(robot), X.data(), count, r_);
  else
    cholesky_solve(factor, r_, r_, X.data(), count, r_);
}

bool ReducedBatchMechanics::root_solve(int robot, std::span<double> X, int count) {
  if (on_->indefinite) return false;
  if (count > 0) forward_solve(on_->factor_of(robot), r_, r_, X.data(), count, r_);
  return true;
}

std::vector<double> ReducedBatchMechanics::stiffness() const {
  return on_->stiffness();
}

}  // namespace supple
