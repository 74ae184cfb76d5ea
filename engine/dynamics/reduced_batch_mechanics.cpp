#include "engine/dynamics/reduced_batch_mechanics.hpp"

#include <algorithm>
#include <limits>

#include "engine/dynamics/reduced_mechanics.hpp"
#include "kernels/array/array.hpp"
#include "kernels/array/launch.hpp"
#include "kernels/base/extent.hpp"
#include "kernels/points/batch_ops.hpp"
#include "solvers/dense/batched.hpp"

namespace supple {

namespace {

template <class T, class Allocator>
Array<T> upload(const Device& device, const std::vector<T, Allocator>& values) {
  return Array<T>(device, std::span<const T>(values));
}

// A force field's part of the model on the device.
struct ResidentField {
  LawId law;
  TangentRows rows;
  int points, first;  // first: number of its first point, counted across fields
  Array<double> weight, G;
  Array<int> region;
  Array<MaterialParameters<double>> parameters;
  Array<Mat3d> edges;

  ResidentField(const Device& device, const ReducedField& field, int first_point)
      : law(field.law),
        rows(has_four_rows(field.law) ? TangentRows::four : TangentRows::nine),
        points(field.points()),
        first(first_point),
        weight(upload(device, field.weight)),
        G(upload(device, field.G)),
        region(upload(device, field.region)),
        parameters(upload(device, field.parameters)),
        edges(upload(device, field.edges)) {}

  int tiles() const { return tile_count(points); }
  int tangent_components() const { return rows == TangentRows::four ? four_row_components : 81; }
  PointField<double> view() const {
    return {points, weight.data(), region.data(), parameters.data(), edges.size() == 0 ? nullptr : edges.data()};
  }
};

// Robots go through the points a portion at a time: on a CPU one that stays in its caches, on a GPU one that fits its
// memory beside the rest and still fills it with work.
std::size_t portion_bytes(const Device& device) {
  return device.kind == Device::Kind::cpu ? std::size_t{4} << 20 : std::size_t{2} << 30;
}
constexpr int portion_multiple = 32;  // robots

}  // namespace

struct ReducedBatchMechanics::Resident {
  Device device;
  DenseContext dense;
  std::vector<ResidentField> fields;
  Array<double> mass, input_mass, springs, constant_stiffness, outputs, output_inputs, rest;  // the model
  Array<double> q, v, c, f, y, gradients, H, X;                                               // per robot
  Array<double> K, A;
  Array<int> info;
  Array<PointCount> counts;
  int portion = 0, teams = 0;
  Array<double> F, P, tangent, scratch;  // per robot of a portion, per team
  std::size_t team_scratch = 0;          // scalars of scratch per team
  Array<unsigned char> status;
  std::vector<PointCount> host_counts;
  std::vector<int> host_info;

  Resident(const ReducedModel& model, const RowLayout& rows, const Device& on, int robots);
  void portion_forces(const ReducedModel& model, int first, int count, TangentKind kind);
};

ReducedBatchMechanics::Resident::Resident(const ReducedModel& model, const RowLayout& rows, const Device& on,
                                          int robots)
    : device(on),
      dense(on),
      mass(upload(on, model.mass)),
      input_mass(upload(on, model.input_mass)),
      springs(upload(on, model.stiffness)),
      constant_stiffness(upload(on, supple::constant_stiffness(model))),
      outputs(upload(on, model.outputs)),
      output_inputs(upload(on, model.output_inputs)) {
  const int r = model.modes, ny = model.robot.outputs(), n = rows.rows();
  std::vector<double> rest_values;
  for (const Vec3d& x : model.robot.rest_points) rest_values.insert(rest_values.end(), {x[0], x[1], x[2]});
  rest = upload(on, rest_values);
  for (Array<double>* array : {&q, &v, &f}) *array = Array<double>(on, extent(robots, r));
  c = Array<double>(on, extent(robots, model.motions()));
  y = Array<double>(on, extent(robots, ny));
  gradients = Array<double>(on, extent(robots, rows.gradients()));
  H = Array<double>(on, extent(robots, n, r));
  X = Array<double>(on, extent(robots, n + 1, r));
  for (Array<double>* array : {&K, &A}) *array = Array<double>(on, extent(robots, r, r));
  info = Array<int>(on, extent(robots));
  host_info.assign(extent(robots), 0);
  host_counts.assign(extent(robots), {0, 0, -1});
  counts = upload(on, host_counts);

  int points = 0, most = 0, most_tangent = 0;
  for (const ReducedField& field : model.fields) {
    fields.emplace_back(on, field, points);
    points += field.points();
    most = std::max(most, padded(field.points()));
    most_tangent = std::max(most_tangent, padded(field.points()) * fields.back().tangent_components());
    team_scratch = std::max(team_scratch, stiffness_scratch<double>(fields.back().rows, r));
  }
  const std::size_t robot_bytes = (extent(most, 2 * gradient_components) + extent(most_tangent)) * sizeof(double);
  const std::size_t fitting =
      portion_bytes(on) / std::max<std::size_t>(robot_bytes, 1) / portion_multiple * portion_multiple;
  portion = static_cast<int>(std::clamp<std::size_t>(
      fitting, portion_multiple, extent((robots + portion_multiple - 1) / portion_multiple) * portion_multiple));
  portion = std::min(portion, robots);
  teams = team_count(on, portion);
  for (Array<double>* array : {&F, &P}) *array = Array<double>(on, extent(portion, most, gradient_components));
  tangent = Array<double>(on, extent(portion, most_tangent));
  status = Array<unsigned char>(on, extent(portion, most));
  scratch = Array<double>(on, extent(teams) * team_scratch);
}

// f, K and the points' counts of robots [first, first + count).
void ReducedBatchMechanics::Resident::portion_forces(const ReducedModel& model, int first, int count,
                                                     TangentKind kind) {
  const int r = model.modes;
  const double* alpha = q.data() + extent(first, r);
  double* force = f.data() + extent(first, r);
  double* stiffness = K.data() + extent(first, r, r);
  // f = K_springs alpha
  gemm(dense, r, count, r, 1.0, {springs.data(), r}, {alpha, r}, 0.0, {force, r});
  for (const ResidentField& field : fields) {
    const int stride = padded(field.points), column = stride * gradient_components;
    // F = I + G_tile alpha: for each tile 288 rows of the columns of F.
    launch(device, count * stride, IdentityOp<double>{F.data()});
    gemm(dense, tile_rows, count, r, 1.0, {field.G.data(), tile_rows, Transpose::no, tile_rows * r}, {alpha, r}, 1.0,
         {F.data(), column, tile_rows}, field.tiles());
    visit_law(field.law, [&](auto law) {
      using Law = decltype(law);
      if constexpr (requires { Law::template four_rows<double>; })
        if (kind != TangentKind::none) {
          launch(device, count * stride,
                 StressFourRowOp<Law, double>{field.view(), kind, F.data(), P.data(), status.data(), tangent.data()});
          return;
        }
      launch(device, count * stride, StressOp<Law, double>{field.view(), F.data(), P.data(), status.data()});
      if constexpr (!requires { Law::template four_rows<double>; })
        if (kind != TangentKind::none)
          launch(device, count * stride, TangentOp<Law, double>{field.view(), kind, F.data(), tangent.data()});
    });
    const bool begins = &field == &fields.front();
    launch(device, count, PointCountOp{status.data(), field.points, field.first, begins, counts.data() + first});
    // f += G_tile^T P, tiles in order.
    for (int tile = 0; tile < field.tiles(); ++tile)
      gemm(dense, r, count, tile_rows, 1.0, {field.G.data() + extent(tile, r, tile_rows), tile_rows, Transpose::yes},
           {P.data() + extent(tile, tile_rows), column}, 1.0, {force, r});
    if (kind == TangentKind::none) continue;
    const double* initial = begins ? constant_stiffness.data() : nullptr;
    const auto sum_stiffness = [&]<TangentRows rows>() {
      launch_teams(device, count, teams,
                   ReducedStiffnessTeamOp<double, rows>{r, field.tiles(), field.G.data(), tangent.data(), initial,
                                                        stiffness, scratch.data(), team_scratch});
    };
    if (field.rows == TangentRows::four)
      sum_stiffness.template operator()<TangentRows::four>();
    else
      sum_stiffness.template operator()<TangentRows::nine>();
  }
}

ReducedBatchMechanics::ReducedBatchMechanics(const ReducedModel& model, const Device& device, int robots)
    : model_(model), robots_(robots), r_(model.modes), m_(model.motions()), rows_(row_layout(model.robot)) {
  if (model.columns() > r_)
    throw CapabilityError(
        "a batch on " + to_string(device) + " cannot step this model (its driven regions strain the body)",
        "--device cpu");
  if (model.robot.pairs() > 0)
    throw CapabilityError("a batch on " + to_string(device) + " has no contact, and this model has obstacles",
                          "--device cpu");
  if (!model.robot.springs.empty())
    throw CapabilityError("a batch on " + to_string(device) + " has no springs as forces, and this model has some",
                          "--device cpu, or as = \"constraint\" in the scene");
  const std::size_t widest = std::max({extent(r_, r_), extent(rows_.rows() + 1, r_), extent(model.robot.outputs())});
  if (extent(robots) * widest >= static_cast<std::size_t>(std::numeric_limits<int>::max()))
    throw InputError("a batch of " + std::to_string(robots) + " robots is too large (" + std::to_string(r_) +
                         " modes leave 32-bit indices for fewer)",
                     "several batches, one after the other");
  coordinates_.add(CoordinateBlock::Kind::modes, model.robot.name, r_);
  on_ = std::make_unique<Resident>(model, rows_, device, robots);
}

ReducedBatchMechanics::~ReducedBatchMechanics() = default;

const Device& ReducedBatchMechanics::device() const {
  return on_->device;
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
  tangent_ = kind;
  on_->q.upload(q);
  if (on_->fields.empty() && kind != TangentKind::none)
    launch(on_->device, robots_ * r_ * r_, RepeatOp<double>{on_->constant_stiffness.data(), r_ * r_, on_->K.data()});
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

void ReducedBatchMechanics::external_forces(std::span<double> p) const {
  const Vec3d& g = model_.robot.gravity;
  for (std::size_t k = 0; k < extent(robots_, r_); ++k) {
    const double* row = model_.gravity.data() + 3 * (k % extent(r_));
    p[k] = row[0] * g[0] + row[1] * g[1] + row[2] * g[2];
  }
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

SystemReport ReducedBatchMechanics::factor(const SystemCoefficients& coefficients, std::span<const double>,
                                           std::span<const double>) {
  SUPPLE_EXPECT(tangent_ == TangentKind::safe && !coefficients.geometric && coefficients.points.empty());
  launch(on_->device, robots_ * r_ * r_,
         SystemOp<double>{coefficients.stiffness, coefficients.mass, on_->K.data(), on_->mass.data(), r_ * r_,
                          on_->A.data()});
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
  // A rigid motion has no stiffness.
  for (std::size_t k = 0; k < A_c.size(); ++k) A_c[k] = coefficients.mass * model_.input_mass[k % extent(m_, r_)];
}

void ReducedBatchMechanics::solve(std::span<double> X, int count) {
  if (X.size() > on_->X.size()) on_->X = Array<double>(on_->device, X.size());
  on_->X.upload(X);
  potrs_batched(on_->dense, r_, count, on_->A.data(), r_, r_ * r_, on_->X.data(), r_, count * r_, robots_);
  on_->X.download(X);
}

// The constructor refuses robots that need these.
void ReducedBatchMechanics::multiply_rows(const PointRows&, std::span<const double>, int, std::span<double>) const {
  SUPPLE_EXPECT(false);
}
void ReducedBatchMechanics::add_row_forces(const PointRows&, std::span<const double>, std::span<double>) const {
  SUPPLE_EXPECT(false);
}
void ReducedBatchMechanics::solve_robot(int, std::span<double>, int) {
  SUPPLE_EXPECT(false);
}
bool ReducedBatchMechanics::root_solve(int, std::span<double>, int) {
  SUPPLE_EXPECT(false);
  return false;
}

std::vector<double> ReducedBatchMechanics::stiffness() const {
  std::vector<double> K(on_->K.size());
  on_->K.download(K);
  return K;
}

}  // namespace supple
