#pragma once
// Where a reduced robot is, and which unknown forces act on it, from its sensors: a moving-horizon estimator.
//
// The estimate is the motion x_k = (q, v, f) over the last N steps, f forces on given points, that is nearest to what
// was measured and to the steps of the robot under the commands that were applied:
//   min |x_0 - x_prior|^2 in P^-1 + sum_k |x_k - F(x_(k-1))|^2 in Q^-1 + sum_k sum_i ((z_ki - h_i(x_k))/sigma_i)^2,
// Q of accelerations that the model lacks and of forces that change. A Gauss-Newton iteration is a Kalman smoother
// along the present motion, with the matrices of the steps (step_derivative.hpp): forward with P <- A P A^T + Q and
// then what was measured, backward to where the motion is linearised next. What leaves the window becomes the prior as
// the filter has it. With N = 1 and one iteration it is the extended Kalman filter.
// Sources: B. M. Bell, "The iterated Kalman smoother as a Gauss-Newton method", SIAM J. Optimization 4, 1994; C. V.
// Rao, J. B. Rawlings & D. Q. Mayne, "Constrained state estimation for nonlinear discrete-time systems", IEEE Trans.
// Automatic Control 48, 2003. docs/theory/state-estimation.md.

#include <Eigen/Core>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/derivative/step_derivative.hpp"
#include "engine/model/sensors.hpp"
#include "engine/step/step.hpp"

namespace supple {

struct EstimatorSettings {
  int steps = 5;                          // of the window
  std::optional<double> time_step = {};   // from one reading to the next [s]; none: the robot's
  std::vector<std::string> sensors = {};  // by name; empty: all that are supported (is_supported())
  std::vector<int> load_points = {};      // mapped points at which unknown forces act, places of the body
  // Standard deviations. Of motions, of a coordinate of a mapped place, the root mean square over all of them.
  double start_displacement = 5e-3;  // m
  double start_velocity = 0.05;      // m/s
  double start_load = 0.1;           // N, of each component
  double acceleration = 5;           // m/s^2: what the model lacks, another in each step
  double load_change = 0.1;          // N, of each component within a second
  int iterations = 1;
};

/// Whether a sensor's reading is a function of where the body is: position, length, strain and volume, without a delay.
bool is_supported(const Sensor& sensor);
/// A number's standard deviation: that of its sensor, or without one 0.1 mm, 1e-3 of a strain, 0.1 mL.
double noise_of(const Sensor& sensor);

struct [[nodiscard]] EstimateReport {
  /// Not ok: a step of the window has failed. The estimate is that of before, a step behind: start() where the robot
  /// is.
  StepStatus status = StepStatus::ok;
  int iterations = 0;
  double distance = 0;  // root mean square of (z - h)/sigma of the last readings, as they were expected before
  double left = 0;      // the same after they have been taken into account
};

class StateEstimator {
 public:
  /// Throws InputError for sensors that do not exist or are not supported, robots without one, steps without
  /// derivatives (no_derivative()), and settings out of bounds.
  StateEstimator(std::shared_ptr<const ReducedModel> model, const EstimatorSettings& settings);

  const ReducedModel& model() const { return *model_; }
  const EstimatorSettings& settings() const { return settings_; }
  double time_step() const { return step_settings_.time_step; }
  /// The numbers that are used, by their index among those of all sensors.
  const std::vector<int>& numbers() const { return used_; }
  /// How many numbers all sensors have.
  int readings() const { return numbers_; }

  /// Anew from here [nv], without loads; empty: at rest.
  void start(std::span<const double> q, std::span<const double> v);
  /// A step has been made under these commands [actuators], and at its end all sensors read this [numbers]; NaN: not
  /// measured. Throws InputError for other sizes and numbers that are not finite.
  EstimateReport update(std::span<const double> applied, std::span<const double> readings);

  /// At the end of the last step: coordinates, velocities [nv], forces at the load points [points][3, N], and the
  /// generalised force that they are together [nv].
  std::span<const double> q() const { return q_; }
  std::span<const double> v() const { return v_; }
  std::span<const double> load() const { return load_; }
  std::vector<double> generalised_load() const;
  /// Their covariance, in this order; square of 2 nv + 3 points.
  const Eigen::MatrixXd& covariance() const { return covariance_; }
  /// Covariance of the generalised forces that the model lacks in a step [nv x nv, N^2], by `acceleration`.
  const Eigen::MatrixXd& missing_forces() const { return missing_forces_; }

 private:
  // The end of a step of the window: what was applied in it and measured after it, and where the motion is linearised.
  struct Node {
    std::vector<double> applied, readings;  // of the numbers in use
    Eigen::VectorXd at;
  };
  // A step by the filter, from its start: mean and covariance before and after the readings, and the step's matrix.
  struct Filtered {
    Eigen::VectorXd predicted, mean;
    Eigen::MatrixXd P_predicted, P, A;
  };
  void find_sensors();
  void check_settings() const;
  Eigen::MatrixXd over_scale(const Eigen::MatrixXd& rows) const;
  StepStatus take_step(const Eigen::VectorXd& from, const Node& to, Eigen::VectorXd& end, Eigen::MatrixXd& A,
                       Eigen::MatrixXd& Q);
  void measure(const Node& node, Eigen::VectorXd& away, Eigen::MatrixXd* slopes);
  StepStatus filter(const Filtered& from, const Eigen::VectorXd& at, Node& node, Filtered& to);
  void smooth(EstimateReport& report);
  void take_estimate(const Filtered& end);
  Eigen::Index size() const { return 2 * nv_ + loads_; }

  std::shared_ptr<const ReducedModel> model_;
  EstimatorSettings settings_;
  StepSettings step_settings_;
  ReducedMechanics mechanics_;
  Stepper stepper_;
  StepDerivative derivative_;
  int nv_, actuators_, loads_;
  std::vector<int> sensors_, used_, first_;  // sensors in use; their numbers, of all and the first of each
  std::vector<double> noise_;                // [used]
  int numbers_ = 0;                          // of all sensors
  Eigen::MatrixXd B_;                        // [nv x loads]: forces to generalised ones
  Eigen::MatrixXd missing_forces_;           // [nv x nv]
  // x = scale xi: with xi of variance 1 at the start, so that its covariance has no units. What follows is of xi.
  Eigen::MatrixXd scale_;
  Eigen::VectorXd start_at_;  // where the window's first step is linearised
  Filtered prior_, front_;    // its beginning; its first step, as the last pass had it
  std::deque<Node> window_;
  Eigen::MatrixXd covariance_;  // of the estimate of x
  StepMatrices matrices_;
  State state_, before_;
  Control control_;
  std::vector<double> y_, q_, v_, load_, generalised_;
};

}  // namespace supple
