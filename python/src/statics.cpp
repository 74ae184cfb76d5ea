// Robots at rest that Python differentiates: engine/derivative/statics.hpp.

#include "engine/derivative/statics.hpp"

#include <fmt/format.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

#include "python/src/bindings.hpp"
#include "python/src/differentiated_robots.hpp"

namespace supple::python {

namespace {

Table solve(Statics& self, nb::object commands, nb::object loads, nb::object gravity, nb::object material_scale,
            nb::object density) {
  const ReducedModel& model = self.model();
  const std::size_t robots = count(self.robots()), n = count(model.modes);
  const std::vector<double> given = numbers_of(commands, "commands", {robots, model.robot.actuators.size()}),
                            own_loads = numbers_of(loads, "loads", {robots, n});
  const GivenVariations variations{.gravity = gravity, .material_scale = material_scale, .density = density};
  self.set_variations(variations.numbers(robots, count(model.regions()), model.robot.obstacles.size()));
  Statics::Rest rest;
  run_watched([&](const auto& stopped) { rest = self.solve(given, own_loads, stopped); });
  Table found;
  found["q"] = array(std::move(rest.q), {robots, n});
  found["forces"] = array(std::move(rest.forces), {robots, count(model.robot.rows())});
  return found;
}

Table gradient(Statics& self, nb::object q, nb::object forces) {
  const ReducedModel& model = self.model();
  const std::size_t robots = count(self.robots()), n = count(model.modes);
  InputGradient found = self.pull_back(numbers_of(q, "q", {robots, n}),
                                       numbers_of(forces, "forces", {robots, count(model.robot.rows())}));
  Table gradient;
  gradient["commands"] = array(std::move(found.commands), {robots, model.robot.actuators.size()});
  gradient["loads"] = array(std::move(found.load), {robots, n});
  gradient["gravity"] = array(std::move(found.gravity), {robots, 3});
  gradient["material_scale"] = array(std::move(found.material_scale), {robots, count(model.regions())});
  gradient["density"] = array(std::move(found.density), {robots});
  return gradient;
}

Table matrices(Statics& self) {
  const ReducedModel& model = self.model();
  const std::size_t robots = count(self.robots()), n = count(model.modes);
  Statics::Matrices found = self.matrices();
  Table table;
  table["commands"] = array(std::move(found.commands), {robots, n, model.robot.actuators.size()});
  table["loads"] = array(std::move(found.loads), {robots, n, n});
  return table;
}

}  // namespace

void bind_statics(nb::module_& module) {
  nb::class_<Statics> statics(module, "Statics",
                              "Equilibria of a reduced model and their derivatives (docs/theory/derivatives.md).\n\n"
                              ">>> statics = supple.Statics(model)\n"
                              ">>> rest = statics.solve(commands)             # [robots, actuators]\n"
                              ">>> gradient = statics.gradient(q=dq)          # dq [robots, n]\n"
                              ">>> gradient[\"commands\"]                     # [robots, actuators]\n\n"
                              "For one thread at a time. Mapped points are linear in q: points = statics.rest_points + "
                              "statics.point_matrix @ q.\n"
                              "supple.torch.rest and supple.jax.rest wrap it for automatic differentiation.");
  def_robots(statics);
  statics
      .def(
          "__init__",
          [](Statics* self, std::shared_ptr<ReducedModel> model, int robots) {
            if (robots < 1) throw InputError(fmt::format("robots is {}", robots), "1 or more");
            const nb::gil_scoped_release unlocked;
            new (self) Statics(std::move(model), robots);
          },
          nb::arg("model"), nb::arg("robots") = 1,
          "Raises InputError for obstacles with friction, on which equilibria depend on the way there, and for what "
          "is\n"
          "not supported yet: regions with a prescribed motion, viscous materials, gas, cables that rub, springs that\n"
          "are forces, motors, free-floating bodies, hollow obstacles and meshes.")
      .def("solve", &solve, nb::arg("commands"), nb::arg("loads") = nb::none(), nb::arg("gravity") = nb::none(),
           nb::arg("material_scale") = nb::none(), nb::arg("density") = nb::none(),
           "Equilibria under commands [robots, actuators], as Simulation has them, from rest, whatever was found "
           "before.\n"
           "loads: generalised forces [robots, n, N], such as force @ point_matrix[point]. gravity, material_scale,\n"
           "density: as Simulation.set_variations() has them. Returns \"q\" [robots, n] and \"forces\" [robots, rows]. "
           "Raises "
           "RunError\n"
           "where a robot has no equilibrium.")
      .def("gradient", &gradient, nb::arg("q") = nb::none(), nb::arg("forces") = nb::none(),
           "From the derivatives of a scalar by what the last solve() returned (None: by none of it) those by what it\n"
           "was given: \"commands\", \"loads\", \"gravity\", \"material_scale\" and \"density\". At a kink, where a "
           "cable goes slack, those of the side it was on.")
      .def("matrices", &matrices,
           "How q changes: with \"commands\" [robots, n, actuators], of a slack cable with one that is pulled, and "
           "with\n"
           "\"loads\" [robots, n, n], the robots' compliance [per N]; point_matrix @ compliance @ point_matrix.T is "
           "that of\n"
           "mapped points.")
      .def("__repr__", [](const Statics& self) {
        return fmt::format("<supple.Statics of {} '{}', {} modes>", self.robots(), self.model().robot.name,
                           self.model().modes);
      });
}

}  // namespace supple::python
