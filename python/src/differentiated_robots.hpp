#pragma once
// What classes that differentiate reduced robots tell of them: sizes of their arrays, and mapped points.

#include <nanobind/stl/string.h>

#include "python/src/bindings.hpp"

namespace supple::python {

template <class T>
void def_robots(nb::class_<T>& of) {
  const auto n = [](const T& self) { return count(self.model().modes); };
  of.def_prop_ro("robots", &T::robots, "Size of the batch.")
      .def_prop_ro("runs", &T::runs, "Another number after each run: gradient() is that of the last one.")
      .def_prop_ro("n", n, "Coordinates of a robot.")
      .def_prop_ro(
          "actuators", [](const T& self) { return self.model().robot.actuators.size(); }, "Number of actuators.")
      .def_prop_ro(
          "regions", [](const T& self) { return self.model().regions(); },
          "Number of material regions, as material_scale has them.")
      .def_prop_ro(
          "rows", [](const T& self) { return self.model().robot.rows(); }, "Rows of forces.")
      .def_prop_ro(
          "rest_points",
          [](const T& self) {
            std::vector<double> points;
            for (const Vec3d& x : self.model().robot.rest_points) points.insert(points.end(), x.v, x.v + 3);
            return array(std::move(points), {self.model().robot.rest_points.size(), 3});
          },
          nb::rv_policy::automatic, "Mapped points at rest [points, 3, m].")
      .def_prop_ro(
          "point_matrix",
          [n](const T& self) {
            return array(self.model().outputs, {self.model().robot.rest_points.size(), 3, n(self)});
          },
          nb::rv_policy::automatic, "How they move with the coordinates [points, 3, n].")
      .def_prop_ro(
          "effector_points",
          [](const T& self) {
            nb::typed<nb::dict, nb::str, int> points;
            for (const Effector& effector : self.model().robot.effectors)
              points[effector.name.c_str()] = effector.point;
            return points;
          },
          "Index among the mapped points of the point at which each effector is; of an orientation, length or volume\n"
          "where it is drawn.");
}

}  // namespace supple::python
