#include "engine/dynamics/resident_robots.hpp"

#include <algorithm>

namespace supple {

namespace {

// The law's tangent at the points of `count` robots; true: stress and status too, by laws that find all with one
// rotation.
template <class Law, class S>
bool launch_tangent(const Device& device, int count, const PointField<S>& field, TangentKind kind, const S* F, S* P,
                    unsigned char* status, S* tangent) {
  const int n = count * padded(field.points);
  if constexpr (requires { Law::template four_rows<S>; }) {
    launch(device, n, StressFourRowOp<Law, S>{field, kind, F, P, status, tangent});
    return true;
  } else {
    launch(device, n, TangentOp<Law, S>{field, kind, F, tangent});
    return false;
  }
}

// Robots go through the points a portion at a time: on a CPU one that stays in its caches, on a GPU one that fits its
// memory beside the rest and still fills it with work.
std::size_t portion_bytes(const Device& device) {
  return device.kind == Device::Kind::cpu ? std::size_t{4} << 20 : std::size_t{2} << 30;
}
constexpr int portion_multiple = 32;  // robots

}  // namespace

ResidentRobots::ResidentRobots(const ReducedModel& model, const RowLayout& rows, const Device& on, int count,
                               TangentPrecision tangent)
    : device(on),
      dense(on),
      precision(tangent),
      robots(count),
      r(model.modes),
      ny(model.robot.outputs()),
      m(model.motions()),
      regions(model.regions()),
      mass(upload(on, model.mass)),
      input_mass(upload(on, model.input_mass)),
      springs(upload(on, model.stiffness)),
      outputs(upload(on, model.outputs)),
      output_inputs(upload(on, model.output_inputs)) {
  const int n = rows.rows();
  const bool mixed = precision == TangentPrecision::fp32;
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

  int points_before = 0, most = 0;
  std::size_t robot_bytes = 0;
  for (const ReducedField& field : model.fields) {
    fields.emplace_back(on, model, field, points_before, precision);
    points_before += field.points();
    const int stride = padded(field.points());
    most = std::max(most, stride);
    const std::size_t scalar = mixed ? sizeof(float) : sizeof(double);
    const std::size_t gradients_bytes = 2 * gradient_components * (sizeof(double) + (mixed ? sizeof(float) : 0));
    robot_bytes =
        std::max(robot_bytes, extent(stride) * (gradients_bytes + extent(fields.back().tangent_components()) * scalar));
  }
  const std::size_t fitting =
      portion_bytes(on) / std::max<std::size_t>(robot_bytes, 1) / portion_multiple * portion_multiple;
  portion = static_cast<int>(std::clamp<std::size_t>(
      fitting, portion_multiple, extent((robots + portion_multiple - 1) / portion_multiple) * portion_multiple));
  portion = std::min(portion, robots);
  teams = team_count(on, portion);
  for (Array<double>* array : {&F, &P}) *array = Array<double>(on, extent(portion, most, gradient_components));
  status = Array<unsigned char>(on, extent(portion, most));
  if (!mixed) {
    exact = TangentScratch<double>(on, fields, r, portion, teams);
    return;
  }
  rounded = TangentScratch<float>(on, fields, r, portion, teams);
  for (Array<float>* array : {&rounded_F, &rounded_P})
    *array = Array<float>(on, extent(portion, most, gradient_components));
  rounded_K = Array<float>(on, extent(portion, r, r));
}

// K of `count` robots (+)= a field's share.
template <class S>
void ResidentRobots::add_stiffness(const ReducedModel& model, const ResidentField& field, const FieldArrays<S>& arrays,
                                   TangentScratch<S>& scratch, const ConstantStiffness<S>& constant_part, int count,
                                   S* stiffness) {
  const bool begins = &field == &fields.front();
  const auto sum = [&]<TangentRows rows>() {
    launch_teams(
        device, count, teams,
        ReducedStiffnessTeamOp<S, rows>{model.modes, field.tiles(), arrays.G.data(), scratch.tangent.data(), begins,
                                        constant_part, stiffness, scratch.teams.data(), scratch.team_length});
  };
  if (field.rows == TangentRows::four)
    sum.template operator()<TangentRows::four>();
  else
    sum.template operator()<TangentRows::nine>();
}

// f, K and the points' counts of robots [first, first + count).
void ResidentRobots::portion_forces(const ReducedModel& model, int first, int count, TangentKind kind) {
  const bool mixed = precision == TangentPrecision::fp32, tangent_wanted = kind != TangentKind::none;
  const double* alpha = q.data() + extent(first, r);
  double* force = f.data() + extent(first, r);
  double* stiffness = K.data() + extent(first, r, r);
  const double* scales = scale.size() > 0 ? scale.data() + extent(first, regions) : nullptr;
  const float* rounded_scales = scales && mixed ? rounded_scale.data() + extent(first, regions) : nullptr;
  // f = K_springs alpha
  gemm(dense, r, count, r, 1.0, {springs.data(), r}, {alpha, r}, 0.0, {force, r});
  for (const ResidentField& field : fields) {
    const int stride = padded(field.points), column = stride * gradient_components;
    const PointField<double> points_of_field = field.view(field.exact, scales, regions);
    // F = I + G_tile alpha: for each tile 288 rows of the columns of F.
    launch(device, count * stride, IdentityOp<double>{F.data()});
    gemm(dense, tile_rows, count, r, 1.0, {field.exact.G.data(), tile_rows, Transpose::no, tile_rows * r}, {alpha, r},
         1.0, {F.data(), column, tile_rows}, field.tiles());
    visit_law(field.law, [&](auto law) {
      using Law = decltype(law);
      bool stress_known = false;
      if (tangent_wanted && mixed) {
        launch(device, count * column, CastOp<double, float>{F.data(), rounded_F.data()});
        // The stress of this precision goes nowhere: forces are of the other.
        (void)launch_tangent<Law, float>(device, count, field.view(field.rounded, rounded_scales, regions), kind,
                                         rounded_F.data(), rounded_P.data(), status.data(), rounded.tangent.data());
      } else if (tangent_wanted) {
        stress_known = launch_tangent<Law, double>(device, count, points_of_field, kind, F.data(), P.data(),
                                                   status.data(), exact.tangent.data());
      }
      if (!stress_known)
        launch(device, count * stride, StressOp<Law, double>{points_of_field, F.data(), P.data(), status.data()});
    });
    const bool begins = &field == &fields.front();
    launch(device, count, PointCountOp{status.data(), field.points, field.first, begins, counts.data() + first});
    // f += G_tile^T P, tiles in order.
    for (int tile = 0; tile < field.tiles(); ++tile)
      gemm(dense, r, count, tile_rows, 1.0,
           {field.exact.G.data() + extent(tile, r, tile_rows), tile_rows, Transpose::yes},
           {P.data() + extent(tile, tile_rows), column}, 1.0, {force, r});
    if (tangent_wanted && mixed)
      add_stiffness<float>(model, field, field.rounded, rounded, {}, count, rounded_K.data());
    else if (tangent_wanted)
      add_stiffness<double>(model, field, field.exact, exact, constant_of(r, first), count, stiffness);
  }
  if (tangent_wanted && (mixed || fields.empty()))
    launch(device, count * r * r,
           StiffnessSumOp{constant_of(r, first), fields.empty() ? nullptr : rounded_K.data(), stiffness});
}

void ResidentRobots::set_materials(const ReducedModel& model, const std::vector<double>& material_scale) {
  // It depends on whether there are factors, not on which.
  if (constant.size() != extent(r, r, material_scale.empty() ? 1 : 1 + regions))
    constant = upload(device, material_scale.empty() ? constant_stiffness(model) : constant_stiffness_by_region(model));
  scale = upload(device, material_scale);
  if (precision == TangentPrecision::fp32)
    rounded_scale = upload(device, std::vector<float>(material_scale.begin(), material_scale.end()));
}

// y = y_rest + L alpha + L_c c
void ResidentRobots::find_outputs() {
  launch(device, robots * ny, RepeatOp<double>{rest.data(), ny, y.data()});
  gemm(dense, ny, robots, r, 1.0, {outputs.data(), r, Transpose::yes}, {q.data(), r}, 1.0, {y.data(), ny});
  if (m > 0)
    gemm(dense, ny, robots, m, 1.0, {output_inputs.data(), m, Transpose::yes}, {c.data(), m}, 1.0, {y.data(), ny});
}

void ResidentRobots::find_forces(const ReducedModel& model, TangentKind kind) {
  for (int first = 0; first < robots; first += portion)
    portion_forces(model, first, std::min(portion, robots - first), kind);
}

// M is symmetric: row-major is column-major.
void ResidentRobots::multiply_mass(const Array<double>& velocity, Array<double>& out) {
  gemm(dense, r, robots, r, 1.0, {mass.data(), r}, {velocity.data(), r}, 0.0, {out.data(), r});
}

// Column b of row i: h = L_i^T g, L_i the outputs that the row touches (row-major [count][r]).
void ResidentRobots::find_jacobians(const RowLayout& layout, const Array<double>& row_gradients,
                                    Array<double>& jacobians) {
  const int n = layout.rows();
  for (int row = 0; row < n; ++row) {
    const auto k = static_cast<std::size_t>(row);
    gemm(dense, r, robots, layout.count[k], 1.0, {outputs.data() + extent(layout.first[k], r), r},
         {row_gradients.data() + layout.offset[k], layout.gradients()}, 0.0,
         {jacobians.data() + extent(row, r), n * r});
  }
}

void ResidentRobots::find_system(const SystemCoefficients& coefficients) {
  launch(device, robots * r * r,
         SystemOp<double>{coefficients.stiffness, coefficients.mass, K.data(), mass.data(), r * r, A.data()});
}

void ResidentRobots::factor_system() {
  factors_here = false;
  potrf_batched(dense, r, A.data(), r, r * r, info.data(), robots);
}

void ResidentRobots::solve_systems(Array<double>& right_sides, int count) {
  potrs_batched(dense, r, count, A.data(), r, r * r, right_sides.data(), r, count * r, robots);
}

// On the host. A GPU's factors come across together.
const double* ResidentRobots::factor_of(int robot) {
  if (device.kind == Device::Kind::cpu) return A.data() + extent(robot, r, r);
  if (!factors_here) {
    host_factors.resize(A.size());
    A.download(host_factors);
    factors_here = true;
  }
  return host_factors.data() + extent(robot, r, r);
}

}  // namespace supple
