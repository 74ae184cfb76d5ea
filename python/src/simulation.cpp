// Robots that Python steps: engine/run/batch_simulation.hpp with its arrays as views.

#include "engine/run/batch_simulation.hpp"

#include <fmt/format.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <numeric>

#include "engine/model/obstacle_surfaces.hpp"
#include "engine/model/parameters.hpp"
#include "engine/scene/integrator.hpp"
#include "engine/scene/units.hpp"
#include "kernels/base/hash.hpp"
#include "python/src/bindings.hpp"

namespace supple::python {

std::vector<double> numbers_of(nb::handle given, const char* name, std::initializer_list<std::size_t> shape) {
  if (given.is_none()) return {};
  Numbers numbers;
  if (!nb::try_cast(given, numbers)) throw nb::type_error(fmt::format("{} is a float64 array", name).c_str());
  bool fits = numbers.ndim() == shape.size();
  for (std::size_t d = 0; fits && d < shape.size(); ++d) fits = numbers.shape(d) == shape.begin()[d];
  if (!fits) throw nb::value_error(fmt::format("{} is not of shape ({})", name, fmt::join(shape, ", ")).c_str());
  return {numbers.data(), numbers.data() + numbers.size()};
}

Variations GivenVariations::numbers(std::size_t robots, std::size_t regions, std::size_t obstacles) const {
  return {.gravity = numbers_of(gravity, "gravity", {robots, 3}),
          .material_scale = numbers_of(material_scale, "material_scale", {robots, regions}),
          .friction = numbers_of(friction, "friction", {robots, obstacles}),
          .density = numbers_of(density, "density", {robots}),
          .rayleigh_mass = numbers_of(rayleigh_mass, "rayleigh_mass", {robots}),
          .rayleigh_stiffness = numbers_of(rayleigh_stiffness, "rayleigh_stiffness", {robots})};
}

namespace {

using Self = nb::pointer_and_handle<BatchSimulation>;
using Mask = nb::ndarray<const bool, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// Every list of a state.
constexpr std::pair<const char*, std::vector<double> State::*> lists[] = {
    {"q", &State::q},
    {"v", &State::v},
    {"forces", &State::multipliers},
    {"contact_forces", &State::contact_forces},
    {"commands", &State::commands},
    {"motions", &State::motions},
    {"motion_velocities", &State::motion_velocities},
    {"history", &State::history},
    {"viscous", &State::viscous}};

// A read-only view of one of the state's lists [robots, ...].
Array<const double> state_view(const Self& self, std::vector<double> State::*list) {
  const std::vector<double>& values = self.p->state().*list;
  const std::size_t robots = count(self.p->robots());
  return view<const double>(values.data(), {robots, values.size() / robots}, self.h);
}

InverseSettings inverse_settings(const Robot& robot, const std::string& regularisation, double epsilon,
                                 const std::optional<double>& goal_speed, const std::vector<double>& effort,
                                 int starts) {
  InverseSettings settings;
  if (regularisation == "energy")
    settings.regularisation = Regularisation::energy;
  else if (regularisation == "none")
    settings.regularisation = Regularisation::none;
  else if (regularisation != "proximal")
    throw InputError(fmt::format("'{}' is not a regularisation", regularisation), "proximal, energy or none");
  if (!(epsilon >= 0 && epsilon <= 1))
    throw InputError(fmt::format("epsilon {} is not between 0 and 1", epsilon), "1e-6");
  if (!effort.empty() && effort.size() != robot.actuators.size())
    throw InputError(fmt::format("{} efforts for {} actuators", effort.size(), robot.actuators.size()),
                     "one for each, or none");
  if (!std::ranges::all_of(effort, [](double factor) { return factor >= 0 && std::isfinite(factor); }))
    throw InputError("an effort is negative or not finite", "0 or more");
  if (goal_speed && !(*goal_speed > 0)) throw InputError("goal_speed is not above 0", "m/s, or None");
  settings.epsilon = epsilon;
  settings.effort = effort;
  settings.starts = starts;
  if (goal_speed) settings.goal_speed = *goal_speed;
  return settings;
}

const char* kind_word(SimulatedBody::Kind kind) {
  switch (kind) {
    case SimulatedBody::Kind::full:
      return "full";
    case SimulatedBody::Kind::reduced:
      return "reduced";
    case SimulatedBody::Kind::several:
      return "several bodies";
  }
  return "";
}

std::unique_ptr<SimulatedBody> simulated(nb::handle robot) {
  if (nb::isinstance<ReducedModel>(robot)) return body_of(nb::cast<std::shared_ptr<ReducedModel>>(robot));
  if (!nb::isinstance<SceneOfPython>(robot))
    throw nb::type_error("Simulation(robot): robot is a supple.Model or a supple.Scene");
  auto& scene = nb::cast<SceneOfPython&>(robot);
  if (scene.several() == nullptr) return body_of(scene.full());
  const nb::gil_scoped_release unlocked;
  return body_of(*scene.several());
}

void open(BatchSimulation* self, nb::object robot, int robots, const std::string& device,
          const std::optional<std::string>& integrator, const std::optional<double>& time_step, double keep_tangent,
          bool inverse, const std::string& regularisation, double epsilon, const std::optional<double>& goal_speed,
          const std::vector<double>& effort, int starts, std::uint64_t seed) {
  std::unique_ptr<SimulatedBody> body = simulated(robot);
  BatchSimulationSettings settings;
  settings.robots = robots;
  settings.device = parse_device(device);
  if (integrator) settings.integrator = integrator_of(*integrator);
  settings.time_step = time_step;
  settings.keep_tangent = keep_tangent;
  settings.sensor_seed = seed;
  if (!inverse && (regularisation != "proximal" || epsilon != 1e-6 || goal_speed || !effort.empty() || starts != 0))
    throw InputError("regularisation, epsilon, goal_speed, effort and starts are of inverse control", "inverse=True");
  if (starts < 0) throw InputError(fmt::format("starts is {}", starts), "0 or more");
  if (inverse) settings.inverse = inverse_settings(body->robot(), regularisation, epsilon, goal_speed, effort, starts);
  const nb::gil_scoped_release unlocked;
  new (self) BatchSimulation(std::move(body), settings);
}

void step(BatchSimulation& self, long steps) {
  if (steps < 0) throw nb::value_error("step(count): count is negative");
  std::optional<Watch> watch;
  if (steps > 1) watch.emplace();
  {
    const nb::gil_scoped_release unlocked;
    if (watch)
      (void)self.step(steps, [&] { return watch->stopped(); });
    else
      (void)self.step(steps);
  }
  if (watch) watch->rethrow();
  if (!self.all_failed()) return;
  const FailedRobot& failure = self.failures().front();
  throw RunError(
      fmt::format(
          "{}{}",
          self.robots() > 1 ? fmt::format("all {} robots failed; robot {}: ", self.robots(), failure.robot) : "",
          failure_text(failure, self.time_step())),
      failure_remedy(failure.report.status, self.integrator()));
}

// Which robots a mask (bool array or list) or indices (integer array or list) name.
std::vector<int> robots_of(const BatchSimulation& self, nb::object which) {
  std::vector<int> robots;
  const auto take_mask = [&](std::size_t size, const auto& marked) {
    if (size != count(self.robots())) throw nb::value_error("reset(which): the mask has another length than the batch");
    for (std::size_t b = 0; b < size; ++b)
      if (marked(b)) robots.push_back(static_cast<int>(b));
    return robots;
  };
  nb::ndarray<nb::ro, nb::device::cpu> given;
  if (nb::ndarray_check(which) && nb::try_cast(which, given)) {
    Mask mask;
    if (given.dtype() == nb::dtype<bool>() && nb::try_cast(which, mask, false))
      return take_mask(mask.shape(0), [&](std::size_t b) { return mask.data()[b]; });
    if (given.dtype().code != static_cast<std::uint8_t>(nb::dlpack::dtype_code::Int) || given.ndim() != 1)
      throw nb::type_error("reset(which): an array of bool [robots], or of integers");
    which = which.attr("tolist")();
  }
  std::vector<bool> marks;
  for (nb::handle entry : which) {
    if (PyBool_Check(entry.ptr()))
      marks.push_back(nb::cast<bool>(entry));
    else
      robots.push_back(nb::cast<int>(entry));
  }
  if (marks.empty()) return robots;
  if (!robots.empty()) throw nb::type_error("reset(which): bools and integers in one list");
  return take_mask(marks.size(), [&](std::size_t b) { return marks[b]; });
}

void reset(BatchSimulation& self, nb::object which) {
  if (which.is_none())
    self.reset();
  else
    self.reset(robots_of(self, std::move(which)));
}

Table get_state(BatchSimulation& self) {
  Table state;
  state["time"] = self.state().time;
  const std::size_t robots = count(self.robots());
  for (const auto& [name, list] : lists) {
    const std::vector<double>& values = self.state().*list;
    state[name] = array(values, {robots, values.size() / robots});
  }
  if (self.robot().surfaces) {
    std::vector<double> forces = surface_force_rows(self.state());
    const std::size_t contacts = forces.size() / surface_force_columns;
    state["surface_forces"] = array(std::move(forces), {contacts, surface_force_columns});
  }
  if (!self.sensor_numbers().empty()) {
    const std::span<const double> memory = self.sensor_memory();
    state["sensors"] = array(std::vector<double>(memory.begin(), memory.end()), {robots, memory.size() / robots});
  }
  return state;
}

void set_state(BatchSimulation& self, Table given) {
  State state = self.state();
  state.time = nb::cast<double>(given["time"]);
  for (const auto& [name, list] : lists) {
    if (!given.contains(name) && (state.*list).empty()) continue;  // a state from before there was this list
    if (!given.contains(name)) throw nb::key_error(name);
    Numbers numbers;
    if (!nb::try_cast(given[name], numbers)) throw nb::type_error("set_state(state): lists are float64 arrays");
    const std::size_t robots = count(self.robots()), own = (state.*list).size() / robots;
    if (numbers.ndim() != 2 || numbers.shape(0) != robots || numbers.shape(1) != own)
      throw nb::value_error(fmt::format("set_state(state): {} is not of shape ({}, {})", name, robots, own).c_str());
    std::copy_n(numbers.data(), numbers.size(), (state.*list).begin());
  }
  if (self.robot().surfaces) {
    if (!given.contains("surface_forces")) throw nb::key_error("surface_forces");
    Numbers numbers;
    if (!nb::try_cast(given["surface_forces"], numbers) || numbers.ndim() != 2 ||
        numbers.shape(1) != surface_force_columns)
      throw nb::value_error("set_state(state): surface_forces is a float64 array of shape (contacts, 6)");
    const SurfaceSet& set = *self.robot().surfaces;
    const auto exists = [&](const SurfaceForce& of) {
      return set.feature(of.first).surface >= 0 && set.feature(of.second).surface >= 0;
    };
    if (!set_surface_forces(state, {numbers.data(), numbers.size()}) ||
        !std::ranges::all_of(state.surface_forces, [&](const auto& own) { return std::ranges::all_of(own, exists); }))
      throw nb::value_error("set_state(state): surface_forces are not those of this batch");
  }
  std::vector<double> memory;
  if (!self.sensor_numbers().empty()) {
    if (!given.contains("sensors")) throw nb::key_error("sensors");
    const std::size_t robots = count(self.robots());
    memory = numbers_of(given["sensors"], "set_state(state): sensors", {robots, self.sensor_memory().size() / robots});
  }
  self.set_state(state);
  if (!memory.empty()) self.set_sensor_memory(memory);
}

Array<double> goal_errors(BatchSimulation& self) {
  const std::span<const double> errors = self.goal_errors();
  return array(std::vector<double>(errors.begin(), errors.end()),
               {count(self.robots()), self.robot().effectors.size()});
}

void require_inverse(const BatchSimulation& self) {
  if (!self.inverse())
    throw InputError("this simulation is stepped under commands and has no goals", "Simulation(robot, inverse=True)");
}

Array<int> corners(const Triangles& triangles) {
  std::vector<int> nodes;
  for (const auto& triangle : triangles) nodes.insert(nodes.end(), triangle.begin(), triangle.end());
  return array(std::move(nodes), {triangles.size(), 3});
}

int robot_index(const BatchSimulation& self, int robot) {
  if (robot < 0 || robot >= self.robots()) throw nb::index_error("there is no such robot in the batch");
  return robot;
}

void bind_inputs(nb::class_<BatchSimulation>& simulation) {
  simulation
      .def_prop_ro(
          "commands",
          [](Self self) {
            return view(self.p->commands().data(), {count(self.p->robots()), self.p->robot().actuators.size()}, self.h);
          },
          nb::rv_policy::automatic,
          "Commands of the actuators in the steps to come [robots, actuators]: write into it.\n\n"
          "Lengths pulled or moved [m], angles [rad], volumes [m^3], forces [N], torques [N m] or pressures [Pa]. A "
          "step cuts them to range and "
          "rate.")
      .def_prop_ro(
          "motions",
          [](Self self) {
            return view(self.p->motions().data(), {count(self.p->robots()), self.p->robot().motions.size()}, self.h);
          },
          nb::rv_policy::automatic, "Prescribed motions in the steps to come [robots, motions, m]: write into it.")
      .def_prop_ro(
          "goals",
          [](Self self) {
            require_inverse(*self.p);
            return view(self.p->goals().data(), {count(self.p->robots()), self.p->robot().effectors.size(), 3}, self.h);
          },
          nb::rv_policy::automatic,
          "Goals of the effectors [robots, effectors, 3]: write into it. At first where they are.\n\n"
          "Positions [m], orientations as rotation vectors from rest [rad], lengths [m] and volumes [m^3] in the first "
          "number.")
      .def_prop_ro(
          "known",
          [](Self self) {
            require_inverse(*self.p);
            return view(self.p->known().data(), {count(self.p->robots()), self.p->robot().actuators.size()}, self.h);
          },
          nb::rv_policy::automatic, "Commands that inverse control is given [robots, actuators]; NaN: it finds them.")
      .def_prop_ro(
          "steered",
          [](Self self) {
            require_inverse(*self.p);
            return view(reinterpret_cast<bool*>(self.p->steered().data()), {self.p->robot().effectors.size()}, self.h);
          },
          nb::rv_policy::automatic, "Which effectors are led to their goals [effectors].")
      .def_prop_ro(
          "force_limits",
          [](Self self) {
            require_inverse(*self.p);
            return view(self.p->limits().data(), {self.p->robot().actuators.size(), 2}, self.h);
          },
          nb::rv_policy::automatic,
          "Least and largest force [N] or pressure [Pa] of each actuator [actuators, 2], within those of the robot.");
}

void bind_results(nb::class_<BatchSimulation>& simulation) {
  simulation
      .def_prop_ro(
          "q", [](Self self) { return state_view(self, &State::q); }, nb::rv_policy::automatic,
          "Coordinates [robots, n] (read-only).")
      .def_prop_ro(
          "v", [](Self self) { return state_view(self, &State::v); }, nb::rv_policy::automatic,
          "Their velocities [robots, n].")
      .def_prop_ro(
          "forces", [](Self self) { return state_view(self, &State::multipliers); }, nb::rv_policy::automatic,
          "Forces of actuators, then of constraints, in the last step [robots, rows, N or Pa].")
      .def_prop_ro(
          "applied", [](Self self) { return state_view(self, &State::commands); }, nb::rv_policy::automatic,
          "Commands that the last step applied, or that inverse control found [robots, actuators].")
      .def_prop_ro(
          "applied_motions", [](Self self) { return state_view(self, &State::motions); }, nb::rv_policy::automatic,
          "Prescribed motions that the last step applied, or that inverse control found [robots, motions, m or rad].")
      .def_prop_ro(
          "contact_forces",
          [](Self self) {
            const Robot& robot = self.p->robot();
            return view<const double>(
                self.p->state().contact_forces.data(),
                {count(self.p->robots()), count(robot.collision_points), robot.obstacles.size(), 3}, self.h);
          },
          nb::rv_policy::automatic,
          "Forces of obstacles on collision points [robots, points, obstacles, 3, N], in the world.")
      .def_prop_ro(
          "points",
          [](Self self) {
            const std::size_t robots = count(self.p->robots());
            const std::vector<double>* y = nullptr;
            {
              const nb::gil_scoped_release unlocked;
              y = &self.p->outputs();
            }
            return view<const double>(y->data(), {robots, y->size() / robots / 3, 3}, self.h);
          },
          nb::rv_policy::automatic,
          "Mapped points [robots, points, 3, m]: of cables, effectors, probes (probe_points), collision points.\n\n"
          "Computed when it is read: an array that was read before shows them then too.")
      .def_prop_ro(
          "effectors",
          [](Self self) {
            return view<const double>(self.p->effectors().data(),
                                      {count(self.p->robots()), self.p->robot().effectors.size(), 3}, self.h);
          },
          nb::rv_policy::automatic,
          "Where the effectors are [robots, effectors, 3], in the units of `goals`.\n\n"
          "Computed when it is read: an array that was read before shows them then too.")
      .def_prop_ro(
          "sensors",
          [](Self self) {
            std::span<const double> readings;
            {
              const nb::gil_scoped_release unlocked;
              readings = self.p->sensors();
            }
            return view<const double>(readings.data(), {count(self.p->robots()), self.p->sensor_numbers().size()},
                                      self.h);
          },
          nb::rv_policy::automatic,
          "Readings of the sensors after the last step [robots, numbers], SI: sensor_names, sensor_units.\n\n"
          "Computed when it is read: an array that was read before shows them then too.")
      .def_prop_ro(
          "time", [](BatchSimulation& self) { return self.state().time; }, "s")
      .def_prop_ro("steps", &BatchSimulation::steps, "Steps done since the start or the last reset of all robots.")
      .def_prop_ro("limited", &BatchSimulation::limited, "Commands that the last step cut to their range or rate.")
      .def_prop_ro(
          "report",
          [](const BatchSimulation& self) {
            const StepReport& last = self.report();
            Table report;
            report["status"] = describe(last.status);
            report["iterations"] = last.iterations;
            report["residual"] = last.residual;
            report["inverted"] = last.inverted;
            report["weakened"] = last.weakened;
            return report;
          },
          "How the last step went: status, iterations, residual, points turned inside out, weakened tangents.")
      .def_prop_ro(
          "failed",
          [](const BatchSimulation& self) {
            auto mask = std::make_unique<bool[]>(count(self.robots()));
            for (const FailedRobot& failure : self.failures()) mask[count(failure.robot)] = true;
            bool* data = mask.release();
            const nb::capsule owner(data, [](void* memory) noexcept { delete[] static_cast<bool*>(memory); });
            return view(data, {count(self.robots())}, owner);
          },
          nb::rv_policy::automatic, "Which robots have failed [robots]; they stay as they were until they are reset.")
      .def_prop_ro(
          "failures",
          [](const BatchSimulation& self) {
            std::vector<std::string> texts;
            for (const FailedRobot& failure : self.failures())
              texts.push_back(fmt::format("robot {}: {}", failure.robot, failure_text(failure, self.time_step())));
            return texts;
          },
          "Why, one text for each.")
      .def_prop_ro(
          "held",
          [](const BatchSimulation& self) {
            require_inverse(self);
            return self.answers()->conflicts();
          },
          "Why inverse control held the last commands [robots]: empty texts where it did not.")
      .def_prop_ro(
          "goal_errors",
          [](BatchSimulation& self) {
            require_inverse(self);
            return goal_errors(self);
          },
          nb::rv_policy::automatic,
          "Distance of each effector to its goal [robots, effectors, m]; of an orientation rad times its lever.")
      .def(
          "touches",
          [](BatchSimulation& self, int robot) {
            nb::typed<nb::list, Table> list;
            for (const Touch& touch : self.touches(robot_index(self, robot))) {
              Table entry;
              entry["point"] = touch.point;
              entry["obstacle"] = self.robot().obstacles[count(touch.obstacle)].name;
              entry["at"] = nb::make_tuple(touch.at[0], touch.at[1], touch.at[2]);
              entry["force"] = nb::make_tuple(touch.force[0], touch.force[1], touch.force[2]);
              entry["normal_force"] = touch.normal_force;
              entry["slip"] = touch.slip;
              entry["sliding"] = touch.sliding;
              list.append(entry);
            }
            return list;
          },
          nb::arg("robot") = 0,
          "Active contacts of a robot: point, obstacle, at [m], force on the body [N], normal_force [N], slip in the "
          "last step [m], sliding.")
      .def(
          "body_touches",
          [](BatchSimulation& self, int robot) {
            nb::typed<nb::list, Table> list;
            const Robot& whole = self.robot();
            for (const BodyTouch& touch : self.body_touches(robot_index(self, robot))) {
              Table entry;
              entry["first"] = whole.surface_names[count(touch.first)];
              entry["second"] = whole.surface_names[count(touch.second)];
              entry["force"] = nb::make_tuple(touch.force[0], touch.force[1], touch.force[2]);
              entry["contacts"] = touch.contacts;
              list.append(entry);
            }
            return list;
          },
          nb::arg("robot") = 0,
          "Bodies of a robot that touch each other: first, second, force on the first [N], contacts (pairs of "
          "features).")
      .def(
          "poses",
          [](BatchSimulation& self, int robot) {
            Table poses;
            for (const NamedPose& body : self.poses(robot_index(self, robot))) {
              std::vector<double> values(body.pose.position.v, body.pose.position.v + 3);
              for (int i = 0; i < 3; ++i)
                for (int j = 0; j < 3; ++j) values.push_back(body.pose.rotation(i, j));
              Array<double> position = array(std::vector<double>(values.begin(), values.begin() + 3), {3}),
                            rotation = array(std::vector<double>(values.begin() + 3, values.end()), {3, 3});
              poses[body.name.c_str()] = nb::make_tuple(position, rotation);
            }
            return poses;
          },
          nb::arg("robot") = 0,
          "Where the bodies of a robot of several are: name to position of its own axes [3, m] and rotation [3, 3].")
      .def(
          "gaps",
          [](BatchSimulation& self) {
            const Robot& robot = self.robot();
            return array(self.gaps(), {count(self.robots()), count(robot.collision_points), robot.obstacles.size()});
          },
          "Gaps between collision points and obstacles less the contact distance [robots, points, obstacles, m].")
      .def(
          "skin",
          [](BatchSimulation& self, int robot) {
            const std::size_t size = self.skin().nodes.size();
            std::vector<double> nodes(3 * size);
            self.skin_nodes(robot_index(self, robot), nodes);
            return array(std::move(nodes), {size, 3});
          },
          nb::arg("robot") = 0, "Positions of the nodes of a robot's skin [nodes, 3, m].")
      .def_prop_ro(
          "triangles", [](BatchSimulation& self) { return corners(self.skin().triangles); }, nb::rv_policy::automatic,
          "Triangles of the skin [triangles, 3].")
      .def(
          "stress",
          [](BatchSimulation& self, int robot) {
            std::vector<double> stress = self.stress(robot_index(self, robot));
            const std::size_t size = stress.size();
            return array(std::move(stress), {size});
          },
          nb::arg("robot") = 0,
          "Von Mises stress of a robot's elements [elements, Pa]: of a full model all, of a reduced one those it "
          "keeps.")
      .def(
          "hash", [](BatchSimulation& self) { return hash_hex(hash(self.state())); },
          "Hash of all bits of the state, as the command line prints it.");
}

}  // namespace

namespace {

void set_parameters(BatchSimulation& self, const nb::object& given) {
  if (self.reduced() == nullptr) self.set_parameters({});  // throws
  const Robot& robot = self.reduced()->robot;
  const std::size_t robots = count(self.robots()), parameters = robot.parameters.size();
  const auto table = nb::cast<nb::dict>(nb::module_::import_("builtins").attr("dict")(given));
  std::vector<double> values(table.size() == 0 ? 0 : robots * parameters, 1.0);
  for (const auto& [key, value] : table) {
    const auto name = nb::cast<std::string>(key);
    const auto found = std::ranges::find(robot.parameters, name, &Parameter::name);
    if (found == robot.parameters.end()) (void)parameters_by_name(robot, std::vector<NamedValue>{{name, 1}});  // throws
    const bool same = PyFloat_Check(value.ptr()) || PyLong_Check(value.ptr());
    if (value.is_none()) throw nb::type_error(fmt::format("{} is a number or a float64 array", name).c_str());
    const std::vector<double> own =
        same ? std::vector(robots, nb::cast<double>(value)) : numbers_of(value, name.c_str(), {robots});
    for (std::size_t b = 0; b < robots; ++b)
      values[b * parameters + static_cast<std::size_t>(found - robot.parameters.begin())] = own[b];
  }
  const nb::gil_scoped_release unlocked;
  self.set_parameters(values);
}

}  // namespace

void bind_simulation(nb::module_& module) {
  nb::class_<BatchSimulation> simulation(
      module, "Simulation",
      "Robots that are stepped at will: one or a batch, reduced (Model), full (Scene) or of several bodies (Scene),\n"
      "under commands or, with\n"
      "inverse=True, towards goals. Arrays are views: on a CPU they show the present state after every step, on a "
      "device\n"
      "once a property is read. SI units.\n"
      "One simulation is for one thread at a time; several run in several threads.");
  simulation
      .def("__init__", &open, nb::arg("robot"), nb::arg("robots") = 1, nb::kw_only(), nb::arg("device") = "cpu",
           nb::arg("integrator") = nb::none(), nb::arg("time_step") = nb::none(), nb::arg("keep_tangent") = 0.0,
           nb::arg("inverse") = false, nb::arg("regularisation") = "proximal", nb::arg("epsilon") = 1e-6,
           nb::arg("goal_speed") = nb::none(), nb::arg("effort") = std::vector<double>(), nb::arg("starts") = 0,
           nb::arg("seed") = default_sensor_seed,
           "At rest under zero commands.\n\n"
           "robots: size of the batch. device: \"cpu\" or \"cuda:0\". integrator: \"implicit-euler\",\n"
           "\"implicit-euler-newton\" or \"quasi-static\", else the robot's. time_step [s]: else the robot's.\n"
           "keep_tangent: see `supple run --help`. Of inverse control: regularisation (\"proximal\", \"energy\" or\n"
           "\"none\") with its factor epsilon, goal_speed [m/s], effort of each actuator, starts.\n"
           "seed: of the noise of sensors.\n"
           "Raises InputError for what the robot does not support.")
      .def_prop_ro("robots", &BatchSimulation::robots, "Size of the batch.")
      .def_prop_ro("inverse", &BatchSimulation::inverse)
      .def_prop_ro("time_step", &BatchSimulation::time_step, "s")
      .def_prop_ro("integrator", [](const BatchSimulation& self) { return integrator_name(self.integrator()); })
      .def_prop_ro("device", [](const BatchSimulation& self) { return to_string(self.device()); })
      .def_prop_ro("actuator_names", [](const BatchSimulation& self) { return names_in(self.robot().actuators); })
      .def_prop_ro("motion_names", [](const BatchSimulation& self) { return names_in(self.robot().motions); })
      .def_prop_ro("effector_names", [](const BatchSimulation& self) { return names_in(self.robot().effectors); })
      .def_prop_ro(
          "effector_kinds",
          [](const BatchSimulation& self) {
            constexpr const char* kinds[] = {"position", "orientation", "length", "volume"};
            std::vector<std::string> names;
            for (const Effector& effector : self.robot().effectors)
              names.emplace_back(kinds[static_cast<std::size_t>(effector.kind)]);
            return names;
          },
          "\"position\", \"orientation\", \"length\" or \"volume\" of each effector.")
      .def_prop_ro(
          "sensor_names",
          [](const BatchSimulation& self) {
            std::vector<std::string> names;
            for (const SensorNumber& number : self.sensor_numbers()) names.push_back(number.name);
            return names;
          },
          "Name of each number of `sensors`, such as \"imu acceleration x\".")
      .def_prop_ro(
          "sensor_units",
          [](const BatchSimulation& self) {
            std::vector<std::string> units;
            for (const SensorNumber& number : self.sensor_numbers()) units.emplace_back(si_unit(number.dimension));
            return units;
          },
          "Unit of each number of `sensors`; \"\" of a strain.")
      .def_prop_ro("obstacle_names", [](const BatchSimulation& self) { return names_in(self.robot().obstacles); })
      .def(
          "obstacle_surfaces",
          [](BatchSimulation& self) {
            nb::typed<nb::list, nb::typed<nb::tuple, Array<double>, Array<int>>> surfaces;
            for (const Surface& surface : obstacle_surfaces(self.robot(), self.skin().nodes)) {
              std::vector<double> nodes;
              for (const Vec3d& x : surface.nodes) nodes.insert(nodes.end(), x.v, x.v + 3);
              surfaces.append(
                  nb::make_tuple(array(std::move(nodes), {surface.nodes.size(), 3}), corners(surface.triangles)));
            }
            return surfaces;
          },
          "For pictures: nodes [nodes, 3, m] and triangles [triangles, 3] of each obstacle; of a plane a square.")
      .def_prop_ro(
          "probe_points",
          [](const BatchSimulation& self) {
            nb::typed<nb::dict, nb::str, int> points;
            for (const NamedPoint& probe : self.robot().probes) points[probe.name.c_str()] = probe.point;
            return points;
          },
          "Index of each probe among `points`.")
      .def_prop_ro(
          "ranges",
          [](const BatchSimulation& self) {
            std::vector<double> ranges;
            for (const ActuatorRow& actuator : self.robot().actuators)
              ranges.insert(ranges.end(), {actuator.range.lower, actuator.range.upper});
            return array(std::move(ranges), {self.robot().actuators.size(), 2});
          },
          nb::rv_policy::automatic, "Least and largest command of each actuator [actuators, 2].")
      .def_prop_ro(
          "gravity",
          [](const BatchSimulation& self) {
            const Vec3d& g = self.robot().gravity;
            return array(std::vector<double>{g[0], g[1], g[2]}, {3});
          },
          nb::rv_policy::automatic, "Of the model [3, m/s^2].")
      .def_prop_ro(
          "friction",
          [](const BatchSimulation& self) {
            std::vector<double> friction;
            for (const PlacedObstacle& placed : self.robot().obstacles) friction.push_back(placed.friction);
            const std::size_t size = friction.size();
            return array(std::move(friction), {size});
          },
          nb::rv_policy::automatic, "Coulomb's coefficient of each obstacle in the model [obstacles].")
      .def_prop_ro(
          "rayleigh_mass", [](const BatchSimulation& self) { return self.robot().rayleigh_mass; },
          "Damping by mass of the model [1/s].")
      .def_prop_ro(
          "rayleigh_stiffness", [](const BatchSimulation& self) { return self.robot().rayleigh_stiffness; },
          "Damping by stiffness of the model [s].")
      .def_prop_ro(
          "regions",
          [](const BatchSimulation& self) { return self.reduced() != nullptr ? self.reduced()->regions() : 0; },
          "Number of material regions of a reduced model, as set_variations() has them.")
      .def_prop_ro(
          "motion_ranges",
          [](const BatchSimulation& self) {
            std::vector<double> ranges;
            for (const MotionInput& motion : self.robot().motions)
              ranges.insert(ranges.end(), {motion.range.lower, motion.range.upper});
            return array(std::move(ranges), {self.robot().motions.size(), 2});
          },
          nb::rv_policy::automatic, "Least and largest value of each prescribed motion [motions, 2, m].")
      .def_prop_ro(
          "command_dimensions",
          [](const BatchSimulation& self) {
            std::vector<std::string> names;
            for (const ActuatorRow& actuator : self.robot().actuators)
              names.emplace_back(word_of(command_dimension(actuator.kind, actuator.control)));
            return names;
          },
          "What each command is, for quantity(): \"length\", \"force\", \"stress\" or \"volume\".")
      .def("step", &step, nb::arg("count") = 1,
           "So many steps. A robot of a batch that fails stays as it was (failed). Raises RunError when none is left,\n"
           "InputError for commands or goals that are not finite; Ctrl-C ends it between two steps.")
      .def("settle", &BatchSimulation::settle, nb::call_guard<nb::gil_scoped_release>(),
           "Brings all robots to equilibrium under their commands. Raises RunError where one does not settle.")
      .def("reset", &reset, nb::arg("which") = nb::none(),
           "Puts robots back to rest: all, or those of a mask [robots] or list of indices. With all of them the time\n"
           "becomes 0 again.")
      .def("get_state", &get_state, "A copy of all that restarts the simulation, as a dict of arrays.")
      .def("set_state", &set_state, nb::arg("state"), "Continues from a state of get_state().")
      .def(
          "set_variations",
          [](BatchSimulation& self, nb::object gravity, nb::object material_scale, nb::object friction,
             nb::object density, nb::object rayleigh_mass, nb::object rayleigh_stiffness) {
            const std::size_t regions = self.reduced() != nullptr ? count(self.reduced()->regions()) : 0;
            const GivenVariations given{gravity, material_scale, friction, density, rayleigh_mass, rayleigh_stiffness};
            self.set_variations(given.numbers(count(self.robots()), regions, self.robot().obstacles.size()));
          },
          nb::arg("gravity") = nb::none(), nb::arg("material_scale") = nb::none(), nb::arg("friction") = nb::none(),
          nb::arg("density") = nb::none(), nb::arg("rayleigh_mass") = nb::none(),
          nb::arg("rayleigh_stiffness") = nb::none(),
          "In what the robots of a batch differ, from now on: gravity [robots, 3, m/s^2], factors on the moduli of "
          "each\n"
          "region material_scale [robots, regions], Coulomb's coefficients friction [robots, obstacles], factors on "
          "all\n"
          "masses density [robots], damping rayleigh_mass [robots, 1/s] and rayleigh_stiffness [robots, s]. None: as "
          "the\n"
          "model has it.")
      .def(
          "set_parameters", &set_parameters, nb::arg("values"),
          nb::sig("def set_parameters(self, values: typing.Mapping[str, float | numpy.typing.NDArray[numpy.float64]]) "
                  "-> None"),
          "Values of the model's parameters (Model.parameters) that the robots of a batch differ by, from now on: for\n"
          "all or for each robot [robots]; those that are not named are 1, and with {} all are. Shapes too; on a CPU,\n"
          "where each robot then has a model of its own in memory. Variations stay. Raises InputError as\n"
          "Model.with_parameters().")
      .def("__repr__", [](BatchSimulation& self) {
        return fmt::format("<supple.Simulation of {} '{}', {}{}: {} after {} steps>", self.robots(), self.robot().name,
                           kind_word(self.kind()), self.inverse() ? ", inverse" : "",
                           format_quantity(self.state().time, Dimension::time), self.steps());
      });
  bind_inputs(simulation);
  bind_results(simulation);
}

}  // namespace supple::python
