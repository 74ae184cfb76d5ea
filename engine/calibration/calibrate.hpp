#pragma once
// Parameters of a scene from measurements of the real robot at rest under several loads: those whose equilibria are
// nearest to what was measured, with their standard errors and what the measurements cannot tell apart.

#include <array>
#include <string>
#include <vector>

#include "engine/calibration/measurements.hpp"
#include "engine/calibration/robust_fit.hpp"
#include "engine/model/full_model.hpp"
#include "engine/scene/scene_numbers.hpp"
#include "kernels/base/progress.hpp"

namespace supple {

/// How the axes in which places were measured lie in the scene: as they are, moved, or moved and turned; found with the
/// parameters.
enum class Alignment { none, translation, rigid };

struct CalibrationSettings {
  Loss loss = Loss::huber;
  Alignment alignment = Alignment::none;
  /// [Dimension] what a measured value is uncertain by: residuals are divided by it. 0: as display units (1 mm, 1 deg,
  /// 1 N, 1 kPa, 1 mL).
  std::array<double, dimension_count> noise{};
  int max_iterations = 30;
  Progress progress{};
};

/// x measured at m lies in the scene at R(turn) m + shift.
struct Registration {
  Vec3d turn{{0, 0, 0}};   // rotation vector [rad]
  Vec3d shift{{0, 0, 0}};  // m
};

struct [[nodiscard]] Calibration {
  std::vector<double> values;          // [parameters] in the units of the scene
  std::vector<double> standard_error;  // the same; 0 at a bound, infinite without influence
  std::vector<bool> at_bound;
  Registration registration;
  Eigen::MatrixXd covariance;  // [parameters, then the registration's] in the scene's units, rad and m
  double condition = 0;        // ratio of the largest to the least singular value of the scaled Jacobian
  double spread = 0;           // of residuals over noise
  int iterations = 0, equilibria = 0;
  bool converged = false;
  std::string stopped;
  std::vector<double> start, predicted;  // [loads][columns] SI, in the measured axes: before and after
  std::vector<double> size;              // [loads][places] |residual| over the spread; NaN: not measured
  std::vector<double> weight;            // [loads][places]
  std::vector<int> components;           // [loads][places] measured
};

/// Lower and upper bounds [parameters] in the units of the scene. Without parameters the scene is compared with the
/// measurements as it is. Throws InputError where the scene forbids a bound, and
/// RunError where the start has no equilibrium.
Calibration calibrate(const SceneNumbers& scene, const std::vector<Interval>& bounds, const Measurements& measurements,
                      const CalibrationSettings& settings);

/// Root mean square distance [m] between measured and predicted places whose three coordinates were measured, of one
/// load (or all: -1) and one place (or all: -1); NaN where there is none.
double distance_rms(const Measurements& measurements, const std::vector<double>& predicted, int load, int place);

}  // namespace supple
