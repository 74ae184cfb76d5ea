#include "viewer/draw/robot_shape.hpp"

#include <algorithm>
#include <limits>

#include "engine/model/reduced_shape.hpp"
#include "engine/step/step.hpp"
#include "kernels/base/contract.hpp"
#include "kernels/base/extent.hpp"

namespace supple::view {

namespace {

std::span<const double> own_q(const RobotShape::Blocks& blocks, const State& state) {
  return std::span(state.q).subspan(extent(blocks.q), extent(blocks.nq));
}

std::span<const double> own_c(const RobotShape::Blocks& blocks, const State& state) {
  return std::span(state.motions).subspan(extent(blocks.c), extent(blocks.nc));
}

// Points of the body's own rows are in its axes on a frame (Assembly::Body::alone).
bool in_rows_of_the_body(const Robot& robot, int point) {
  const auto has = [point](const auto& row) {
    return point >= row.first_point && point < row.first_point + row.point_count;
  };
  return std::ranges::any_of(robot.actuators, has) || std::ranges::any_of(robot.constraints, has) ||
         std::ranges::any_of(robot.springs, has) ||
         std::ranges::any_of(robot.effectors, [&](const Effector& e) { return e.scalar() && has(e); });
}

}  // namespace

RobotShape::RobotShape(const FullModel& model) : robot_(&model.robot), velocities_(model.coordinates.nv) {
  add(BodyShape(model), "", 0, {0, model.coordinates.nq, 0, static_cast<int>(robot_->motions.size())}, 0);
  rest_ = bodies_.front().shape.rest();
  measure();
}

RobotShape::RobotShape(const ReducedModel& model)
    : robot_(&model.robot), velocities_(model.nq() - (model.on_frame ? 1 : 0)) {
  add(BodyShape(model), "", 0, {0, model.nq(), 0, static_cast<int>(robot_->motions.size())}, 0);
  rest_ = bodies_.front().shape.rest();
  measure();
}

RobotShape::RobotShape(const AssemblyRobot& robot)
    : robot_(&robot.mechanics().robot()), assembly_(&robot), velocities_(robot.mechanics().coordinates().nv) {
  const AssemblyMechanics& mechanics = robot.mechanics();
  const AssemblyScene& scene = robot.scene();
  for (int part = 0; part < static_cast<int>(scene.parts.size()); ++part) {
    const Mechanics& own = *mechanics.assembly().bodies[supple::extent(part)].mechanics;
    add(robot.full(part) ? BodyShape(*robot.full(part)) : BodyShape(*robot.reduced(part)),
        scene.parts[supple::extent(part)].name, part,
        {mechanics.first_coordinate(part), own.coordinates().nq, mechanics.first_motion(part),
         static_cast<int>(own.robot().motions.size())},
        mechanics.first_actuator(part));
  }
  for (int rigid = 0; rigid < static_cast<int>(scene.rigids.size()); ++rigid)
    if (scene.rigids[supple::extent(rigid)].has_shape())
      add(BodyShape(robot.shape(rigid)), scene.rigids[supple::extent(rigid)].name, rigid, {}, 0);
  const State rest = rest_state(mechanics);
  for (const Body& body : bodies_)
    for (const Vec3d& x : body.shape.rest()) rest_.push_back(pose(body, rest)(x));
  measure();
}

void RobotShape::add(BodyShape shape, const std::string& name, int number, const Blocks& blocks, int first_actuator) {
  int nodes = 0, corners = 0;
  if (!bodies_.empty()) {
    nodes = bodies_.back().nodes + static_cast<int>(bodies_.back().shape.rest().size());
    corners = cells_.empty() ? 0 : cells_.back().first + cells_.back().corners;
  }
  Body body{std::move(shape),
            name,
            number,
            blocks,
            nodes,
            static_cast<int>(triangles_.size()),
            static_cast<int>(cells_.size())};
  for (const std::array<int, 3>& t : body.shape.triangles())
    triangles_.push_back({t[0] + nodes, t[1] + nodes, t[2] + nodes});
  element_.insert(element_.end(), body.shape.element().begin(), body.shape.element().end());
  element_.resize(triangles_.size(), -1);
  for (Cell cell : body.shape.cells()) {
    cell.first += corners;
    cells_.push_back(cell);
  }
  for (std::size_t k = 0; k < body.shape.cavities().size(); ++k) {
    const BodyShape::Cavity& cavity = body.shape.cavities()[k];
    cavities_.push_back({supple::extent(first_actuator) + cavity.actuator, cavity.triangles, bodies_.size(), k});
  }
  bodies_.push_back(std::move(body));
}

void RobotShape::measure() {
  if (rest_.empty()) return;
  low_ = high_ = rest_.front();
  for (const Vec3d& x : rest_)
    for (int i = 0; i < 3; ++i) {
      low_[i] = std::min(low_[i], x[i]);
      high_[i] = std::max(high_[i], x[i]);
    }
  extent_ = std::max(norm(high_ - low_), 1e-9);
}

const RobotShape::Body& RobotShape::body_of_triangle(int triangle) const {
  SUPPLE_EXPECT(triangle >= 0 && triangle < static_cast<int>(triangles_.size()));
  const auto after = std::ranges::upper_bound(bodies_, triangle, {}, &Body::triangles);
  return *(after - 1);
}

// That carries a body of an assembly.
int RobotShape::frame(const Body& body) const {
  return body.shape.rigid() ? assembly_->frame_of_rigid(body.number)
                            : assembly_->mechanics().assembly().bodies[supple::extent(body.number)].frame;
}

Pose RobotShape::pose(const Body& body, const State& state) const {
  if (!assembly_) return {};
  const AssemblyMechanics& mechanics = assembly_->mechanics();
  return body.shape.rigid() ? assembly_->rigid_pose(body.number, state.q, state.motions)
                            : mechanics.body_pose(body.number, state.q, state.motions);
}

Pose RobotShape::axes(int mapped_point, const State& state) const {
  const ReducedModel* model = bodies_.front().shape.reduced();
  if (!assembly_ && model && model->on_frame)
    return in_rows_of_the_body(*robot_, mapped_point) ? body_pose(*model, state.q) : Pose{};
  const int part = assembly_ ? assembly_->mechanics().body_of_output(mapped_point) : -1;
  return part < 0 ? Pose{} : assembly_->mechanics().body_pose(part, state.q, state.motions);
}

void RobotShape::positions(const State& state, std::vector<Vec3d>& out) const {
  std::vector<Vec3d> own;
  out.clear();
  for (const Body& body : bodies_) {
    body.shape.positions(own_q(body.blocks, state), own_c(body.blocks, state), own);
    const Pose at = pose(body, state);
    for (const Vec3d& x : own) out.push_back(at(x));
  }
}

Vec3d RobotShape::point(const std::vector<Vec3d>& positions, int triangle, const std::array<double, 3>& weights) const {
  SUPPLE_EXPECT(triangle >= 0 && triangle < static_cast<int>(triangles_.size()));
  const auto& corners = triangles_[supple::extent(triangle)];
  Vec3d x{{0, 0, 0}};
  for (std::size_t k = 0; k < 3; ++k) x = x + weights[k] * positions[supple::extent(corners[k])];
  return x;
}

void RobotShape::cell_corners(const State& state, std::vector<Vec3d>& out) const {
  std::vector<Vec3d> own;
  out.clear();
  for (const Body& body : bodies_) {
    body.shape.cell_corners(own_q(body.blocks, state), own_c(body.blocks, state), own);
    const Pose at = pose(body, state);
    for (const Vec3d& x : own) out.push_back(at(x));
  }
}

void RobotShape::wall_corners(const Cavity& cavity, const State& state, std::vector<Vec3d>& out) const {
  const Body& body = bodies_[cavity.body];
  body.shape.wall_corners(body.shape.cavities()[cavity.own], own_q(body.blocks, state), own_c(body.blocks, state), out);
  const Pose at = pose(body, state);
  for (Vec3d& x : out) x = at(x);
}

std::vector<double> RobotShape::skin_stress(const State& state) const {
  std::vector<double> stress(rest_.size(), std::numeric_limits<double>::quiet_NaN());
  for (const Body& body : bodies_) {
    if (!body.shape.full()) continue;
    const std::vector<double> own = body.shape.skin_stress(own_q(body.blocks, state), own_c(body.blocks, state));
    std::ranges::copy(own, stress.begin() + body.nodes);
  }
  return stress;
}

std::vector<double> RobotShape::cell_stress(const State& state) const {
  std::vector<double> stress;
  for (const Body& body : bodies_) {
    if (body.shape.cells().empty()) continue;
    const std::vector<double> own = body.shape.cell_stress(own_q(body.blocks, state), own_c(body.blocks, state));
    stress.insert(stress.end(), own.begin(), own.end());
  }
  return stress;
}

std::vector<double> RobotShape::load(const State& state, int triangle, const std::array<double, 3>& weights,
                                     const Vec3d& force) const {
  std::vector<double> load(supple::extent(velocities_), 0.0);
  const Body& body = body_of_triangle(triangle);
  if (!body.shape.rigid()) {
    const ReducedModel* floating =
        body.shape.reduced() && body.shape.reduced()->on_frame ? body.shape.reduced() : nullptr;
    const Mat3d axes = floating ? pose_of(state.q.data() + floating->modes).rotation : pose(body, state).rotation;
    const Vec3d turned = transpose(axes) * force;
    const std::vector<double> own = body.shape.load(triangle - body.triangles, weights, turned);
    std::ranges::copy(own, load.begin() + body.blocks.q);  // bodies' velocities are where their coordinates are
  }
  std::vector<Vec3d> places;
  positions(state, places);
  if (const ReducedModel* model = body.shape.reduced(); !assembly_ && model && model->on_frame) {
    // On its frame, in the frame's axes as far as it turns.
    const Pose frame = pose_of(state.q.data() + model->modes);
    const Vec3d moment = transpose(frame.rotation) * cross(point(places, triangle, weights) - frame.position, force);
    std::copy_n(force.v, 3, load.end() - 6);
    std::copy_n(moment.v, 3, load.end() - 3);
  }
  if (!assembly_) return load;
  assembly_->mechanics().add_frame_force(frame(body), point(places, triangle, weights), force, state.q, load);
  return load;
}

}  // namespace supple::view
