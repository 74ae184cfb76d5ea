#pragma once
// What is seen of a robot: its bodies, each where its frame is. A robot of one body has one, whose axes are the
// world's; an assembly has its parts, then its rigid bodies that have a shape. Places for a state are computed here, so
// that what is drawn needs the state alone. Nodes, triangles, cells and cavities of all bodies are counted through.

#include <algorithm>
#include <string>

#include "engine/mechanics/assembly/assembly_robot.hpp"
#include "engine/model/state.hpp"
#include "viewer/draw/body_shape.hpp"

namespace supple::view {

class RobotShape {
 public:
  // What it shows must outlive this object.
  explicit RobotShape(const FullModel& model);
  explicit RobotShape(const ReducedModel& model);
  explicit RobotShape(const AssemblyRobot& robot);

  const Robot& robot() const { return *robot_; }
  // Of a robot of one body that is reduced; else null.
  const ReducedModel* reduced() const { return assembly_ ? nullptr : bodies_.front().shape.reduced(); }

  // Whether it is an assembly.
  bool assembled() const { return assembly_ != nullptr; }

  struct Blocks {  // coordinates and motions of a body: the first, and how many
    int q = 0, nq = 0, c = 0, nc = 0;
  };
  struct Body {
    BodyShape shape;
    std::string name;  // "": the robot is one body
    int number = 0;    // of the part, or of the rigid body, in its scene
    Blocks blocks;
    int nodes = 0, triangles = 0, cells = 0;  // its first
  };
  const std::vector<Body>& bodies() const { return bodies_; }
  const Body& body_of_triangle(int triangle) const;
  // The axes of a body, and those in which a mapped point (and what its rows fix in space) stands.
  Pose pose(const Body& body, const State& state) const;
  Pose axes(int mapped_point, const State& state) const;

  // Skins: nodes at rest [m], triangles outwards, the mesh element behind each triangle (-1: unknown).
  const std::vector<Vec3d>& rest() const { return rest_; }
  const std::vector<std::array<int, 3>>& triangles() const { return triangles_; }
  const std::vector<int>& element() const { return element_; }
  // Whether each skin closes a body (BodyShape).
  bool closed() const {
    return std::ranges::all_of(bodies_, [](const Body& body) { return body.shape.closed(); });
  }
  // Of the box around it at rest, the diagonal [m].
  double extent() const { return extent_; }
  const Vec3d& low() const { return low_; }
  const Vec3d& high() const { return high_; }

  // Skin nodes in a state [m].
  void positions(const State& state, std::vector<Vec3d>& out) const;
  // Of these the point of a triangle where its corners have these weights.
  Vec3d point(const std::vector<Vec3d>& positions, int triangle, const std::array<double, 3>& weights) const;

  using Cell = BodyShape::Cell;
  const std::vector<Cell>& cells() const { return cells_; }
  void cell_corners(const State& state, std::vector<Vec3d>& out) const;

  struct Cavity {
    std::size_t actuator = 0;  // of the robot
    Triangles triangles;
    std::size_t body = 0, own = 0;  // its number there
  };
  const std::vector<Cavity>& cavities() const { return cavities_; }
  void wall_corners(const Cavity& cavity, const State& state, std::vector<Vec3d>& out) const;

  // Von Mises stress in a state [Pa]: at skin nodes, NaN where the body is not a full model; of all cells.
  std::vector<double> skin_stress(const State& state) const;
  std::vector<double> cell_stress(const State& state) const;

  // Generalised forces [nv] of a force [N] at a point of the skin, and on the frame that carries it.
  std::vector<double> load(const State& state, int triangle, const std::array<double, 3>& weights,
                           const Vec3d& force) const;

 private:
  void add(BodyShape shape, const std::string& name, int number, const Blocks& blocks, int first_actuator);
  void measure();
  int frame(const Body& body) const;

  const Robot* robot_;
  const AssemblyRobot* assembly_ = nullptr;  // null: one body
  std::vector<Body> bodies_;
  int velocities_ = 0;
  std::vector<Vec3d> rest_;
  std::vector<std::array<int, 3>> triangles_;
  std::vector<int> element_;
  std::vector<Cell> cells_;
  std::vector<Cavity> cavities_;
  Vec3d low_{{0, 0, 0}}, high_{{0, 0, 0}};
  double extent_ = 1;
};

}  // namespace supple::view
