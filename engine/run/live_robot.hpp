#pragma once
// One robot, full or reduced, that is stepped at will: forward under commands, or inversely towards goals. A controller
// or a viewer decides after each step what it asks of the next one; forward_run.hpp and inverse_run.hpp are for runs
// whose commands or goals are known beforehand. A step has the bits of ForwardStep or InverseStep.

#include <optional>
#include <string>
#include <vector>

#include "engine/inverse/inverse_step.hpp"
#include "engine/model/touches.hpp"
#include "engine/reduction/basis/contact_compliance.hpp"
#include "engine/run/effector_errors.hpp"
#include "engine/run/sensor_readings.hpp"
#include "engine/step/forward_step.hpp"

namespace supple {

enum class LiveMode { inverse, forward };

/// What is asked of a step. SI.
struct LiveRequest {
  LiveMode mode = LiveMode::forward;
  // Forward.
  std::vector<double> commands;  // [actuators, then motions], cut to range and rate; missing or not finite: 0
  // Inverse.
  std::vector<double> goals;     // [3 x effectors] (engine/model/effectors.hpp)
  std::vector<char> steered;     // [effectors]; missing: steered
  std::vector<double> known;     // [actuators], commands that are known; missing or NaN: solved for
  std::vector<Interval> limits;  // [actuators], of forces [N] or pressures [Pa]; missing: the robot's own
};

/// The state after a step, and how it came about.
struct LiveFrame {
  long step = 0;  // since the start
  State state;
  std::vector<double> y;  // mapped points of the state (robot.hpp)
  LiveMode mode = LiveMode::forward;
  std::vector<double> goals, reached;  // [3 x effectors]; goals of a forward step: what it reached
  std::vector<char> steered;           // [effectors], as requested
  std::vector<double> errors;  // [effectors], distance to the goal [m]; orientations: rad times lever; forward: 0
  double distance = 0;         // norm of the errors of effectors that are steered [m]
  std::vector<Touch> touches;  // active contacts at the end of the step
  std::optional<OutsideModes> outside;  // the fraction of their response outside the modes, where a model knows it
  StepReport report;
  int limited = 0;     // commands and motions cut to their range or rate
  int saturated = 0;   // limits that hold the inverse step back
  std::string held;    // why the last commands were held; "": they were not
  int held_steps = 0;  // since the start
  double step_seconds = 0, qp_seconds = 0;
  /// Readings of the sensors (sensor_readings.hpp), SI; and what the next ones need, or empty: they begin anew here.
  std::vector<double> sensors, sensor_memory;
};

struct LiveSettings {
  Integrator integrator = Integrator::implicit_euler;
  double time_step = 0.01;                      // s
  double keep_tangent = 0;                      // of forward steps, see StepSettings
  bool forward = true;                          // whether there are forward steps
  std::optional<InverseSettings> inverse = {};  // none: no inverse steps
  std::uint64_t sensor_seed = default_sensor_seed;
};

class LiveRobot {
 public:
  /// In `start`, a state of one robot. `model`: of a reduced robot, or null. Mechanics and model must outlive this
  /// object. Throws InputError where forward steps are not possible (cannot_step).
  LiveRobot(Mechanics& mechanics, const LiveSettings& settings, State start, const ReducedModel* model = nullptr);

  const Robot& robot() const { return mechanics_.robot(); }
  /// Whether there are inverse steps.
  bool leads() const { return inverse_.has_value(); }
  /// After the last step, or at the start.
  const LiveFrame& frame() const { return frame_; }

  /// One step, with external forces [nv, N] (empty: none). A step that fails changes nothing. Throws InputError for a
  /// request whose goals do not fit the robot.
  StepStatus step(const LiveRequest& request, std::span<const double> load = {});
  /// The same step from a state that is not the robot's own. The programs of inverse steps then start from its active
  /// limits.
  StepReport advance(const LiveRequest& request, std::span<const double> load, State& state);
  /// To the start, or to a frame of this robot. Programs start cold: what follows depends on the frame alone.
  void reset();
  void set(const LiveFrame& frame);
  /// What follows from a frame's state, mode and goals: mapped points, effectors, contacts. before: mapped points at the
  /// beginning of the step, or empty (touches).
  void measure(LiveFrame& frame, std::span<const double> before);

 private:
  // Of a frame that was measured: after a step from the frame before, or else as its memory has them.
  void read_sensors(LiveFrame& frame, bool stepped);
  StepReport take_forward(const LiveRequest& request, std::span<const double> load, State& state);
  StepReport take_inverse(const LiveRequest& request, std::span<const double> load, State& state);

  Mechanics& mechanics_;
  const ReducedModel* model_;
  std::optional<ForwardStep> forward_;
  std::optional<InverseStep> inverse_;
  EffectorErrors errors_;
  SensorReadings sensors_;
  Control control_;
  int cut_ = 0;  // motions, in the last forward step
  LiveFrame start_, frame_;
  std::vector<double> before_;
};

}  // namespace supple
