#pragma once
// Mechanics of a reduced model on the CPU: one robot or a batch. Robots are independent and spread over threads; each
// is computed by one thread in a fixed order, so the bits do not depend on the number of threads. No allocation after
// construction. See mechanics.hpp.

#include "engine/mechanics/reduced/reduced_robots.hpp"
#include "engine/mechanics/reduced/strain_forces.hpp"
#include "kernels/elements/point_ops.hpp"

namespace supple {

// The part of K that no state changes, columns x columns row-major, lower triangle (springs whole): linear springs and
// the constant term of the corotational fields' four-row form, sum 2 mu w G^T G with the domain's own weights.
std::vector<double> constant_stiffness(const ReducedModel& model);
// The same in terms [1 + regions][columns x columns]: springs, then what each region adds.
std::vector<double> constant_stiffness_by_region(const ReducedModel& model);
// Laws whose tangent is that constant and four rows a point.
bool has_four_rows(LawId law);

// The points of tile `tile` as a field of its own; scale: of the field's regions, or null.
PointField<double> tile_field(const ReducedField& field, int tile, const double* scale);

// H_c [B x rows x motions] = (d phi/dy) L_c, see Mechanics::row_jacobians.
void input_jacobians(const ReducedModel& model, const RowLayout& layout, std::span<const double> gradients,
                     std::span<double> H_c);

// A [r x r, lower triangle] and A_c [m x r] += L_i^T S [L_j L_c,j] at two mapped points.
void add_point_stiffness(const ReducedModel& model, const PointStiffness& at, double* A, double* A_c);
// A [r x r, lower triangle] and A_c [m x r] += L^T S [L L_c], S the curvature of a row (visit_row_curvature). hessian:
// scratch.
void add_row_curvature(const ReducedModel& model, int row, std::span<const double> y, double lambda, double* A,
                       double* A_c, std::vector<double>& hessian);

class ReducedMechanics final : public ReducedRobots {
 public:
  // The model must outlive this object.
  explicit ReducedMechanics(const ReducedModel& model, int robots = 1);

  void evaluate_outputs(std::span<const double> q, std::span<const double> c, std::span<double> y) override;
  using Mechanics::evaluate_forces;
  void evaluate_forces(std::span<const double> q, std::span<const double> c, TangentKind kind, std::span<double> f,
                       std::span<PointReport> found) override;
  double turn_step(int robot, std::span<const double> q, std::span<const double> c, std::span<const double> dc,
                   std::span<double> dq) override;
  void begin_viscous_step(double h, std::span<const double> viscous) override;
  void end_viscous_step(double h, std::span<const double> q, std::span<const double> c,
                        std::span<const unsigned char> moved, std::span<double> viscous) override;
  void inertia(std::span<const double> v, std::span<const double> v_c, std::span<double> out) const override;
  void damping(std::span<const double> v, std::span<const double> v_c, std::span<double> out) override;
  using Mechanics::factor;
  void factor(const SystemCoefficients& coefficients, std::span<const double> y, std::span<const double> multipliers,
              std::span<SystemReport> found) override;
  void row_jacobians(const RowLayout& layout, std::span<const double> gradients, std::span<double> H,
                     std::span<double> H_c) const override;
  void input_columns(const SystemCoefficients& coefficients, std::span<double> A_c) override;
  void solve(std::span<double> X, int count) override;
  void solve_robot(int robot, std::span<double> X, int count) override;
  bool root_solve(int robot, std::span<double> X, int count) override;

  // Tangent of robot b as left by evaluate_forces, columns x columns row-major, lower triangle: K over the modes, below
  // it K_c of the motions that strain the body.
  std::span<const double> stiffness(int robot) const;

  void model_changed() override;

  // The factor that the last factor() has made of safe tangents, with what derivatives need beside it: kept
  // [factor_size()], and restored for solves and derivatives of that step.
  std::size_t factor_size() const;
  void keep_factor(std::span<double> kept) const;
  void restore_factor(std::span<const double> kept);

  // What a step of one linearisation takes from materials and springs at q,
  //   E(q) = f(q) + (1 + rate b) K(q) z,   K the safe tangent, z [B x nv] held, b a robot's stiffness damping [s],
  // by its derivatives (force_change.cpp). K has of strain modes what A has had since the last factor().
  struct ForceChange {
    std::span<const double> q, z;
    double rate = 0;  // 1/s
  };
  // out [B x nv] = (dE/dq)^T w, and by_region [B x regions] = w . dE/d(factor on the moduli of a region) [N w].
  void pull_back_forces(const ForceChange& at, std::span<const double> w, std::span<double> out,
                        std::span<double> by_region);
  // J [nv x nv] = dE/dq of one robot, row-major.
  void force_jacobian(int robot, const ForceChange& at, std::span<double> J);

 private:
  // Scratch of one thread.
  struct Scratch {
    AlignedVector<double> F, P, tangent, X, Y;
    std::vector<double> hessian;  // of a cavity's volume
    unsigned char status[tile_size];
    std::vector<double> magnitude;
    AlignedVector<double> force_lanes, sums;  // forces, then magnitudes; the block sums of K (reduced_tile.hpp)
    std::vector<double> coordinates;          // alpha and c of one robot
    StrainScratch strains;
    AlignedVector<double> before, motion;  // F and D of a tile, of a step by turning
    std::vector<double> turn;              // and its angles
    AlignedVector<double> changes;         // D G of a tile [columns][9][32]
  };
  // A robot's step of Newton's method by turning (turned_ops.hpp): where it began, the linear step, and where it ends
  // [columns]; `taken` until the next evaluation.
  struct RobotTurn {
    std::vector<double> start, motion, end;
    bool taken = false;
  };
  template <class OnTile, class OnStrains>
  void for_each_change(int robot, const double* x, const double* z, Scratch& scratch, const OnTile& on_tile,
                       const OnStrains& on_strains);
  void factor_turns();
  // The right side of a linear step into force_lanes; the largest angle that it turns a point by [rad].
  double find_turns(const RobotTurn& step, Scratch& scratch) const;
  bool ends_here(const RobotTurn& step, const double* x) const;
  // F and D of a tile into the scratch.
  void tile_step(const double* G, const RobotTurn& step, Scratch& scratch) const;
  // x: alpha, and c where it strains the body [columns].
  // step: that which ends at x, or null.
  PointReport robot_forces(int robot, const double* x, TangentKind kind, const RobotTurn* step, double* f, double* K,
                           Scratch& scratch);
  // Adds the fields that are strain modes, K in the scratch; scale as in robot_forces.
  void add_strain_fields(int robot, const double* x, TangentKind kind, const double* scale, double* f,
                         Scratch& scratch);
  const double* scale_of(int robot) const {
    const std::vector<double>& scale = variations_.material_scale;
    return scale.empty() ? nullptr
                         : scale.data() + static_cast<std::size_t>(robot) * static_cast<std::size_t>(regions_);
  }
  double strain_scale(const ReducedField& field, const double* scale) const {
    return scale ? scale[model_.strain_region(field)] : 1;  // of all its regions (check_variations)
  }
  void find_geometric(int robot);
  SystemReport factor_robot(int robot, const SystemCoefficients& coefficients, std::span<const double> y,
                            std::span<const double> multipliers);
  // A of a robot, and what rows and points add to its A_c.
  void assemble_robot(int robot, const SystemCoefficients& coefficients, std::span<const double> y,
                      std::span<const double> multipliers);
  void take_variations() override;
  void read_viscous();
  // The points of a tile as a field of their own, in a viscous step with what it adds.
  PointField<double> tile_points(std::size_t field, int tile, int robot, const double* scale) const;
  // Coordinates of forces: alpha, and c where it strains the body [columns].
  const double* columns_of(const double* alpha, const double* c, Scratch& scratch) const;

  int n_, regions_;                         // n_ = r_, or r_ + m_ where motions strain the body
  std::vector<double> constant_stiffness_;  // of all robots, or by region
  std::vector<char> field_squares_;         // whether the safe rows of a field may be squares: mu, lambda >= 0
  // Viscous materials (viscous_ops.hpp), field by field; empty: none.
  struct ViscousField {
    StepParameters of_step;                            // of a step of length step_
    std::vector<MaterialParameters<double>> of_shape;  // of the shape alone
    AlignedVector<double> held_stress;                 // [robots] tiles of H
  };
  std::vector<ViscousField> viscous_;
  double step_ = -1, step_factor_ = 1;  // StepParameters::factor of all fields
  bool in_step_ = false;
  TangentKind tangent_ = TangentKind::none;
  AlignedVector<double> stiffness_, system_;  // per robot n x n, r x r
  std::vector<double> geometric_;             // per robot m x r: stiffness of rows and points towards the inputs
  bool has_springs_ = false;                  // linear ones
  bool has_points_ = false;                   // fields that are not strain modes
  std::vector<StrainForces> strain_fields_;   // of those that are, in their order
  std::vector<double> strains_;               // per robot: s of them all, at the last tangent
  // Per robot, packed lower triangle of n x n: sum_k s_k Q_k, the part of K that strain modes may have below zero, where
  // A takes less than all of it.
  std::vector<double> strain_geometric_;
  std::vector<double> strain_share_;  // per robot: of sum_k s_k Q_k in A and A_c; empty: no field is strain modes
  std::vector<int> pivots_;
  std::vector<RobotTurn> turned_;  // per robot
  std::vector<double>
      turn_factor_;  // Cholesky factor of the matrix of their least squares [r x r]; empty: there is none
  std::vector<Scratch> scratch_;
};

}  // namespace supple
