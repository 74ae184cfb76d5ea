#include "engine/dynamics/reduced_batch_mechanics.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "engine/dynamics/resident_robots.hpp"
#include "kernels/base/error.hpp"
#include "kernels/points/point_stiffness.hpp"
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
  on_ = std::make_unique<ResidentRobots>(model, rows_, device, robots, settings.tangent);
  scale_materials();
}

ReducedBatchMechanics::~ReducedBatchMechanics() = default;

const Device& ReducedBatchMechanics::device() const {
  return on_->device;
}

void ReducedBatchMechanics::scale_materials() {
  const std::vector<double>& scale = variations_.material_scale;
  // It depends on whether there are factors, not on which.
  if (on_->constant.size() != extent(r_, r_, scale.empty() ? 1 : 1 + on_->regions))
    on_->constant =
        upload(on_->device, scale.empty() ? constant_stiffness(model_) : constant_stiffness_by_region(model_));
  on_->scale = upload(on_->device, scale);
  if (on_->precision == TangentPrecision::fp32)
    on_->rounded_scale = upload(on_->device, std::vector<float>(scale.begin(), scale.end()));
}

void ReducedBatchMechanics::evaluate_outputs(std::span<const double> q, std::span<const double> c,
                                             std::span<double> y) {
  const int ny = model_.robot.outputs();
  if (ny == 0) return;
  on_->q.upload(q);
  // y = y_rest + L alpha + L_c c
  launch(on_->device, robots_ * ny, RepeatOp<double>{on_->rest.data(), ny, on_->y.data()});
  gemm(on_->dense, ny, robots_, r_, 1.0, {on_->outputs.data(), r_, Transpose::yes}, {on_->q.data(), r_}, 1.0,
       {on_->y.data(), ny});
  if (m_ > 0) {
    on_->c.upload(c);
    gemm(on_->dense, ny, robots_, m_, 1.0, {on_->output_inputs.data(), m_, Transpose::yes}, {on_->c.data(), m_}, 1.0,
         {on_->y.data(), ny});
  }
  on_->y.download(y);
}

PointReport ReducedBatchMechanics::evaluate_forces(std::span<const double> q, std::span<const double>, TangentKind kind,
                                                   std::span<double> f) {
  if (kind == TangentKind::exact)
    throw CapabilityError(
        "a batch on " + to_string(on_->device) + " has no exact tangent (its systems are factored by Cholesky)",
        "the implicit-euler integrator: one linearisation per step");
  if (kind != TangentKind::none) tangent_ = kind;
  on_->q.upload(q);
  for (int first = 0; first < robots_; first += on_->portion)
    on_->portion_forces(model_, first, std::min(on_->portion, robots_ - first), kind);
  on_->f.download(f);
  on_->counts.download(on_->host_counts);
  PointReport report;
  for (const PointCount& count : on_->host_counts) {
    report.inverted += count.inverted;
    report.undefined += count.undefined;
    if (count.undefined_at < 0 || report.first_undefined >= 0) continue;
    int point = count.undefined_at;
    for (const ReducedField& field : model_.fields) {
      if (point < field.points()) {
        report.first_undefined = field.element[extent(point / field.points_per_element)];
        break;
      }
      point -= field.points();
    }
  }
  return report;
}

void ReducedBatchMechanics::inertia(std::span<const double> v, std::span<const double> v_c,
                                    std::span<double> out) const {
  on_->v.upload(v);
  // M is symmetric: row-major is column-major.
  gemm(on_->dense, r_, robots_, r_, 1.0, {on_->mass.data(), r_}, {on_->v.data(), r_}, 0.0, {on_->f.data(), r_});
  if (!v_c.empty()) {
    on_->c.upload(v_c);
    gemm(on_->dense, r_, robots_, m_, 1.0, {on_->input_mass.data(), r_}, {on_->c.data(), m_}, 1.0, {on_->f.data(), r_});
  }
  on_->f.download(out);
}

void ReducedBatchMechanics::damping(std::span<const double> v, std::span<const double> v_c, std::span<double> out) {
  SUPPLE_EXPECT(model_.robot.rayleigh_stiffness == 0 || tangent_ != TangentKind::none);
  inertia(v, v_c, out);
  launch(on_->device, robots_ * r_,
         DampingOp<double>{r_, model_.robot.rayleigh_mass, model_.robot.rayleigh_stiffness, on_->K.data(),
                           on_->v.data(), on_->f.data()});
  on_->f.download(out);
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
  launch(on_->device, robots_ * r_,
         PointStiffnessOp{r_, on_->outputs.data(), on_->points.data(), on_->first_point.data(), on_->A.data()});
}

SystemReport ReducedBatchMechanics::factor(const SystemCoefficients& coefficients, std::span<const double>,
                                           std::span<const double>) {
  SUPPLE_EXPECT(tangent_ == TangentKind::safe && !coefficients.geometric);
  ++factorisations_;
  launch(on_->device, robots_ * r_ * r_,
         SystemOp<double>{coefficients.stiffness, coefficients.mass, on_->K.data(), on_->mass.data(), r_ * r_,
                          on_->A.data()});
  add_points(coefficients.points);
  on_->factors_here = false;
  potrf_batched(on_->dense, r_, on_->A.data(), r_, r_ * r_, on_->info.data(), robots_);
  on_->info.download(on_->host_info);
  const bool positive = std::all_of(on_->host_info.begin(), on_->host_info.end(), [](int info) { return info == 0; });
  return {positive ? SystemStatus::ok : SystemStatus::not_positive, 0};
}

void ReducedBatchMechanics::row_jacobians(const RowLayout& layout, std::span<const double> gradients,
                                          std::span<double> H, std::span<double> H_c) const {
  const int n = layout.rows(), flat = layout.gradients();
  if (m_ > 0) input_jacobians(model_, layout, gradients, H_c);
  if (n == 0) return;
  if (gradients.size() > on_->gradients.size()) on_->gradients = Array<double>(on_->device, gradients.size());
  if (H.size() > on_->H.size()) on_->H = Array<double>(on_->device, H.size());
  on_->gradients.upload(gradients);
  // Column b of row i: h = L_i^T g, L_i the outputs that the row touches (row-major [count][r]).
  for (int row = 0; row < n; ++row) {
    const auto k = static_cast<std::size_t>(row);
    gemm(on_->dense, r_, robots_, layout.count[k], 1.0, {on_->outputs.data() + extent(layout.first[k], r_), r_},
         {on_->gradients.data() + layout.offset[k], flat}, 0.0, {on_->H.data() + extent(row, r_), n * r_});
  }
  on_->H.download(H);
}

void ReducedBatchMechanics::input_columns(const SystemCoefficients& coefficients, std::span<double> A_c) {
  SUPPLE_EXPECT(A_c.size() == extent(robots_, m_, r_) && !coefficients.geometric);
  // A rigid motion has no stiffness, nor do springs that hold the body to itself alone.
  for (std::size_t k = 0; k < A_c.size(); ++k) A_c[k] = coefficients.mass * model_.input_mass[k % extent(m_, r_)];
}

void ReducedBatchMechanics::solve(std::span<double> X, int count) {
  if (X.size() > on_->X.size()) on_->X = Array<double>(on_->device, X.size());
  on_->X.upload(X);
  potrs_batched(on_->dense, r_, count, on_->A.data(), r_, r_ * r_, on_->X.data(), r_, count * r_, robots_);
  on_->X.download(X);
}

void ReducedBatchMechanics::solve_robot(int robot, std::span<double> X, int count) {
  cholesky_solve(on_->factor_of(robot, r_), r_, r_, X.data(), count, r_);
}

bool ReducedBatchMechanics::root_solve(int robot, std::span<double> X, int count) {
  if (count > 0) forward_solve(on_->factor_of(robot, r_), r_, r_, X.data(), count, r_);
  return true;
}

std::vector<double> ReducedBatchMechanics::stiffness() const {
  std::vector<double> K(on_->K.size());
  on_->K.download(K);
  return K;
}

}  // namespace supple
