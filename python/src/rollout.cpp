// Runs that Python differentiates through: engine/derivative/rollout.hpp.

#include "engine/derivative/rollout.hpp"

#include <fmt/format.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "python/src/bindings.hpp"
#include "python/src/differentiated_robots.hpp"

namespace supple::python {

namespace {

std::size_t coordinates(const Rollout& self) {
  return count(self.model().modes);
}

Array<double> of_states(const Rollout& self, const std::vector<double>& values) {
  return array(values, {count(self.record().steps) + 1, count(self.robots()), coordinates(self)});
}

Table run(Rollout& self, nb::object commands, nb::object q, nb::object v, nb::object loads, nb::object gravity,
          nb::object material_scale, nb::object friction, nb::object applied, nb::object density,
          nb::object rayleigh_mass, nb::object rayleigh_stiffness) {
  const std::size_t robots = count(self.robots()), actuators = self.model().robot.actuators.size();
  const std::size_t n = coordinates(self);
  Numbers shape;
  if (!nb::try_cast(commands, shape) || shape.ndim() != 3)
    throw nb::type_error("commands is a float64 array of shape (steps, robots, actuators)");
  const std::size_t steps = shape.shape(0);
  const std::vector<double> given = numbers_of(commands, "commands", {steps, robots, actuators});
  const std::vector<double> own_loads = numbers_of(loads, "loads", {steps, robots, n});
  const std::vector<double> start = numbers_of(q, "q", {robots, n}), speed = numbers_of(v, "v", {robots, n});
  const std::vector<double> before = numbers_of(applied, "applied", {robots, actuators});
  const GivenVariations variations{gravity, material_scale, friction, density, rayleigh_mass, rayleigh_stiffness};
  self.set_variations(variations.numbers(robots, count(self.model().regions()), self.model().robot.obstacles.size()));
  run_watched([&](const auto& stopped) {
    (void)self.run(given, {.q = start, .v = speed, .applied = before}, own_loads, stopped);
  });
  Table record;
  record["q"] = of_states(self, self.record().q);
  record["v"] = of_states(self, self.record().v);
  record["forces"] = array(self.record().forces, {steps, robots, count(self.model().robot.rows())});
  record["contact_forces"] =
      array(self.record().contact_forces,
            {steps, robots, count(self.model().robot.collision_points), self.model().robot.obstacles.size(), 3});
  record["applied"] = array(self.record().applied, {steps, robots, actuators});
  return record;
}

Table pull_back(Rollout& self, nb::object q, nb::object v, nb::object forces, nb::object contact_forces) {
  if (self.record().q.empty()) (void)self.pull_back({});  // throws
  const std::size_t steps = count(self.record().steps), robots = count(self.robots()), n = coordinates(self);
  const std::vector<double> by_q = numbers_of(q, "q", {steps + 1, robots, n}),
                            by_v = numbers_of(v, "v", {steps + 1, robots, n}),
                            by_forces = numbers_of(forces, "forces", {steps, robots, count(self.model().robot.rows())});
  const Robot& robot = self.model().robot;
  const std::vector<double> by_contacts = numbers_of(
      contact_forces, "contact_forces", {steps, robots, count(robot.collision_points), robot.obstacles.size(), 3});
  RolloutGradient found;
  run_watched([&](const auto& stopped) { found = self.pull_back({by_q, by_v, by_forces, by_contacts}, stopped); });
  Table gradient;
  gradient["q"] = array(std::move(found.q), {robots, n});
  gradient["v"] = array(std::move(found.v), {robots, n});
  gradient["applied"] = array(std::move(found.applied), {robots, self.model().robot.actuators.size()});
  gradient["commands"] = array(std::move(found.commands), {steps, robots, self.model().robot.actuators.size()});
  gradient["loads"] = array(std::move(found.loads), {steps, robots, n});
  gradient["gravity"] = array(std::move(found.gravity), {robots, 3});
  gradient["material_scale"] = array(std::move(found.material_scale), {robots, count(self.model().regions())});
  gradient["friction"] = array(std::move(found.friction), {robots, robot.obstacles.size()});
  gradient["density"] = array(std::move(found.density), {robots});
  gradient["rayleigh_mass"] = array(std::move(found.rayleigh_mass), {robots});
  gradient["rayleigh_stiffness"] = array(std::move(found.rayleigh_stiffness), {robots});
  return gradient;
}

}  // namespace

void bind_rollout(nb::module_& module) {
  nb::class_<Rollout> rollout(module, "Rollout",
                              "Runs of a reduced model that gradients go back through (docs/theory/derivatives.md).\n\n"
                              ">>> rollout = supple.Rollout(model)\n"
                              ">>> record = rollout.run(commands)             # [steps, robots, actuators]\n"
                              ">>> gradient = rollout.gradient(q=dq)          # dq [steps + 1, robots, n]\n"
                              ">>> gradient[\"commands\"]                       # [steps, robots, actuators]\n\n"
                              "For one thread at a time. Mapped points are linear in q: points = rollout.rest_points + "
                              "rollout.point_matrix @ q.\n"
                              "supple.torch and supple.jax wrap it for automatic differentiation.");
  def_robots(rollout);
  rollout
      .def(
          "__init__",
          [](Rollout* self, std::shared_ptr<ReducedModel> model, int robots, const std::optional<double>& time_step) {
            if (robots < 1) throw InputError(fmt::format("robots is {}", robots), "1 or more");
            const nb::gil_scoped_release unlocked;
            new (self) Rollout(std::move(model), robots, time_step);
          },
          nb::arg("model"), nb::arg("robots") = 1, nb::arg("time_step") = nb::none(),
          "time_step [s]: else the robot's. Raises InputError for what is not supported yet: other integrators than\n"
          "implicit Euler, implicit factors below 1, regions with a prescribed motion, viscous materials, gas, cables\n"
          "that rub, springs that are forces, motors, free-floating bodies, hollow obstacles and meshes.")
      .def_prop_ro("time_step", &Rollout::time_step, "s")
      .def_prop_ro(
          "obstacles", [](const Rollout& self) { return self.model().robot.obstacles.size(); }, "Number of obstacles.")
      .def("run", &run, nb::arg("commands"), nb::arg("q") = nb::none(), nb::arg("v") = nb::none(),
           nb::arg("loads") = nb::none(), nb::arg("gravity") = nb::none(), nb::arg("material_scale") = nb::none(),
           nb::arg("friction") = nb::none(), nb::arg("applied") = nb::none(), nb::arg("density") = nb::none(),
           nb::arg("rayleigh_mass") = nb::none(), nb::arg("rayleigh_stiffness") = nb::none(),
           "One step for each of the commands [steps, robots, actuators], as Simulation has them, from q and v\n"
           "[robots, n] (None: at rest). loads: generalised forces of each step [steps, robots, n, N], such as\n"
           "point_matrix.T @ force. applied [robots, actuators]: commands before the first step, which rate\n"
           "limits begin from (None: 0). The others are as Simulation.set_variations() has them.\n"
           "Returns \"q\" and \"v\" [steps + 1, robots, n], \"forces\" [steps, robots, rows], \"contact_forces\"\n"
           "[steps, robots, points, obstacles, 3] and \"applied\", the commands that ranges and rates left\n"
           "[steps, robots, actuators]: its last entries continue the run. Raises RunError where a step fails.")
      .def("gradient", &pull_back, nb::arg("q") = nb::none(), nb::arg("v") = nb::none(), nb::arg("forces") = nb::none(),
           nb::arg("contact_forces") = nb::none(),
           "From the derivatives of a scalar by what the last run() returned (None: by none of it) those by what it\n"
           "was given: \"q\", \"v\", \"commands\", \"loads\", \"gravity\", \"material_scale\", \"friction\",\n"
           "\"density\", \"rayleigh_mass\", \"rayleigh_stiffness\" and \"applied\". Of the steps as they were taken;\n"
           "at a kink, where a cable goes slack, those of the side it was on.")
      .def("__repr__", [](const Rollout& self) {
        return fmt::format("<supple.Rollout of {} '{}', {} modes: {} steps>", self.robots(), self.model().robot.name,
                           self.model().modes, self.record().steps);
      });
}

}  // namespace supple::python
