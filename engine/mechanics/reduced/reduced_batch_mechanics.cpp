#include "engine/mechanics/reduced/reduced_batch_mechanics.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "engine/mechanics/reduced/resident_robots.hpp"
#include "kernels/array/room.hpp"
#include "kernels/base/error.hpp"
#include "kernels/elements/point_stiffness.hpp"
#include "solvers/dense/symmetric_factor.hpp"

namespace supple {

ReducedBatchMechanics::ReducedBatchMechanics(const ReducedModel& model, const Device& device, int robots,
                                             const BatchSettings& settings)
    : ReducedRobots(model, robots) {
  if (model.columns() > r_)
    throw CapabilityError(
        "a batch on " + to_string(device) + " cannot step this model (its driven regions strain the body)",
        "--device cpu");
  const std::size_t widest = std::max({extent(r_, r_), extent(rows_.rows() + 1, r_), extent(model.robot.outputs())});
  if (extent(robots) * widest >= static_cast<std::size_t>(std::numeric_limits<int>::max()))
    throw InputError("a batch of " + std::to_string(robots) + " robots is too large (" + std::to_string(r_) +
                         " modes leave 32-bit indices for fewer)",
                     "several batches, one after the other");
  need_memory(device, ResidentRobots::bytes(model, rows_, device, robots, settings.precision),
              "a batch of " + std::to_string(robots) + " robots", "a smaller batch");
  on_ = std::make_unique<ResidentRobots>(model, rows_, device, robots, settings.precision);
  scale_materials();
}

ReducedBatchMechanics::~ReducedBatchMechanics() = default;

const Device& ReducedBatchMechanics::device() const {
  return on_->device;
}

void ReducedBatchMechanics::scale_materials() {
  on_->set_materials(model_, variations_.material_scale);
}

void ReducedBatchMechanics::evaluate_outputs(std::span<const double> q, std::span<const double> c,
                                             std::span<double> y) {
  if (on_->ny == 0) return;
  on_->exact.q.upload(q);
  if (m_ > 0) on_->c.upload(c);
  on_->find_outputs();
  on_->y.download(y);
}

PointReport ReducedBatchMechanics::evaluate_forces(std::span<const double> q, std::span<const double>, TangentKind kind,
                                                   std::span<double> f) {
  if (kind == TangentKind::exact)
    throw CapabilityError(
        "a batch on " + to_string(on_->device) + " has no exact tangent (its systems are factored by Cholesky)",
        "the implicit-euler integrator: one linearisation per step");
  if (kind != TangentKind::none) tangent_ = kind;
  on_->exact.q.upload(q);
  on_->find_forces(kind);
  on_->exact.f.download(f);
  on_->counts.download(on_->host_counts);
  PointReport report;
  for (const PointCount& count : on_->host_counts) {
    report.inverted += count.inverted;
    report.undefined += count.undefined;
    if (count.undefined_at >= 0 && report.first_undefined < 0)
      report.first_undefined = element_of_point(model_, count.undefined_at);
  }
  return report;
}

int element_of_point(const ReducedModel& model, int point) {
  for (const ReducedField& field : model.fields) {
    if (point < field.points()) return field.element[extent(point / field.points_per_element)];
    point -= field.points();
  }
  return -1;
}

void ReducedBatchMechanics::inertia(std::span<const double> v, std::span<const double> v_c,
                                    std::span<double> out) const {
  on_->v.upload(v);
  on_->multiply_mass(on_->v, on_->exact.f);
  if (!v_c.empty()) {
    on_->c.upload(v_c);
    gemm(on_->dense, r_, robots_, m_, 1.0, {on_->input_mass.data(), r_}, {on_->c.data(), m_}, 1.0,
         {on_->exact.f.data(), r_});
  }
  on_->exact.f.download(out);
}

void ReducedBatchMechanics::damping(std::span<const double> v, std::span<const double> v_c, std::span<double> out) {
  SUPPLE_EXPECT(model_.robot.rayleigh_stiffness == 0 || tangent_ != TangentKind::none);
  inertia(v, v_c, out);
  on_->damp(model_.robot.rayleigh_mass, model_.robot.rayleigh_stiffness);
  on_->exact.f.download(out);
}

// A += L_i^T S L_j, entries in the order of their robots.
void ReducedBatchMechanics::add_points(std::span<const PointStiffness> points) {
  if (points.empty()) return;
  SUPPLE_EXPECT(std::ranges::is_sorted(points, {}, &PointStiffness::robot));
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

SystemReport ReducedBatchMechanics::factor(const SystemCoefficients& coefficients, std::span<const double>,
                                           std::span<const double>) {
  SUPPLE_EXPECT(tangent_ == TangentKind::safe && !coefficients.geometric);
  ++factorisations_;
  on_->find_system(coefficients);
  add_points(coefficients.points);
  on_->factor_system(coefficients);
  on_->info.download(on_->host_info);
  const bool positive = std::all_of(on_->host_info.begin(), on_->host_info.end(), [](int info) { return info == 0; });
  SystemReport report{positive ? SystemStatus::ok : SystemStatus::not_positive};
  if (on_->strain_modes > 0) {
    on_->weakened.download(on_->host_info);
    report.weakened = std::accumulate(on_->host_info.begin(), on_->host_info.end(), 0);
  }
  return report;
}

void ReducedBatchMechanics::row_jacobians(const RowLayout& layout, std::span<const double> gradients,
                                          std::span<double> H, std::span<double> H_c) const {
  if (m_ > 0) input_jacobians(model_, layout, gradients, H_c);
  if (layout.rows() == 0) return;
  if (gradients.size() > on_->gradients.size()) on_->gradients = Array<double>(on_->device, gradients.size());
  if (H.size() > on_->H.size()) on_->H = Array<double>(on_->device, H.size());
  on_->gradients.upload(gradients);
  on_->find_jacobians(layout, on_->gradients, on_->H);
  on_->H.download(H);
}

void ReducedBatchMechanics::input_columns(const SystemCoefficients& coefficients, std::span<double> A_c) {
  SUPPLE_EXPECT(A_c.size() == extent(robots_, m_, r_) && !coefficients.geometric);
  // A rigid motion has no stiffness, nor do springs that hold the body to itself alone.
  for (std::size_t k = 0; k < A_c.size(); ++k) A_c[k] = coefficients.mass * model_.input_mass[k % extent(m_, r_)];
}

void ReducedBatchMechanics::solve(std::span<double> X, int count) {
  if (X.size() > on_->exact.X.size()) on_->exact.X = Array<double>(on_->device, X.size());
  on_->exact.X.upload(X);
  on_->solve_systems(on_->exact.X, count);
  on_->exact.X.download(X);
}

ResidentRobots& ReducedBatchMechanics::resident() {
  return *on_;
}

void ReducedBatchMechanics::solve_robot(int robot, std::span<double> X, int count) {
  cholesky_solve(on_->factor_of(robot), r_, r_, X.data(), count, r_);
}

bool ReducedBatchMechanics::root_solve(int robot, std::span<double> X, int count) {
  if (count > 0) forward_solve(on_->factor_of(robot), r_, r_, X.data(), count, r_);
  return true;
}

std::vector<double> ReducedBatchMechanics::stiffness() const {
  return on_->stiffness();
}

}  // namespace supple
