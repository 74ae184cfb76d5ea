#include "engine/mechanics/reduced/resident_robots.hpp"

#include <algorithm>

#include "kernels/array/room.hpp"

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

// Robots go through the points a chunk at a time: on a CPU one that stays in its caches, on a GPU one that fits its
// memory beside the rest and still fills it with work.
std::size_t portion_bytes(const Device& device) {
  return device.kind == Device::Kind::cpu ? std::size_t{4} << 20 : std::size_t{2} << 30;
}
constexpr int portion_multiple = 32;  // robots

struct Portion {
  int robots = 0;
  std::size_t bytes = 0;  // of each
  int strain_modes = 0;
};

Portion portion_of(const ReducedModel& model, const Device& device, int robots, Precision precision) {
  const bool some = precision != Precision::fp64, all = precision == Precision::fp32;
  std::size_t bytes = 0;
  int strain_modes = 0;
  for (const ReducedField& field : model.fields) {
    strain_modes += field.strains.count;
    if (field.strains.count > 0) continue;
    const std::size_t gradients = 2 * gradient_components * ((all ? 0 : sizeof(double)) + (some ? sizeof(float) : 0));
    const std::size_t tangent = extent(tangent_components(tangent_rows(field.law)));
    bytes = std::max(bytes,
                     extent(padded(field.points())) * (gradients + tangent * (some ? sizeof(float) : sizeof(double))));
  }
  const std::size_t of_strains = extent(strain_modes, model.modes) * (all ? sizeof(float) : sizeof(double));
  const std::size_t larger = std::max<std::size_t>({bytes, of_strains, 1});
  const std::size_t fitting = portion_bytes(device) / larger / portion_multiple * portion_multiple;
  const std::size_t most = extent((robots + portion_multiple - 1) / portion_multiple) * portion_multiple;
  return {std::min(static_cast<int>(std::clamp<std::size_t>(fitting, portion_multiple, most)), robots),
          bytes + of_strains, strain_modes};
}

}  // namespace

std::size_t ResidentRobots::bytes(const ReducedModel& model, const Device& device, int robots, Precision precision) {
  const int r = model.modes;
  const bool some = precision != Precision::fp64, all = precision == Precision::fp32;
  const std::size_t square = extent(r, r), rounded = some ? sizeof(float) : 0, exact = all ? 0 : sizeof(double);
  const Portion portion = portion_of(model, device, robots, precision);
  const std::size_t systems = 2 * square * (all ? sizeof(float) : sizeof(double)) +
                              (all && model.robot.pairs() > 0 ? square * sizeof(double) : 0);
  const std::size_t copies = all ? extent(2 * r) * sizeof(float) : 0;
  const std::size_t modes = extent(portion.strain_modes), real = all ? sizeof(float) : sizeof(double);
  const std::size_t strains = modes == 0 ? 0 : (modes + square) * real;  // and a system on trial
  std::size_t of_model = extent(model.robot.outputs(), r) * sizeof(double) + 3 * square * (exact + rounded) +
                         modes * (square + extent(r)) * real;
  std::size_t team = 0, points = 0;
  const TeamKind kind = team_kind(device);
  for (const ReducedField& field : model.fields) {
    of_model += field.G.size() * (exact + rounded);
    if (field.strains.count > 0) continue;
    const TangentRows form = tangent_rows(field.law);
    team = std::max(team, some ? stiffness_scratch<float>(form, r, kind) * sizeof(float)
                               : stiffness_scratch<double>(form, r, kind) * sizeof(double));
    points = std::max(points, extent(padded(field.points())));
  }
  return of_model + extent(robots) * (systems + copies + strains) +
         extent(portion.robots) * (portion.bytes + points + (some && !all ? square * sizeof(float) : 0)) +
         extent(team_count(device, portion.robots)) * team;
}

ResidentRobots::ResidentRobots(const ReducedModel& model, const Device& on, int count, Precision wanted)
    : device(on),
      dense(on),
      precision(wanted),
      robots(count),
      r(model.modes),
      ny(model.robot.outputs()),
      m(model.motions()),
      regions(model.regions()),
      input_mass(upload(on, model.input_mass)),
      outputs(upload(on, model.outputs)),
      output_inputs(upload(on, model.output_inputs)) {
  const bool some = precision != Precision::fp64, all = precision == Precision::fp32;
  std::vector<double> rest_values;
  for (const Vec3d& x : model.robot.rest_points) rest_values.insert(rest_values.end(), {x[0], x[1], x[2]});
  rest = upload(on, rest_values);
  mass = upload(on, model.mass);
  info = Array<int>(on, extent(robots));

  int most = 0;
  for (const ReducedField& field : model.fields) {
    strain_modes += field.strains.count;
    if (field.strains.count > 0) continue;
    fields.emplace_back(on, model, field, precision);
    most = std::max(most, padded(field.points()));
  }
  portion = portion_of(model, on, robots, precision).robots;
  teams = team_count(on, portion);
  status = Array<unsigned char>(on, extent(portion, most));
  const auto points_in = [&]<class S>(PrecisionArrays<S>& arrays) {
    for (Array<S>* array : {&arrays.F, &arrays.P}) *array = Array<S>(on, extent(portion, most, gradient_components));
  };
  const auto systems_in = [&]<class S>(PrecisionArrays<S>& arrays) {
    arrays.springs = upload(on, std::vector<S>(model.stiffness.begin(), model.stiffness.end()));
    arrays.mass = upload(on, std::vector<S>(model.mass.begin(), model.mass.end()));
    for (Array<S>* array : {&arrays.K, &arrays.A}) *array = Array<S>(on, extent(robots, r, r));
  };
  if (some) {
    points_in(rounded);
    rounded.tangent = TangentScratch<float>(on, fields, r, portion, teams);
  } else {
    exact.tangent = TangentScratch<double>(on, fields, r, portion, teams);
  }
  all ? take_strain_modes(model, rounded) : take_strain_modes(model, exact);
  if (!all) {
    points_in(exact);
    systems_in(exact);
    if (some) rounded.K = Array<float>(on, extent(portion, r, r));
    return;
  }
  systems_in(rounded);
  for (Array<float>* array : {&rounded.q, &rounded.f}) *array = Array<float>(on, extent(robots, r));
  // The rows of contacts are taken through half a factor in double.
  if (model.robot.pairs() > 0) exact.A = Array<double>(on, extent(robots, r, r));
}

template <class S>
void ResidentRobots::take_strain_modes(const ReducedModel& model, PrecisionArrays<S>& arrays) {
  if (strain_modes == 0) return;
  std::vector<S> linear, quadratic;
  std::vector<int> region;
  for (const ReducedField& field : model.fields) {
    const StrainModes& modes = field.strains;
    linear.insert(linear.end(), modes.linear.begin(), modes.linear.end());
    if (modes.count > 0) region.insert(region.end(), extent(modes.count), model.strain_region(field));
    const double* Q = modes.quadratic.data();
    for (int k = 0; k < modes.count; ++k) {
      const std::size_t first = quadratic.size();
      quadratic.resize(first + extent(r, r));
      for (int i = 0; i < r; ++i)
        for (int j = 0; j <= i; ++j, ++Q)
          quadratic[first + extent(i, r) + extent(j)] = quadratic[first + extent(j, r) + extent(i)] =
              static_cast<S>(*Q);
    }
  }
  arrays.modes = {upload(device, linear), upload(device, quadratic)};
  strain_region = upload(device, region);
  arrays.strains = Array<S>(device, extent(robots, strain_modes));
  arrays.W = Array<S>(device, extent(portion, strain_modes, r));
  arrays.trial = Array<S>(device, extent(robots, r, r));
  weakened = Array<int>(device, extent(robots));
}

// f += W^T e s and K += W^T e W + sum_k e_k s_k Q_k of robots [first, first + count).
template <class S>
void ResidentRobots::add_strains(const S* q, S* f, int first, int count, TangentKind kind) {
  const int modes = strain_modes;
  PrecisionArrays<S>& mine = in<S>();
  const S* alpha = q + extent(first, r);
  const S* Q = mine.modes.quadratic.data();
  S* strains = mine.strains.data() + extent(first, modes);
  S* W = mine.W.data();
  const StrainScale<S> factors = strain_scale_of<S>(first);
  launch(device, count * modes * r, RepeatOp<S>{mine.modes.linear.data(), modes * r, W});
  gemm(dense, modes * r, count, r, S(1), {Q, r, Transpose::yes}, {alpha, r}, S(1), {W, modes * r});
  launch(device, count * modes, StrainOp<S>{modes, r, mine.modes.linear.data(), alpha, factors, W, strains});
  const StrainParts<S> parts{modes, r, factors, W, strains};
  launch(device, count * r, StrainForceOp<S>{parts, f + extent(first, r)});
  if constexpr (std::is_same_v<S, double>)
    if (kind != TangentKind::safe && judges())
      launch(device, count * r, StrainMagnitudeOp{parts, newton.magnitude.data() + extent(first, r)});
  if (kind == TangentKind::none) return;
  S* stiffness = mine.K.data() + extent(first, r, r);
  gemm(dense, r * r, count, modes, S(1), {Q, r * r}, {strains, modes}, S(1), {stiffness, r * r});
  gemm(dense, r, r, modes, S(1), {W, r, Transpose::no, modes * r}, {W, r, Transpose::yes, modes * r}, S(1),
       {stiffness, r, r * r}, count);
}

// K of `count` robots (+)= a field's share.
template <class S>
void ResidentRobots::add_stiffness(const ResidentField& field, const ConstantStiffness<S>& constant_part, int count,
                                   S* stiffness) {
  const bool begins = &field == &fields.front();
  TangentScratch<S>& scratch = in<S>().tangent;
  const auto sum = [&]<TangentRows rows>() {
    launch_teams(
        device, count, teams,
        ReducedStiffnessTeamOp<S, rows>{r, field.points, field.in<S>().G.data(), scratch.tangent.data(), begins,
                                        constant_part, stiffness, scratch.teams.data(), scratch.team_length});
  };
  if (field.rows == TangentRows::four)
    sum.template operator()<TangentRows::four>();
  else
    sum.template operator()<TangentRows::nine>();
}

// f, K and the points' counts of robots [first, first + count). S: of the forces.
template <class S>
void ResidentRobots::portion_forces(const S* q, S* f, PointReport* found, int first, int count, TangentKind kind) {
  const bool mixed = precision == Precision::mixed, tangent_wanted = kind != TangentKind::none;
  PrecisionArrays<S>& mine = in<S>();
  const S* alpha = q + extent(first, r);
  S* force = f + extent(first, r);
  S* stiffness = mine.K.data() + extent(first, r, r);
  // f = K_springs alpha
  gemm(dense, r, count, r, S(1), {mine.springs.data(), r}, {alpha, r}, S(0), {force, r});
  constexpr bool in_double = std::is_same_v<S, double>;
  double* const magnitude =
      in_double && kind != TangentKind::safe && judges() ? newton.magnitude.data() + extent(first, r) : nullptr;
  if constexpr (in_double)
    if (magnitude) launch(device, count * r, SpringMagnitudeOp{force, magnitude});
  for (const ResidentField& field : fields) {
    const int stride = padded(field.points), column = stride * gradient_components;
    const S* G = field.in<S>().G.data();
    const PointField<S> points_of_field = field.view<S>(scale_of<S>(first), regions);
    // F - I = G_tile alpha: for each tile 288 rows of the columns of F. The ops of the points add the identity.
    gemm(dense, tile_rows, count, r, S(1), {G, tile_rows, Transpose::no, tile_rows * r}, {alpha, r}, S(0),
         {mine.F.data(), column, tile_rows}, field.tiles());
    visit_law(field.law, [&](auto law) {
      using Law = decltype(law);
      bool stress_known = false;
      if (tangent_wanted && !mixed)
        stress_known = launch_tangent<Law, S>(device, count, points_of_field, kind, mine.F.data(), mine.P.data(),
                                              status.data(), mine.tangent.tangent.data());
      if constexpr (std::is_same_v<S, double>)
        if (tangent_wanted && mixed) {
          launch(device, count * column, CastOp<double, float>{mine.F.data(), rounded.F.data()});
          // The stress of this precision goes nowhere: forces are of the other.
          (void)launch_tangent<Law, float>(device, count, field.view<float>(scale_of<float>(first), regions), kind,
                                           rounded.F.data(), rounded.P.data(), status.data(),
                                           rounded.tangent.tangent.data());
        }
      if (!stress_known)
        launch(device, count * stride, StressOp<Law, S>{points_of_field, mine.F.data(), mine.P.data(), status.data()});
    });
    const bool begins = &field == &fields.front();
    launch(device, count,
           PointCountOp{status.data(), field.points, field.element.data(), field.points_per_element, begins,
                        found + first});
    // f += G_tile^T P, tiles in order.
    for (int tile = 0; tile < field.tiles(); ++tile)
      gemm(dense, r, count, tile_rows, S(1), {G + extent(tile, r, tile_rows), tile_rows, Transpose::yes},
           {mine.P.data() + extent(tile, tile_rows), column}, S(1), {force, r});
    if constexpr (in_double)
      if (magnitude) launch(device, count * r, PointMagnitudeOp{r, field.tiles(), G, mine.P.data(), magnitude});
    if (tangent_wanted && mixed)
      add_stiffness<float>(field, {}, count, rounded.K.data());
    else if (tangent_wanted)
      add_stiffness<S>(field, constant_of<S>(first), count, stiffness);
  }
  if (tangent_wanted && (mixed || fields.empty()))
    launch(device, count * r * r,
           StiffnessSumOp<S>{constant_of<S>(first), fields.empty() ? nullptr : rounded.K.data(), stiffness});
  if (strain_modes > 0) add_strains<S>(q, f, first, count, kind);
  if (!magnitude) return;
  const bool each = newton.rounding_forces.size() > 1;
  launch(
      device, count,
      ForceScaleOp{r, magnitude, newton.rounding_forces.data() + (each ? first : 0), each ? count : 1, found + first});
}

void ResidentRobots::reserve_newton(const std::vector<double>& rounding_forces) {
  if (judges()) return;
  const std::size_t square = extent(r, r), inputs = extent(m, r);
  need_memory(device, extent(robots) * (extent(r) + square + inputs) * sizeof(double) + extent(robots, r) * sizeof(int),
              "Newton's method on a batch of " + std::to_string(robots) + " robots", "a smaller batch");
  newton.magnitude = Array<double>(device, extent(robots, r));
  newton.geometric = Array<double>(device, extent(robots) * square);
  newton.of_inputs = Array<double>(device, extent(robots) * inputs);
  newton.pivots = Array<int>(device, extent(robots, r));
  newton.factored = Array<LdltReport>(device, extent(robots));
  newton.host_geometric.resize(extent(robots) * square);
  newton.host_of_inputs.resize(extent(robots) * inputs);
  newton.rounding_forces = upload(device, rounding_forces);
}

void ResidentRobots::set_materials(const ReducedModel& model, const std::vector<double>& material_scale) {
  const auto set = [&]<class S>(PrecisionArrays<S>& arrays) {
    // It depends on whether there are factors, not on which.
    if (arrays.constant.size() != extent(r, r, material_scale.empty() ? 1 : 1 + regions)) {
      const auto terms = material_scale.empty() ? constant_stiffness(model) : constant_stiffness_by_region(model);
      arrays.constant = upload(device, std::vector<S>(terms.begin(), terms.end()));
    }
    arrays.scale = upload(device, std::vector<S>(material_scale.begin(), material_scale.end()));
  };
  if (precision != Precision::fp32) set(exact);
  if (precision != Precision::fp64) set(rounded);
}

void ResidentRobots::set_systems(std::span<const RobotSystem> own) {
  systems = upload(device, std::vector<RobotSystem>(own.begin(), own.end()));
}

// y = y_rest + L alpha + L_c c
void ResidentRobots::find_outputs(const double* q, const double* c, double* y) {
  if (ny == 0) return;
  launch(device, robots * ny, RepeatOp<double>{rest.data(), ny, y});
  gemm(dense, ny, robots, r, 1.0, {outputs.data(), r, Transpose::yes}, {q, r}, 1.0, {y, ny});
  if (m > 0) gemm(dense, ny, robots, m, 1.0, {output_inputs.data(), m, Transpose::yes}, {c, m}, 1.0, {y, ny});
}

void ResidentRobots::find_forces(const double* q, TangentKind kind, double* f, PointReport* found) {
  const bool all = precision == Precision::fp32;
  if (all) launch(device, robots * r, CastOp<double, float>{q, rounded.q.data()});
  if (fields.empty()) launch(device, robots, NoPointsOp{found});
  for (int first = 0; first < robots; first += portion) {
    const int count = std::min(portion, robots - first);
    if (all)
      portion_forces<float>(rounded.q.data(), rounded.f.data(), found, first, count, kind);
    else
      portion_forces<double>(q, f, found, first, count, kind);
  }
  if (all) launch(device, robots * r, CastOp<float, double>{rounded.f.data(), f});
}

// M is symmetric: row-major is column-major.
void ResidentRobots::multiply_mass(const double* v, const double* v_c, double* out) {
  gemm(dense, r, robots, r, 1.0, {mass.data(), r}, {v, r}, 0.0, {out, r});
  if (m > 0 && v_c != nullptr) gemm(dense, r, robots, m, 1.0, {input_mass.data(), r}, {v_c, m}, 1.0, {out, r});
  if (systems.size() > 0) launch(device, robots * r, DensityOp{systems.data(), r, out});
}

// Column b of row i: h = L_i^T g, L_i the outputs that the row touches (row-major [count][r]); the same for the inputs.
void ResidentRobots::find_jacobians(const RowLayout& layout, const double* gradients, double* H, double* H_c) {
  const int n = layout.rows();
  const auto find = [&](int columns, const Array<double>& L, double* out) {
    for (int row = 0; columns > 0 && row < n; ++row) {
      const auto k = static_cast<std::size_t>(row);
      gemm(dense, columns, robots, layout.count[k], 1.0, {L.data() + extent(layout.first[k], columns), columns},
           {gradients + layout.offset[k], layout.gradients()}, 0.0, {out + extent(row, columns), n * columns});
    }
  };
  find(r, outputs, H);
  find(m, output_inputs, H_c);
}

void ResidentRobots::find_system(const SystemCoefficients& coefficients) {
  const auto sum = [&]<class S>(PrecisionArrays<S>& arrays) {
    launch(device, robots * r * r,
           SystemOp<S>{factors(coefficients), arrays.K.data(), arrays.mass.data(), r * r, arrays.A.data()});
  };
  precision == Precision::fp32 ? sum(rounded) : sum(exact);
}

void ResidentRobots::add_points() {
  const auto add = [&]<class S>(PrecisionArrays<S>& arrays) {
    launch(device, robots * r,
           PointStiffnessOp<S>{r, outputs.data(), points.data(), first_point.data(), arrays.A.data()});
  };
  precision == Precision::fp32 ? add(rounded) : add(exact);
}

void ResidentRobots::add_geometric() {
  newton.geometric.upload(newton.host_geometric);
  launch(device, robots * r * r, AddOp{newton.geometric.data(), exact.A.data()});
  if (m > 0) newton.of_inputs.upload(newton.host_of_inputs);
}

void ResidentRobots::factor_indefinite(SystemReport* found) {
  factors_here = false;
  indefinite = true;
  ldlt_batched(dense, r, exact.A.data(), r, r * r, newton.pivots.data(), newton.factored.data(), robots);
  launch(device, robots, IndefiniteReportOp{newton.factored.data(), found});
}

void ResidentRobots::damp(const RobotSystem& all, const double* v, double* f) {
  const RobotSystem* own = systems.size() > 0 ? systems.data() : nullptr;
  const auto damp = [&]<class S>(PrecisionArrays<S>& arrays) {
    launch(device, robots * r, DampingOp<S>{r, all, own, arrays.K.data(), v, f});
  };
  precision == Precision::fp32 ? damp(rounded) : damp(exact);
}

// Robots whose trial is positive with all of G, most of them, are done with one factorisation by the library.
template <class S>
void ResidentRobots::find_geometric_shares(const SystemCoefficients& coefficients) {
  PrecisionArrays<S>& mine = in<S>();
  SystemFactors tried = factors(coefficients);
  tried.share = trial_mass;
  const PointStiffness* springs = coefficients.points.empty() ? nullptr : points.data();
  launch(device, robots * r * r, SystemOp<S>{tried, mine.K.data(), mine.mass.data(), r * r, mine.trial.data()});
  if (springs != nullptr)
    launch(device, robots * r, PointStiffnessOp<S>{r, outputs.data(), springs, first_point.data(), mine.trial.data()});
  potrf_batched(dense, r, mine.trial.data(), r, r * r, info.data(), robots);
  launch_teams(
      device, robots, teams,
      GeometricShareTeamOp<S>{strain_modes, r, factors(coefficients), mine.modes.quadratic.data(), mine.strains.data(),
                              mine.K.data(), mine.mass.data(), outputs.data(), springs, first_point.data(), info.data(),
                              mine.trial.data(), mine.A.data(), weakened.data()});
}

void ResidentRobots::factor_system(const SystemCoefficients& coefficients, SystemReport* found) {
  factors_here = indefinite = false;
  const auto factor = [&]<class S>(PrecisionArrays<S>& arrays) {
    if (strain_modes > 0) find_geometric_shares<S>(coefficients);
    potrf_batched(dense, r, arrays.A.data(), r, r * r, info.data(), robots);
  };
  precision == Precision::fp32 ? factor(rounded) : factor(exact);
  if (precision == Precision::fp32 && exact.A.size() > 0)
    launch(device, robots * r * r, CastOp<float, double>{rounded.A.data(), exact.A.data()});
  launch(device, robots, SystemReportOp{info.data(), strain_modes > 0 ? weakened.data() : nullptr, found});
}

void ResidentRobots::solve_systems(double* X, int count) {
  if (indefinite) {
    ldlt_solve_batched(dense, r, count, exact.A.data(), r, r * r, newton.pivots.data(), newton.factored.data(), X, r,
                       count * r, robots);
    return;
  }
  if (precision != Precision::fp32) {
    potrs_batched(dense, r, count, exact.A.data(), r, r * r, X, r, count * r, robots);
    return;
  }
  const int numbers = robots * count * r;
  if (rounded.X.size() < extent(numbers)) rounded.X = Array<float>(device, extent(numbers));
  launch(device, numbers, CastOp<double, float>{X, rounded.X.data()});
  potrs_batched(dense, r, count, rounded.A.data(), r, r * r, rounded.X.data(), r, count * r, robots);
  launch(device, numbers, CastOp<float, double>{rounded.X.data(), X});
}

void ResidentRobots::reserve_fused(int n) {
  fused_teams = team_count(device, robots);
  if (precision == Precision::fp32)
    rounded.fused = Array<float>(device, extent(fused_teams) * FusedSystemTeamOp<float>::scratch_length(r, n));
  else
    exact.fused = Array<double>(device, extent(fused_teams) * FusedSystemTeamOp<double>::scratch_length(r, n));
}

void ResidentRobots::find_fused_space(const SystemCoefficients& coefficients, const RightSidesTeamOp& sides,
                                      const SpaceTeamOp& rows, const SpaceTeamOp& effectors, SystemReport* found) {
  const auto find = [&]<class S>(PrecisionArrays<S>& in) {
    launch_teams(device, robots, fused_teams,
                 FusedSystemTeamOp<S>{factors(coefficients), in.K.data(), in.mass.data(), sides, rows, effectors, found,
                                      in.fused.data()});
  };
  precision == Precision::fp32 ? find(rounded) : find(exact);
}

std::vector<double> ResidentRobots::stiffness() const {
  const auto fetch = []<class S>(const Array<S>& from) {
    std::vector<S> K(from.size());
    from.download(K);
    return std::vector<double>(K.begin(), K.end());
  };
  return precision == Precision::fp32 ? fetch(rounded.K) : fetch(exact.K);
}

// On the host. A GPU's factors come across together.
const double* ResidentRobots::factor_of(int robot) {
  if (device.kind == Device::Kind::cpu && exact.A.size() > 0) return exact.A.data() + extent(robot, r, r);
  if (!factors_here) {
    host_factors.resize(extent(robots, r, r));
    if (indefinite) {
      newton.host_pivots.resize(extent(robots, r));
      newton.pivots.download(newton.host_pivots);
    }
    if (exact.A.size() > 0) {
      exact.A.download(host_factors);
    } else {
      std::vector<float> factors(host_factors.size());
      rounded.A.download(factors);
      host_factors.assign(factors.begin(), factors.end());
    }
    factors_here = true;
  }
  return host_factors.data() + extent(robot, r, r);
}

const int* ResidentRobots::pivots_of(int robot) {
  if (device.kind == Device::Kind::cpu) return newton.pivots.data() + extent(robot, r);
  (void)factor_of(robot);
  return newton.host_pivots.data() + extent(robot, r);
}

}  // namespace supple
