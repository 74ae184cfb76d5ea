#pragma once
// What ReducedBatchMechanics keeps on a device: the model, what its robots' stages work in, and these stages. Arrays of
// states and rows are the caller's. Included by .cpp files alone.

#include "engine/mechanics/reduced/reduced_batch_mechanics.hpp"
#include "engine/mechanics/reduced/reduced_mechanics.hpp"
#include "kernels/array/array.hpp"
#include "kernels/array/launch.hpp"
#include "kernels/base/extent.hpp"
#include "kernels/elements/batch_ops.hpp"
#include "kernels/elements/strain_ops.hpp"
#include "kernels/step/step_ops.hpp"
#include "solvers/dense/batched.hpp"

namespace supple {

template <class T, class Allocator>
Array<T> upload(const Device& device, const std::vector<T, Allocator>& values) {
  return Array<T>(device, std::span<const T>(values));
}

// Point data of a force field on the device, in the precision of its tangent or its forces.
template <class S>
struct FieldArrays {
  Array<S> weight, G;
  Array<MaterialParameters<S>> parameters;
  Array<Mat3<S>> edges;

  FieldArrays() = default;
  FieldArrays(const Device& device, const ReducedField& field) {
    const auto converted = [](const auto& values) { return std::vector<S>(values.begin(), values.end()); };
    std::vector<MaterialParameters<S>> moduli;
    for (const auto& m : field.parameters) {
      moduli.emplace_back();
      for (int i = 0; i < most_parameters; ++i) moduli.back().p[i] = static_cast<S>(m.p[i]);
    }
    std::vector<Mat3<S>> frames(field.edges.size());
    for (std::size_t p = 0; p < frames.size(); ++p)
      for (int c = 0; c < 9; ++c) frames[p][c] = static_cast<S>(field.edges[p][c]);
    weight = upload(device, converted(field.weight));
    G = upload(device, converted(field.G));
    parameters = upload(device, moduli);
    edges = upload(device, frames);
  }
};

// The form in which a law's tangent is kept at the points, its numbers for each, and who sums the stiffness.
inline TangentRows tangent_rows(LawId law) {
  return has_four_rows(law) ? TangentRows::four : TangentRows::nine;
}
inline int tangent_components(TangentRows rows) {
  return rows == TangentRows::four ? four_row_components : 81;
}
inline TeamKind team_kind(const Device& device) {
  return device.kind == Device::Kind::cpu ? TeamKind::cpu : TeamKind::gpu;
}

// A force field's part of the model on the device.
struct ResidentField {
  LawId law;
  TangentRows rows;
  int points, points_per_element;
  int first_region;
  Array<int> region, element;  // element: mesh number of each unit
  FieldArrays<double> exact;   // unless everything is rounded
  FieldArrays<float> rounded;  // unless nothing is

  ResidentField(const Device& device, const ReducedModel& model, const ReducedField& field, Precision precision)
      : law(field.law),
        rows(tangent_rows(field.law)),
        points(field.points()),
        points_per_element(field.points_per_element),
        first_region(model.first_region(field)),
        region(upload(device, field.region)),
        element(upload(device, field.element)) {
    if (precision != Precision::fp32) exact = FieldArrays<double>(device, field);
    if (precision != Precision::fp64) rounded = FieldArrays<float>(device, field);
  }

  int tiles() const { return tile_count(points); }
  template <class S>
  const FieldArrays<S>& in() const {
    if constexpr (std::is_same_v<S, double>)
      return exact;
    else
      return rounded;
  }
  // scale: of the robots, by the model's regions, or null.
  template <class S>
  PointField<S> view(const S* scale, int scales) const {
    const FieldArrays<S>& arrays = in<S>();
    return {.points = points,
            .weight = arrays.weight.data(),
            .region = region.data(),
            .parameters = arrays.parameters.data(),
            .edges = arrays.edges.size() == 0 ? nullptr : arrays.edges.data(),
            .scale = scale ? scale + first_region : nullptr,
            .scales = scales,
            .without_identity = true};
  }
};

// Membranes by modes of their strains, of all fields together: energies of modes add up.
template <class S>
struct StrainArrays {
  Array<S> linear, quadratic;  // [K][r], [K] r x r
};

// What the tangent of a chunk of robots is made in.
template <class S>
struct TangentScratch {
  Array<S> tangent;             // [robot of a chunk][padded points][components]
  Array<S> teams;               // [team][team_length]
  std::size_t team_length = 0;  // scalars
  TangentScratch() = default;
  TangentScratch(const Device& device, const std::vector<ResidentField>& fields, int r, int portion, int team_count) {
    int most = 0;
    for (const ResidentField& field : fields) {
      most = std::max(most, padded(field.points) * tangent_components(field.rows));
      team_length = std::max(team_length, stiffness_scratch<S>(field.rows, r, team_kind(device)));
    }
    tangent = Array<S>(device, extent(portion, most));
    teams = Array<S>(device, extent(team_count) * team_length);
  }
};

// What one precision has of points and systems.
template <class S>
struct PrecisionArrays {
  Array<S> mass, springs;  // r x r
  Array<S> constant;       // constant_stiffness(), or by region
  Array<S> scale;          // [robots][regions], or empty
  Array<S> q, f, X;        // per robot; float: copies of what is given in double
  Array<S> K, A;           // per robot; float beside double: K of a chunk
  Array<S> F, P;           // per robot of a chunk
  TangentScratch<S> tangent;
  StrainArrays<S> modes;
  Array<S> strains, W;  // [robots][K], [robots of a chunk][K][r]: StrainOp
  Array<S> trial;       // per robot, with strain modes: GeometricShareTeamOp
  Array<S> fused;       // per team: FusedSystemTeamOp
};

// What Newton's method needs beside steps of one linearisation; made when it is first asked for. In double.
struct NewtonArrays {
  Array<double> magnitude;        // [robots][r]: ForceScaleOp
  Array<double> rounding_forces;  // [robots], or one for all
  Array<double> geometric;        // [robots] r x r, lower triangle: stiffness of rows and points
  Array<double> of_inputs;        // [robots][m][r]: the same towards the inputs
  Array<int> pivots;              // [robots][r]
  Array<LdltReport> factored;
  std::vector<double> host_geometric, host_of_inputs;
  std::vector<int> host_pivots;
};

struct ResidentRobots {
  Device device;
  DenseContext dense;
  Precision precision;
  int robots, r, ny, m, regions;
  std::vector<ResidentField> fields;                             // those of points
  int strain_modes = 0;                                          // K
  Array<int> strain_region, weakened;                            // [K], [robots]: GeometricShareTeamOp
  Array<double> mass, input_mass, outputs, output_inputs, rest;  // the model; mass: always in double
  PrecisionArrays<double> exact;
  PrecisionArrays<float> rounded;
  Array<int> info;
  Array<RobotSystem> systems;  // [robots], or empty
  Array<PointStiffness> points;
  Array<int> first_point;
  int portion = 0, teams = 0, fused_teams = 0;
  Array<unsigned char> status;
  std::vector<int> host_first;
  std::vector<double> host_factors;  // of all robots, once one is asked for
  bool factors_here = false;
  NewtonArrays newton;
  bool indefinite = false;  // the factors are those of ldlt_batched

  ResidentRobots(const ReducedModel& model, const Device& on, int robots, Precision precision);
  // Memory of the device that the constructor takes, without what has only a few numbers for each robot.
  static std::size_t bytes(const ReducedModel& model, const Device& on, int robots, Precision precision);
  template <class S>
  PrecisionArrays<S>& in() {
    if constexpr (std::is_same_v<S, double>)
      return exact;
    else
      return rounded;
  }
  // Factors of regions of robots from `first` on, or null.
  template <class S>
  const S* scale_of(int first) {
    return in<S>().scale.size() > 0 ? in<S>().scale.data() + extent(first, regions) : nullptr;
  }
  template <class S>
  ConstantStiffness<S> constant_of(int first) {
    const S* scale = scale_of<S>(first);
    return {.terms = in<S>().constant.data(), .length = r * r, .scale = scale, .scales = scale ? regions : 0};
  }
  template <class S>
  void add_stiffness(const ResidentField& field, const ConstantStiffness<S>& constant, int count, S* K);
  template <class S>
  void portion_forces(const S* q, S* f, PointReport* found, int first, int count, TangentKind kind);
  template <class S>
  void take_strain_modes(const ReducedModel& model, PrecisionArrays<S>& arrays);
  template <class S>
  void add_strains(const S* q, S* f, int first, int count, TangentKind kind);
  template <class S>
  void find_geometric_shares(const SystemCoefficients& coefficients);
  template <class S>
  StrainScale<S> strain_scale_of(int first) {
    return {scale_of<S>(first), strain_region.data(), regions};
  }

  // The stages of a step on what lies here; nothing crosses the bus.
  void set_materials(const ReducedModel& model, const std::vector<double>& material_scale);
  void set_systems(std::span<const RobotSystem> systems);  // [robots], or empty
  SystemFactors factors(const SystemCoefficients& coefficients) const {
    return system_factors(coefficients, systems.size() > 0 ? systems.data() : nullptr);
  }
  void find_outputs(const double* q, const double* c, double* y);
  void find_forces(const double* q, TangentKind kind, double* f, PointReport* found);  // and K
  // Whether Newton's method was asked for: forces come with their scale.
  bool judges() const { return newton.magnitude.size() > 0; }
  // Throws CapabilityError where there is no room.
  void reserve_newton(const std::vector<double>& rounding_forces);
  void multiply_mass(const double* v, const double* v_c, double* out);  // M v + M_c v_c; v_c: or null
  // f = M v becomes (a M + b K) v; all: of robots that have no systems of their own.
  void damp(const RobotSystem& all, const double* v, double* f);
  void find_jacobians(const RowLayout& layout, const double* gradients, double* H, double* H_c);
  void find_system(const SystemCoefficients& coefficients);  // A of K
  void add_points();                                         // A += that of `points`
  void add_geometric();  // A += newton.host_geometric, and the inputs' to the device
  void factor_indefinite(SystemReport* found);
  // A, with the share of strain modes' geometric stiffness that keeps it positive, and what became of it.
  void factor_system(const SystemCoefficients& coefficients, SystemReport* found);
  void solve_systems(double* X, int count);
  // Scratch of find_fused_space() for n rows.
  void reserve_fused(int n);
  void find_fused_space(const SystemCoefficients& coefficients, const RightSidesTeamOp& sides, const SpaceTeamOp& rows,
                        const SpaceTeamOp& effectors, SystemReport* found);
  std::vector<double> stiffness() const;
  const double* factor_of(int robot);
  const int* pivots_of(int robot);
};

}  // namespace supple
