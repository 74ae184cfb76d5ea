// Model-predictive control: engine/control/predictive_control.hpp.

#include "engine/control/predictive_control.hpp"

#include <fmt/format.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "python/src/bindings.hpp"

namespace supple::python {

namespace {

// Goals [steps, effectors, 3] of an array of this shape, or of [effectors, 3] that stand still.
std::vector<double> goals_of(const PredictiveControl& self, nb::handle given) {
  const std::size_t effectors = self.model().robot.effectors.size();
  Numbers shape;
  if (!nb::try_cast(given, shape) || shape.ndim() != 2)
    return numbers_of(given, "goals", {count(self.steps()), effectors, 3});
  const std::vector<double> one = numbers_of(given, "goals", {effectors, 3});
  std::vector<double> goals;
  for (int step = 0; step < self.steps(); ++step) goals.insert(goals.end(), one.begin(), one.end());
  return goals;
}

// A control and what its last plan reported.
struct Controller {
  PredictiveControl control;
  std::optional<PlanReport> report;
};

std::string word_of(PlanReport::Status status) {
  switch (status) {
    case PlanReport::Status::planned:
      return "planned";
    case PlanReport::Status::prediction_failed:
      return "prediction failed";
    case PlanReport::Status::no_answer:
      return "no answer";
  }
  return {};
}

Array<double> plan(Controller& self, nb::object q, nb::object v, nb::object applied, nb::object goals,
                   nb::object load) {
  const std::size_t n = count(self.control.model().modes), actuators = self.control.model().robot.actuators.size();
  const std::vector<double> own_q = numbers_of(q, "q", {n}), own_v = numbers_of(v, "v", {n}),
                            now = numbers_of(applied, "applied", {actuators}), wanted = goals_of(self.control, goals),
                            own_load = numbers_of(load, "load", {n});
  {
    const nb::gil_scoped_release unlocked;
    self.report.reset();
    self.report = self.control.plan(own_q, own_v, now, wanted, own_load);
  }
  return copy(self.control.commands(), {actuators});
}

Table report_of(const Controller& self) {
  Table table;
  if (!self.report) {
    table["status"] = "no plan";
    return table;
  }
  const PlanReport& report = *self.report;
  table["status"] = word_of(report.status);
  table["failure"] = report.status == PlanReport::Status::prediction_failed
                         ? nb::cast(std::string(describe(report.step)))
                         : nb::none();
  table["iterations"] = report.iterations;
  table["distance"] = report.distance;
  table["expected"] = report.expected;
  table["contacts"] = report.contacts;
  table["inexact"] = report.inexact;
  table["program_iterations"] = report.program.iterations;
  return table;
}

}  // namespace

void bind_predictive_control(nb::module_& module) {
  nb::class_<Controller>(module, "PredictiveControl",
                         "Model-predictive control of one reduced robot (docs/theory/predictive-control.md).\n\n"
                         ">>> control = supple.PredictiveControl(model, steps=10, time_step=0.02, period=0.005)\n"
                         ">>> robot.commands[0] = control.plan(robot.q[0], robot.v[0], robot.applied[0], goals)\n\n"
                         "For one thread at a time.")
      .def(
          "__init__",
          [](Controller* self, std::shared_ptr<ReducedModel> model, int steps, const std::optional<double>& time_step,
             const std::optional<double>& period, const std::optional<std::vector<int>>& blocks, double smoothness,
             double effort, double trust, int iterations) {
            PredictiveSettings settings{.steps = steps,
                                        .time_step = time_step,
                                        .period = period,
                                        .blocks = blocks.value_or(std::vector<int>{}),
                                        .smoothness = smoothness,
                                        .effort = effort,
                                        .trust = trust,
                                        .iterations = iterations};
            const nb::gil_scoped_release unlocked;
            new (self) Controller{PredictiveControl(std::move(model), settings), {}};
          },
          nb::arg("model"), nb::kw_only(), nb::arg("steps") = PredictiveSettings{}.steps,
          nb::arg("time_step") = nb::none(), nb::arg("period") = nb::none(), nb::arg("blocks") = nb::none(),
          nb::arg("smoothness") = PredictiveSettings{}.smoothness, nb::arg("effort") = PredictiveSettings{}.effort,
          nb::arg("trust") = PredictiveSettings{}.trust, nb::arg("iterations") = PredictiveSettings{}.iterations,
          "steps: of the horizon, time_step [s] each (None: the robot's). period [s]: from one plan to the next "
          "(None:\n"
          "time_step). blocks: numbers of steps in which commands stay the same (None: as many as fit, the first ones\n"
          "short). smoothness [m]: which distance of an effector counts as a change of a command by its whole range;\n"
          "effort [m]: which as a command at the end of its range. trust: the part of a range by which one iteration\n"
          "changes a command at most. Raises InputError for robots without effectors or ranges, those that Rollout "
          "does\n"
          "not support, and settings out of bounds.")
      .def(
          "plan", &plan, nb::arg("q"), nb::arg("v"), nb::arg("applied"), nb::arg("goals"), nb::arg("load") = nb::none(),
          "From coordinates and velocities [n] and the commands that the robot has now [actuators] towards goals\n"
          "[steps, effectors, 3] at the ends of the steps, or [effectors, 3] for all of them, as Simulation.goals has\n"
          "them. load [n, N]: generalised forces that act all along, such as StateEstimator.generalised_load. Returns\n"
          "the commands until the next plan [actuators]; planned has those after them. report has how it went.")
      .def(
          "forget", [](Controller& self) { self.control.forget(); },
          "The next plan begins from the commands applied then, as after a jump of the state.")
      .def_prop_ro(
          "report", &report_of,
          "Of the last plan: \"status\" (\"planned\", \"prediction failed\" with \"failure\", \"no answer\":\n"
          "the last plan moves on then; \"no plan\" before the first), \"distance\" [m], the root mean square of the\n"
          "effectors' distances along the prediction that it began with, \"expected\", after the change,\n"
          "\"contacts\", most at once, \"inexact\", steps whose contacts had no exact forces.")
      .def_prop_ro(
          "planned",
          [](const Controller& self) {
            return copy(self.control.planned(),
                        {count(self.control.steps()), self.control.model().robot.actuators.size()});
          },
          nb::rv_policy::automatic, "Commands of the last plan at the ends of its steps [steps, actuators].")
      .def_prop_ro(
          "predicted",
          [](const Controller& self) {
            return copy(self.control.predicted(), {count(self.control.steps()), count(self.control.model().modes)});
          },
          nb::rv_policy::automatic, "Coordinates along the prediction that the last plan began with [steps, n].")
      .def_prop_ro(
          "steps", [](const Controller& self) { return self.control.steps(); }, "Steps of the horizon.")
      .def_prop_ro(
          "time_step", [](const Controller& self) { return self.control.time_step(); }, "s")
      .def_prop_ro(
          "period", [](const Controller& self) { return self.control.period(); }, "s")
      .def_prop_ro(
          "blocks", [](const Controller& self) { return self.control.settings().blocks; },
          "Steps in which commands stay the same.")
      .def("__repr__", [](const Controller& self) {
        return fmt::format("<supple.PredictiveControl of '{}', {} modes: {} steps of {} s>",
                           self.control.model().robot.name, self.control.model().modes, self.control.steps(),
                           self.control.time_step());
      });
}

}  // namespace supple::python
