// Estimates of a reduced robot's error while it runs: engine/error/error_estimator.hpp.

#include "engine/error/error_estimator.hpp"

#include <fmt/format.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "engine/run/batch_simulation.hpp"
#include "python/src/bindings.hpp"

namespace supple::python {

namespace {

struct EstimatedError {
  std::shared_ptr<ReducedModel> model, finer;
  ErrorEstimator estimator;

  EstimatedError(std::shared_ptr<ReducedModel> own, std::shared_ptr<ReducedModel> other, double share)
      : model(std::move(own)), finer(std::move(other)), estimator(*model, *finer, {.share = share}) {}
};

bool after_step(EstimatedError& self, BatchSimulation& simulation) {
  if (simulation.robots() != 1 || simulation.reduced() != self.model.get())
    throw InputError("the simulation is not one of one robot with this model",
                     "supple.Simulation(model), of the same object");
  if (!simulation.variations().none() || !simulation.parameters().empty())
    throw InputError("the simulation has variations or parameters, which the finer model does not know",
                     "a simulation without them");
  return self.estimator.after_step(simulation.state());
}

void set_forces(EstimatedError& self, const std::map<std::string, std::vector<double>>& forces) {
  const std::vector<NamedPoint> points = self.model->robot.reported_points();
  std::vector<ErrorEstimator::PointForce> placed;
  for (const auto& [name, force] : forces) {
    const auto at = std::ranges::find(points, name, &NamedPoint::name);
    if (at == points.end())
      throw InputError(
          fmt::format("'{}' has no effector or probe '{}' for a force", self.model->robot.name, name),
          points.empty() ? "[[probe]] in its scene" : fmt::format("one of: {}", fmt::join(names_in(points), ", ")));
    if (force.size() != 3 || !std::ranges::all_of(force, [](double f) { return std::isfinite(f); }))
      throw InputError(fmt::format("the force on '{}' is not three finite numbers", name), "[0, 0, -1.0]");
    placed.push_back({at->point, {{force[0], force[1], force[2]}}});
  }
  self.estimator.set_point_forces(std::move(placed));
}

}  // namespace

void bind_error_estimator(nb::module_& module) {
  nb::class_<EstimatedError>(
      module, "ErrorEstimator",
      "How far a reduced robot's effectors are from where the full model would have them, while it "
      "runs:\n"
      "a finer reduced model is brought to the equilibrium of the robot's present motion\n"
      "(docs/theory/error-estimates.md).\n\n"
      ">>> estimator = supple.ErrorEstimator(model, finer)\n"
      ">>> simulation.step()\n"
      ">>> if estimator.after_step(simulation): print(estimator.error)   # m")
      .def(
          "__init__",
          [](EstimatedError* self, std::shared_ptr<ReducedModel> model, std::shared_ptr<ReducedModel> finer,
             double share) {
            if (!(share >= 0)) throw InputError("share is negative, or no number", "0.15; 0: after every step");
            const nb::gil_scoped_release unlocked;
            new (self) EstimatedError(std::move(model), std::move(finer), share);
          },
          nb::arg("model"), nb::arg("finer"), nb::kw_only(), nb::arg("share") = ErrorEstimatorSettings{}.share,
          "finer: of the same scene and snapshots, with more modes. share: of the time of the model's steps that\n"
          "estimates take on average, about, from which steps_between follows; 0: one after every step. Raises\n"
          "InputError where the finer model is of another robot or mesh, and for robots that are not supported.")
      .def("after_step", &after_step, nb::arg("simulation"),
           "To be called after every step of a simulation of one robot. True: there is a new estimate.")
      .def(
          "reset", [](EstimatedError& self) { self.estimator.reset(); }, "Another run begins.")
      .def("set_forces", &set_forces, nb::arg("forces"),
           nb::sig("def set_forces(self, forces: typing.Mapping[str, typing.Sequence[float]]) -> None"),
           "Forces of a hand on effectors and probes, by name [3, N], that act on the robot beside its own.")
      .def_prop_ro(
          "error",
          [](const EstimatedError& self) {
            const auto& newest = self.estimator.newest();
            const std::size_t effectors = self.model->robot.effectors.size();
            return newest ? copy(newest->error, {effectors, 3})
                          : array(std::vector<double>(3 * effectors, std::nan("")), {effectors, 3});
          },
          nb::rv_policy::automatic,
          "Of the newest estimate: the finer model's points less the model's [effectors, 3, m]; NaN: there is none.")
      .def_prop_ro(
          "time",
          [](const EstimatedError& self) {
            return self.estimator.newest() ? self.estimator.newest()->time : std::nan("");
          },
          "Of the step that it belongs to [s].")
      .def_prop_ro(
          "steps_between", [](const EstimatedError& self) { return self.estimator.steps_between(); },
          "Steps from one estimate to the next.")
      .def_prop_ro(
          "failed", [](const EstimatedError& self) { return self.estimator.failed(); },
          "Estimates that were not found: the finer model has no equilibrium near the robot there.")
      .def("__repr__", [](const EstimatedError& self) {
        return fmt::format("<supple.ErrorEstimator of '{}': {} modes by {}, one estimate in {} steps>",
                           self.model->robot.name, self.model->modes, self.finer->modes,
                           self.estimator.steps_between());
      });
}

}  // namespace supple::python
