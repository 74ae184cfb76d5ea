#pragma once
// Mechanics of the full-order model: one robot, sparse direct solver, gather assembly. See mechanics.hpp.

#include <functional>
#include <memory>

#include "engine/mechanics/full/full_elements.hpp"
#include "engine/mechanics/full/node_pattern.hpp"
#include "engine/mechanics/full/segment_unknowns.hpp"
#include "engine/mechanics/full/turned_step.hpp"
#include "engine/mechanics/mechanics.hpp"
#include "engine/model/full_model.hpp"
#include "solvers/sparse/direct.hpp"

namespace supple {

class FullMechanics final : public Mechanics {
 public:
  // The model must outlive this object. backend: see make_sparse_direct.
  explicit FullMechanics(const FullModel& model, const std::string& backend = "auto");
  // make_solver is called by the first factor() of each kind. evaluate: who evaluates the elements; without one this
  // object, on the CPU.
  using MakeSolver = std::function<std::unique_ptr<SparseDirect>()>;
  FullMechanics(const FullModel& model, MakeSolver make_solver, EvaluateElements evaluate = {});

  int robots() const override { return 1; }
  const Robot& robot() const override { return model_.robot; }
  const Coordinates& coordinates() const override { return model_.coordinates; }
  const RowLayout& rows() const override { return rows_; }
  void evaluate_outputs(std::span<const double> q, std::span<const double> c, std::span<double> y) override;
  using Mechanics::evaluate_forces;
  void evaluate_forces(std::span<const double> q, std::span<const double> c, TangentKind kind, std::span<double> f,
                       std::span<PointReport> found) override;
  double turn_step(int robot, std::span<const double> q, std::span<const double> c, std::span<const double> dc,
                   std::span<double> dq) override;
  void begin_viscous_step(double h, std::span<const double> viscous) override;
  void end_viscous_step(double h, std::span<const double> q, std::span<const double> c,
                        std::span<const unsigned char> moved, std::span<double> viscous) override;
  void external_forces(std::span<double> p) const override;
  void inertia(std::span<const double> v, std::span<const double> v_c, std::span<double> out) const override;
  void damping(std::span<const double> v, std::span<const double> v_c, std::span<double> out) override;
  using Mechanics::factor;
  void factor(const SystemCoefficients& coefficients, std::span<const double> y, std::span<const double> multipliers,
              std::span<SystemReport> found) override;
  void row_jacobians(const RowLayout& layout, std::span<const double> gradients, std::span<double> H,
                     std::span<double> H_c) const override;
  void input_columns(const SystemCoefficients& coefficients, std::span<double> A_c) override;
  void solve(std::span<double> X, int count) override;
  void multiply_rows(const PointRows& rows, std::span<const double> X, int count, std::span<double> out) const override;
  void add_row_forces(const PointRows& rows, std::span<const double> lambda, std::span<double> f) const override;
  void solve_robot(int robot, std::span<double> X, int count) override;
  bool root_solve(int robot, std::span<double> X, int count) override;
  void row_compliance(int robot, const PointRows& rows, int known, std::span<double> C) override;

  void model_changed() override;
  int changes() const override { return changes_; }
  double friction(int robot, int obstacle) const override;
  // For the steps to come: false, obstacles have none.
  void set_friction(bool friction) { friction_ = friction; }

  const FullModel& model() const { return model_; }
  // A of the last factor(): the lower triangle; segments with unknowns of their own (segment_unknowns.hpp) follow the nodes.
  const SymmetricPattern& pattern() const { return segments_ ? segments_->pattern() : pattern_.scalar; }
  const NodePattern& node_pattern() const { return pattern_; }
  std::span<const double> system() const { return system_; }
  // Of main memory that one robot takes with its tangent, without what it is solved with.
  std::size_t bytes() const;
  // Weighted stress tiles P of field f, as left by the last evaluate_forces; of elements that this object evaluates.
  std::span<const double> weighted_stress(int field) const;

 private:
  void read_model();
  SystemReport factor_system(const SystemCoefficients& coefficients, std::span<const double> y,
                             std::span<const double> multipliers);
  void add_prescribed_stiffness(std::span<const double> v_c, std::span<double> out) const;
  void add_point_stiffness(int a, int b, const Mat3d& S, double* values, std::span<double> inputs) const;
  void add_geometric_stiffness(std::span<const double> y, std::span<const double> multipliers, double* values,
                               std::span<double> inputs) const;

  const FullModel& model_;
  MakeSolver make_solver_;
  RowLayout rows_;
  NodePattern pattern_;
  std::vector<char> apart_;                    // [rows]: those whose segments have unknowns of their own
  std::unique_ptr<SegmentUnknowns> segments_;  // where there are any
  EvaluateElements evaluate_;
  std::unique_ptr<FullElements> elements_;  // without evaluate_, or from the first step by turning on
  std::unique_ptr<TurnedStep> turned_;      // from that on
  std::vector<long> block_offset_;
  std::vector<double> mass_;  // per block of the pattern [kg]
  double unit_force_ = 0;     // norm of the forces at the nodes at strains of one [N]
  TangentKind tangent_ = TangentKind::none;
  bool friction_ = true;
  int changes_ = 0;
  std::unique_ptr<SparseDirect> solvers_[2];  // positive, indefinite
  SparseDirect* solver_ = nullptr;
  // Scratch of one evaluation.
  std::vector<double> u_, du_, magnitude_, element_blocks_, stiffness_, system_, whole_,
      geometric_inputs_;  // [motions][nv]
};

}  // namespace supple
