// What an assembly is made of: blocks, mapped points and rows of all its bodies, inertia of its frames.

#include "engine/mechanics/assembly/assembly.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "kernels/base/contract.hpp"
#include "kernels/base/error.hpp"
#include "kernels/base/extent.hpp"
#include "solvers/complementarity/box_complementarity.hpp"

namespace supple {

namespace {

std::string joined(const std::string& body, const std::string& name) {
  return body.empty() ? name : body + "/" + name;
}

}  // namespace

AssemblyMechanics::AssemblyMechanics(Assembly assembly) : assembly_(std::move(assembly)) {
  lay_out();
  check();
  gather_inertia();
  for (const int f : free_frames_) {
    FramePart& part = frames_[extent(f)];
    const Assembly::Frame& frame = assembly_.frames[extent(f)];
    part.q = coordinates_.nq;
    coordinates_.add_rigid(frame.name, {frame.pose(part.origin), frame.pose.rotation});
  }
  std::vector<double> q(extent(coordinates_.nq), 0.0);
  coordinates_.rest(q.data());
  merge_robots();
  y_.assign(extent(robot_.outputs()), 0.0);
  std::vector<double> c(robot_.motions.size(), 0.0);
  evaluate_outputs(q, c, y_);
  place(q, c, now_);
  for (std::size_t p = 0; p < robot_.rest_points.size(); ++p)
    if (!points_[p].own) robot_.rest_points[p] = {{y_[3 * p], y_[3 * p + 1], y_[3 * p + 2]}};
  rows_ = row_layout(robot_);
  springs_ = spring_layout(robot_);
}

void AssemblyMechanics::check() const {
  if (assembly_.integrator == Integrator::quasi_static &&
      (!assembly_.obstacles.empty() || !assembly_.surfaces.empty()) &&
      std::ranges::any_of(assembly_.frames,
                          [](const Assembly::Frame& frame) { return frame.hold == Assembly::Hold::free; }))
    throw InputError("equilibria of rigid bodies that move freely are not computed in contact with obstacles yet",
                     "let them come to rest in time: another integrator, damping, and no --settle");
  const Robot* first = assembly_.bodies.empty() ? nullptr : &assembly_.bodies[0].mechanics->robot();
  for (const Assembly::Body& body : assembly_.bodies) {
    SUPPLE_EXPECT(body.mechanics->robots() == 1);
    const Robot& robot = body.mechanics->robot();
    const std::string& frame = assembly_.frames[extent(body.frame)].name;
    const bool turns = frames_[extent(body.frame)].turns;
    SUPPLE_EXPECT(!body.alone || (assembly_.bodies.size() == 1 && body.name.empty()));
    if (robot.pairs() > 0)
      throw InputError(
          fmt::format("'{}' has obstacles of its own (among several bodies they are those of the whole)", body.name),
          "[[obstacle]] in the scene of the whole, and none in that of the part");
    if (robot.floating && assembly_.frames[extent(body.frame)].hold != Assembly::Hold::fixed)
      throw InputError(fmt::format("nothing holds '{}' in its frame (the frame's place would not be known)", body.name),
                       "[[fix]] in its scene");
    if (turns && !robot.motions.empty())
      throw InputError(fmt::format("'{}' has regions with a prescribed motion and is carried by '{}', which turns",
                                   body.name, frame),
                       "a frame that is held or driven without rotation, or the body without motions");
    if (turns && !body.inertia.turns())
      throw InputError(
          fmt::format("the model of '{}' has not the inertia of a body that turns, and '{}', which carries it, does "
                      "(it is imported, or its file older than this)",
                      body.name, frame),
          "the model made again by `supple reduce`, the scene of the part instead, or a frame that does not turn");
    if (robot.rayleigh_mass != first->rayleigh_mass || robot.rayleigh_stiffness != first->rayleigh_stiffness)
      throw InputError(fmt::format("'{}' and '{}' have different damping", assembly_.bodies[0].name, body.name),
                       "the same rayleigh_mass and rayleigh_stiffness in all parts");
    if (robot.implicit_velocity != assembly_.implicit_velocity ||
        robot.implicit_position != assembly_.implicit_position)
      throw InputError(fmt::format("'{}' asks for other implicit factors than the whole has", body.name),
                       fmt::format("implicit_velocity = {} and implicit_position = {} in its scene",
                                   assembly_.implicit_velocity, assembly_.implicit_position));
  }
  for (const Assembly::Mass& mass : assembly_.masses)
    if (mass.point.body >= 0) {
      const Assembly::Body& body = assembly_.bodies[extent(mass.point.body)];
      if (frames_[extent(body.frame)].turns || !body.mechanics->robot().motions.empty())
        throw InputError(
            fmt::format("a mass sits on '{}', whose frame turns or which has regions with a prescribed motion",
                        body.name),
            "a mass on a rigid body, or on a part whose frame does not turn");
    }
}

// Bodies first: their velocities are their coordinates, so both have the same offsets.
void AssemblyMechanics::lay_out() {
  if (assembly_.bodies.empty() && assembly_.frames.empty())
    throw InputError("the assembly has no body", "[[part]] or [[rigid]]");
  int outputs = 0;
  for (const Assembly::Body& body : assembly_.bodies) {
    SUPPLE_EXPECT(body.mechanics != nullptr && body.frame >= 0 && extent(body.frame) < assembly_.frames.size());
    const Robot& robot = body.mechanics->robot();
    Part part;
    part.nv = body.mechanics->coordinates().nv;
    part.v = coordinates_.nv;
    part.outputs = static_cast<int>(robot.rest_points.size());
    part.point = outputs;
    part.motions = static_cast<int>(robot.motions.size());
    part.motion = static_cast<int>(robot_.motions.size());
    for (const CoordinateBlock& block : body.mechanics->coordinates().blocks)
      coordinates_.add(block.kind, joined(body.name, block.body), block.nv);
    SUPPLE_EXPECT(coordinates_.nv == part.v + part.nv);
    for (MotionInput motion : robot.motions) {
      motion.name = joined(body.name, motion.name);
      motion.rigid = false;
      robot_.motions.push_back(motion);
    }
    outputs += part.outputs;
    if (part.motions > 0) {
      std::vector<int> points(extent(part.outputs));
      std::iota(points.begin(), points.end(), 0);
      part.input_rates.resize(extent(part.motions, 3 * part.outputs));
      body.mechanics->input_rates(points, part.input_rates);
    }
    parts_.push_back(part);
  }
  int v = coordinates_.nv;
  for (std::size_t f = 0; f < assembly_.frames.size(); ++f) {
    const Assembly::Frame& frame = assembly_.frames[f];
    FramePart part;
    if (frame.carrier >= 0) {
      const auto carrier = extent(frame.carrier);
      SUPPLE_EXPECT(carrier < f && frame.hold != Assembly::Hold::free && frames_[carrier].v < 0);
      part.motions = frames_[carrier].motions;
    }
    if (frame.hold == Assembly::Hold::driven)
      for (MotionInput motion : frame.motions) {
        motion.name = joined(frame.name, motion.name);
        motion.rigid = false;  // of the whole, unless nothing else is there
        part.motions.push_back(static_cast<int>(robot_.motions.size()));
        robot_.motions.push_back(motion);
      }
    part.turns = frame.hold == Assembly::Hold::free ||
                 std::ranges::any_of(part.motions, [this](int m) { return motion(m).rotation; });
    turns_ = turns_ || part.turns;
    if (frame.hold == Assembly::Hold::free) {
      part.v = v;
      v += rigid_velocities;
      free_frames_.push_back(static_cast<int>(f));
    }
    frames_.push_back(part);
  }
}

// The coordinates of a free frame place the centre of mass of it and of all that it carries, so that its translation
// and its turn are coupled by deformation alone.
void AssemblyMechanics::gather_inertia() {
  for (std::size_t f = 0; f < frames_.size(); ++f)
    if (frames_[f].v >= 0) frames_[f].total = assembly_.frames[f].inertia;
  for (const Assembly::Body& body : assembly_.bodies)
    if (free(body.frame)) {
      FramePart& frame = frames_[extent(body.frame)];
      frame.total = frame.total + seen_from(body.place, body.inertia.rest);
    }
  for (const Assembly::Mass& mass : assembly_.masses)
    if (mass.point.frame >= 0 && free(mass.point.frame)) {
      FramePart& frame = frames_[extent(mass.point.frame)];
      frame.total = frame.total + RigidInertia{mass.mass, mass.point.position, Mat3d::zero()};
    }
  for (const int f : free_frames_) {
    FramePart& frame = frames_[extent(f)];
    if (!(frame.total.mass > 0))
      throw InputError(fmt::format("'{}' moves freely and has no mass", assembly_.frames[extent(f)].name),
                       "mass = ...");
    frame.origin = frame.total.centre;
  }
  for (std::size_t b = 0; b < parts_.size(); ++b) {
    const Assembly::Body& body = assembly_.bodies[b];
    const FramePart& frame = frames_[extent(body.frame)];
    parts_[b].turns = frame.turns;
    parts_[b].inertia = CarriedInertia(
        frame.turns ? body.inertia
                    : BodyInertia{.rest = {}, .translation = body.inertia.translation, .first = {}, .second = {}},
        {body.place.position - frame.origin, body.place.rotation});
  }
}

int AssemblyMechanics::add_point(const Assembly::Point& point) {
  SUPPLE_EXPECT((point.frame >= 0) != (point.body >= 0));
  points_.push_back({point, false});
  robot_.rest_points.push_back({{0, 0, 0}});
  return static_cast<int>(points_.size()) - 1;
}

// The mapped points of a body as it has them, or if it is alone in the world but for those of its own rows.
void AssemblyMechanics::keep_points_of(int body) {
  const Assembly::Body& description = assembly_.bodies[extent(body)];
  const Robot& robot = description.mechanics->robot();
  const std::size_t first = points_.size();
  for (int k = 0; k < static_cast<int>(robot.rest_points.size()); ++k) {
    (void)add_point({.frame = -1, .body = body, .output = k, .position = {}, .vector = false});
    points_.back().own = !description.alone;
    robot_.rest_points.back() = robot.rest_points[extent(k)];
  }
  if (!description.alone) return;
  const auto keep = [&](int point, int count) {
    for (int k = 0; k < count; ++k) points_[first + extent(point + k)].own = true;
  };
  for (const ActuatorRow& row : robot.actuators) keep(row.first_point, row.point_count);
  for (const auto* rows : {&robot.constraints, &robot.springs})
    for (const ConstraintRow& row : *rows) keep(row.first_point, row.point_count);
  for (const Effector& effector : robot.effectors) {
    if (effector.scalar()) keep(effector.first_point, effector.point_count);
    if (effector.kind == EffectorKind::orientation)
      for (int k = 0; k < effector.point_count; ++k) points_[first + extent(effector.first_point + k)].at.vector = true;
  }
  for (const Sensor& sensor : robot.sensors)
    for (int k = 0; k < sensor.point_count; ++k)
      points_[first + extent(sensor.first_point + k)].at.vector = sensor.is_vector(k);
}

void AssemblyMechanics::set_gravity(const Vec3d& gravity) {
  robot_.gravity = gravity;
  ++changes_;
}

double AssemblyMechanics::friction(int, int obstacle) const {
  return friction_.empty() ? robot_.obstacles[extent(obstacle)].friction : friction_[extent(obstacle)];
}

// One robot of all: every body's rows over its own mapped points, then the links over points in the world.
void AssemblyMechanics::merge_robots() {
  robot_.name = assembly_.name;
  robot_.gravity = assembly_.gravity;
  robot_.time_step = assembly_.time_step;
  robot_.integrator = assembly_.integrator;
  robot_.implicit_velocity = assembly_.implicit_velocity;
  robot_.implicit_position = assembly_.implicit_position;
  if (!assembly_.bodies.empty()) {
    robot_.rayleigh_mass = assembly_.bodies[0].mechanics->robot().rayleigh_mass;
    robot_.rayleigh_stiffness = assembly_.bodies[0].mechanics->robot().rayleigh_stiffness;
  }
  for (const Assembly::Body& body : assembly_.bodies) robot_.viscous += body.mechanics->robot().viscous;
  for (int b = 0; b < static_cast<int>(parts_.size()); ++b) keep_points_of(b);
  for (std::size_t b = 0; b < parts_.size(); ++b) {
    parts_[b].actuator = static_cast<int>(robot_.actuators.size());
    for (ActuatorRow row : assembly_.bodies[b].mechanics->robot().actuators) {
      row.name = joined(assembly_.bodies[b].name, row.name);
      row.first_point += parts_[b].point;
      parts_[b].rows.push_back(static_cast<int>(robot_.actuators.size()));
      robot_.actuators.push_back(std::move(row));
    }
  }
  const auto add_points = [this](const std::vector<Assembly::Point>& points, int* first, int* count) {
    *first = static_cast<int>(robot_.rest_points.size());
    *count = static_cast<int>(points.size());
    for (const Assembly::Point& point : points) (void)add_point(point);
  };
  first_motor_ = static_cast<int>(robot_.actuators.size());
  for (const Assembly::Motor& motor : assembly_.motors) {
    ActuatorRow row = motor.row;
    SUPPLE_EXPECT(row.is_motor() && row.bilateral && row.joint.side == 1);
    add_points(motor.points, &row.first_point, &row.point_count);
    row.joint.first_point = row.first_point;
    row.joint.point_count = row.point_count;
    robot_.actuators.push_back(std::move(row));
  }
  const auto actuators = static_cast<int>(robot_.actuators.size());
  for (std::size_t b = 0; b < parts_.size(); ++b) {
    const Robot& own = assembly_.bodies[b].mechanics->robot();
    Part& part = parts_[b];
    const auto moved = [&](ConstraintRow row) {
      row.name = joined(assembly_.bodies[b].name, row.name);
      row.first_point += part.point;
      return row;
    };
    for (const ConstraintRow& row : own.constraints) {
      part.rows.push_back(actuators + static_cast<int>(robot_.constraints.size()));
      robot_.constraints.push_back(moved(row));
    }
    part.spring = static_cast<int>(robot_.springs.size());
    part.springs = static_cast<int>(own.springs.size());
    for (const ConstraintRow& row : own.springs) robot_.springs.push_back(moved(row));
    for (RodLine rod : own.rods) {
      rod.first_point += part.point;
      robot_.rods.push_back(rod);
    }
  }
  first_link_row_ = static_cast<int>(robot_.constraints.size());
  first_link_spring_ = static_cast<int>(robot_.springs.size());
  for (const Assembly::Link& link : assembly_.links) {
    ConstraintRow row = link.row;
    add_points(link.points, &row.first_point, &row.point_count);
    SUPPLE_EXPECT(row.point_count > 0 && (!link.as_force || (row.compliance > 0 && !row.one_sided)));
    (link.as_force ? robot_.springs : robot_.constraints).push_back(std::move(row));
  }
  first_mass_ = static_cast<int>(robot_.rest_points.size());
  for (const Assembly::Mass& mass : assembly_.masses) (void)add_point(mass.point);
  for (std::size_t b = 0; b < parts_.size(); ++b) {
    const Robot& own = assembly_.bodies[b].mechanics->robot();
    if (assembly_.bodies[b].alone) {
      robot_.effectors = own.effectors;
      robot_.probes = own.probes;
      robot_.sensors = own.sensors;
      continue;
    }
    const auto point = [&](int output, bool vector = false) {
      return add_point({.frame = -1, .body = static_cast<int>(b), .output = output, .position = {}, .vector = vector});
    };
    for (Effector effector : own.effectors) {
      if (!assembly_.effectors.empty()) {
        robot_.probes.push_back({joined(assembly_.bodies[b].name, effector.name), "", point(effector.point)});
        continue;
      }
      effector.name = joined(assembly_.bodies[b].name, effector.name);
      effector.point = point(effector.point);
      if (effector.kind == EffectorKind::orientation) {
        const int first = effector.first_point;
        effector.first_point = static_cast<int>(robot_.rest_points.size());
        for (int k = 0; k < effector.point_count; ++k) (void)point(first + k, true);
      } else {
        effector.first_point += parts_[b].point;
      }
      robot_.effectors.push_back(std::move(effector));
    }
    for (NamedPoint probe : own.probes) {
      probe.name = joined(assembly_.bodies[b].name, probe.name);
      if (!probe.set.empty()) probe.set = joined(assembly_.bodies[b].name, probe.set);
      probe.point = point(probe.point);
      robot_.probes.push_back(std::move(probe));
    }
  }
  for (std::size_t b = 0; b < parts_.size(); ++b)
    if (!assembly_.bodies[b].alone) merge_sensors(static_cast<int>(b));
  for (const Assembly::Led& led : assembly_.effectors) {
    Effector effector = led.effector;
    effector.point = add_point(led.point);
    add_points(led.vectors, &effector.first_point, &effector.point_count);
    robot_.effectors.push_back(std::move(effector));
  }
  for (const Assembly::Probe& probe : assembly_.probes) {
    robot_.probes.push_back({probe.name, probe.set, add_point(probe.point)});
  }
  robot_.obstacles = assembly_.obstacles;
  robot_.contact_distance = assembly_.contact_distance;
  if (assembly_.bodies.size() == 1 && assembly_.bodies[0].alone) {
    const Robot& own = assembly_.bodies[0].mechanics->robot();
    robot_.first_collision_point = own.first_collision_point;
    robot_.collision_points = own.collision_points;
  } else {
    robot_.first_collision_point = static_cast<int>(robot_.rest_points.size());
    robot_.collision_points = static_cast<int>(assembly_.collision_points.size());
    for (const Assembly::Point& point : assembly_.collision_points) {
      SUPPLE_EXPECT(point.body >= 0 || free(point.frame));
      (void)add_point(point);
    }
  }
  if (!assembly_.surfaces.empty()) {
    robot_.first_surface_point = static_cast<int>(robot_.rest_points.size());
    std::vector<PlacedSurface> placed;
    int first = 0;
    for (const Assembly::BodySurface& of : assembly_.surfaces) {
      SUPPLE_EXPECT(of.vertices.size() == of.surface.rest.size());
      for (const Assembly::Point& vertex : of.vertices) (void)add_point(vertex);
      placed.push_back({of.surface, first, of.touches_itself, 2 * assembly_.contact_distance});
      first += of.surface.vertices();
      robot_.surface_names.push_back(of.name);
      robot_.surface_friction.push_back(of.friction);
    }
    robot_.surfaces = std::make_shared<const SurfaceSet>(
        std::move(placed), SurfacePairs{.only_listed = false, .listed = assembly_.never_touching});
    SUPPLE_EXPECT(assembly_.contact_distance > 0);
  }
  if (robot_.rows() > max_box_complementarity)
    throw InputError(
        fmt::format("{} rows of actuators and links, at most {} are possible", robot_.rows(), max_box_complementarity),
        "fewer hard links (a joint has three rows), or springs");
}

// Lengths and strains are those of the part in its own axes, and so the same; places and rotations are in the world.
void AssemblyMechanics::merge_sensors(int body) {
  const Part& part = parts_[extent(body)];
  const Assembly::Body& description = assembly_.bodies[extent(body)];
  const Robot& own = description.mechanics->robot();
  for (Sensor sensor : own.sensors) {
    sensor.name = joined(description.name, sensor.name);
    if (sensor.actuator >= 0) sensor.actuator += part.actuator;
    const int first = sensor.first_point;
    if (sensor.kind == SensorKind::length || sensor.kind == SensorKind::strain) {
      sensor.first_point += part.point;
    } else if (sensor.point_count > 0) {
      sensor.first_point = static_cast<int>(robot_.rest_points.size());
      for (int k = 0; k < sensor.point_count; ++k)
        (void)add_point(
            {.frame = -1, .body = body, .output = first + k, .position = {}, .vector = sensor.is_vector(k)});
    }
    for (int& point : sensor.collision_points) {
      const int output = own.first_collision_point + point;
      const auto found = std::ranges::find_if(assembly_.collision_points, [&](const Assembly::Point& at) {
        return at.frame < 0 && at.body == body && at.output == output;
      });
      SUPPLE_EXPECT(found != assembly_.collision_points.end());
      point = static_cast<int>(found - assembly_.collision_points.begin());
    }
    std::ranges::sort(sensor.collision_points);
    robot_.sensors.push_back(std::move(sensor));
  }
}

}  // namespace supple
