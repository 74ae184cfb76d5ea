// Estimates of states and loads from sensors: engine/control/state_estimator.hpp.

#include "engine/control/state_estimator.hpp"

#include <fmt/format.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "python/src/bindings.hpp"

namespace supple::python {

namespace {

// An estimator and what its last update reported.
struct Estimator {
  StateEstimator estimator;
  std::vector<std::string> loads;
  EstimateReport report;

  const Robot& robot() const { return estimator.model().robot; }
  std::size_t modes() const { return count(estimator.model().modes); }
};

// Points of effectors and probes of these names.
std::vector<int> points_of(const Robot& robot, const std::vector<std::string>& names) {
  const std::vector<NamedPoint> all = robot.reported_points();
  std::vector<int> found;
  for (const std::string& name : names) {
    const auto at = std::ranges::find(all, name, &NamedPoint::name);
    if (at == all.end())
      throw InputError(
          fmt::format("'{}' has no effector or probe '{}' for a load", robot.name, name),
          all.empty() ? "[[probe]] in its scene" : fmt::format("one of: {}", fmt::join(names_in(all), ", ")));
    found.push_back(at->point);
  }
  return found;
}

void update(Estimator& self, nb::object applied, nb::object readings) {
  const std::vector<double> commands = numbers_of(applied, "applied", {self.robot().actuators.size()});
  const std::vector<double> read = numbers_of(readings, "readings", {count(self.estimator.readings())});
  {
    const nb::gil_scoped_release unlocked;
    self.report = self.estimator.update(commands, read);
  }
  if (self.report.status != StepStatus::ok)
    throw RunError(fmt::format("a step of the window failed: {}", describe(self.report.status)),
                   "start() where the robot is, or a shorter window");
}

}  // namespace

void bind_state_estimator(nb::module_& module) {
  nb::class_<Estimator>(module, "StateEstimator",
                        "Where a robot is and which unknown forces act on it, from its sensors\n"
                        "(docs/theory/state-estimation.md).\n\n"
                        ">>> estimator = supple.StateEstimator(model, time_step=0.005, loads=[\"tip\"])\n"
                        ">>> estimator.update(robot.applied[0], robot.sensors[0])        # after each step\n"
                        ">>> estimator.q, estimator.v, estimator.load\n\n"
                        "For one thread at a time.")
      .def(
          "__init__",
          [](Estimator* self, std::shared_ptr<ReducedModel> model, int steps, const std::optional<double>& time_step,
             const std::vector<std::string>& sensors, const std::vector<std::string>& loads, double start_displacement,
             double start_velocity, double start_load, double acceleration, double load_change, int iterations) {
            const EstimatorSettings settings{.steps = steps,
                                             .time_step = time_step,
                                             .sensors = sensors,
                                             .load_points = points_of(model->robot, loads),
                                             .start_displacement = start_displacement,
                                             .start_velocity = start_velocity,
                                             .start_load = start_load,
                                             .acceleration = acceleration,
                                             .load_change = load_change,
                                             .iterations = iterations};
            const nb::gil_scoped_release unlocked;
            new (self) Estimator{StateEstimator(std::move(model), settings), loads, {}};
          },
          nb::arg("model"), nb::kw_only(), nb::arg("steps") = EstimatorSettings{}.steps,
          nb::arg("time_step") = nb::none(), nb::arg("sensors") = std::vector<std::string>{},
          nb::arg("loads") = std::vector<std::string>{},
          nb::arg("start_displacement") = EstimatorSettings{}.start_displacement,
          nb::arg("start_velocity") = EstimatorSettings{}.start_velocity,
          nb::arg("start_load") = EstimatorSettings{}.start_load,
          nb::arg("acceleration") = EstimatorSettings{}.acceleration,
          nb::arg("load_change") = EstimatorSettings{}.load_change,
          nb::arg("iterations") = EstimatorSettings{}.iterations,
          "steps: of the window, time_step [s] each (None: the robot's). sensors: names; none: all that are supported\n"
          "(positions, lengths, strains and volumes without delays). loads: effectors and probes at which unknown\n"
          "forces act. Standard deviations: of the start, start_displacement [m], start_velocity [m/s] and start_load\n"
          "[N]; of what the model lacks in each step, acceleration [m/s^2]; of a load's change within a second,\n"
          "load_change [N]; of readings the noise of their sensors (without: 0.1 mm, 1e-3 of a strain, 0.1 mL). "
          "Raises\n"
          "InputError for robots that Rollout does not support, and for sensors that are not.")
      .def(
          "start",
          [](Estimator& self, nb::object q, nb::object v) {
            self.estimator.start(numbers_of(q, "q", {self.modes()}), numbers_of(v, "v", {self.modes()}));
          },
          nb::arg("q") = nb::none(), nb::arg("v") = nb::none(), "Anew from here [n], without loads; None: at rest.")
      .def("update", &update, nb::arg("applied"), nb::arg("readings"),
           "A step was made under the commands `applied` [actuators], and the sensors read this at its end, as\n"
           "Simulation.sensors has it; NaN: not measured. Raises RunError where a step of the window\n"
           "fails: start() again then.")
      .def_prop_ro(
          "q", [](const Estimator& self) { return copy(self.estimator.q(), {self.modes()}); }, nb::rv_policy::automatic,
          "Coordinates [n].")
      .def_prop_ro(
          "v", [](const Estimator& self) { return copy(self.estimator.v(), {self.modes()}); }, nb::rv_policy::automatic,
          "Velocities [n].")
      .def_prop_ro(
          "load",
          [](const Estimator& self) {
            return copy(self.estimator.load(), {self.loads.size(), 3});
          },
          nb::rv_policy::automatic, "Unknown forces [loads, 3, N].")
      .def_prop_ro(
          "generalised_load",
          [](const Estimator& self) { return array(self.estimator.generalised_load(), {self.modes()}); },
          nb::rv_policy::automatic, "What they are together on the coordinates [n, N].")
      .def_prop_ro(
          "covariance",
          [](const Estimator& self) {
            const Eigen::MatrixXd& P = self.estimator.covariance();
            return copy({P.data(), static_cast<std::size_t>(P.size())},
                        {static_cast<std::size_t>(P.rows()), static_cast<std::size_t>(P.cols())});
          },
          nb::rv_policy::automatic, "Of q, v and load, in this order; square.")
      .def_prop_ro(
          "report",
          [](const Estimator& self) {
            Table table;
            table["distance"] = self.report.distance;
            table["left"] = self.report.left;
            return table;
          },
          "Of the last update: \"distance\", the root mean square of its readings less those expected, over their "
          "noise,\n"
          "and \"left\", the same after it. Much above 1: the model lacks something, or noise is less than stated.")
      .def_prop_ro(
          "time_step", [](const Estimator& self) { return self.estimator.time_step(); }, "s")
      .def_prop_ro(
          "loads", [](const Estimator& self) { return self.loads; }, "Where unknown forces act.")
      .def("__repr__", [](const Estimator& self) {
        return fmt::format("<supple.StateEstimator of '{}', {} modes: {} numbers, {} loads, {} steps of {} s>",
                           self.robot().name, self.modes(), self.estimator.numbers().size(), self.loads.size(),
                           self.estimator.settings().steps, self.estimator.time_step());
      });
}

}  // namespace supple::python
