// The group /robot of a model file.
#include <fmt/format.h>

#include <cmath>

#include "engine/io/model_data_parts.hpp"
#include "solvers/complementarity/box_complementarity.hpp"

namespace supple {

namespace {

// In the order of their enumerations.
constexpr std::string_view integrator_words[] = {"implicit-euler", "implicit-euler-newton", "quasi-static"};
constexpr std::string_view actuator_words[] = {"cable", "force", "cavity"};
constexpr std::string_view control_words[] = {"displacement", "force", "gas", "supply"};
constexpr std::string_view effector_words[] = {"position", "orientation", "length", "volume"};

Numbers numbers(const Vec3d& x) {
  return {x[0], x[1], x[2]};
}

void write_cavity(DataSink& file, const std::string& at, const CavityShape& cavity) {
  const VolumePolynomial& volume = cavity.volume;
  file.write(at + "/rest_volume", cavity.rest_volume);
  file.write(at + "/rest_area", cavity.rest_area);
  file.write(at + "/volume/linear", volume.linear, {volume.linear.size()});
  file.write(at + "/volume/quadratic", volume.quadratic, {volume.quadratic.size()});
  file.write(at + "/volume/cubic", volume.cubic, {volume.cubic.size()});
}

void write_actuator(DataSink& file, const std::string& at, const ActuatorRow& actuator) {
  file.write(at + "/name", actuator.name);
  file.write(at + "/kind", std::string(actuator_words[static_cast<int>(actuator.kind)]));
  file.write(at + "/points", std::vector<int>{actuator.first_point, actuator.point_count}, {2});
  if (actuator.kind == ActuatorKind::force) {
    file.write(at + "/direction", numbers(actuator.direction), {3});
  } else if (actuator.kind == ActuatorKind::cavity) {
    write_cavity(file, at, actuator);
  } else {
    if (actuator.pull_point) file.write(at + "/pull_point", numbers(*actuator.pull_point), {3});
    file.write(at + "/rest_length", actuator.rest_length);
  }
  file.write(at + "/control", std::string(control_words[static_cast<int>(actuator.control)]));
  file.write(at + "/bilateral", static_cast<std::int64_t>(actuator.bilateral));
  file.write(
      at + "/limits",
      Numbers{actuator.range.lower, actuator.range.upper, actuator.force.lower, actuator.force.upper, actuator.rate},
      {5});
  file.write(at + "/samples", static_cast<std::int64_t>(actuator.samples));
  if (actuator.has_gas())
    file.write(at + "/gas", Numbers{actuator.gas.atmosphere, actuator.gas.dead_volume, actuator.gas.resistance}, {3});
  if (actuator.friction > 0) file.write(at + "/friction", Numbers{actuator.friction, actuator.slip_length}, {2});
}

void write_effector(DataSink& file, const std::string& at, const Effector& effector) {
  file.write(at + "/name", effector.name);
  file.write(at + "/kind", std::string(effector_words[static_cast<int>(effector.kind)]));
  file.write(at + "/point", static_cast<std::int64_t>(effector.point));
  file.write(at + "/weight", effector.weight);
  file.write(at + "/exact", static_cast<std::int64_t>(effector.exact));
  if (effector.kind != EffectorKind::position)
    file.write(at + "/points", std::vector<int>{effector.first_point, effector.point_count}, {2});
  if (effector.kind == EffectorKind::orientation) file.write(at + "/lever", effector.lever);
  if (effector.kind == EffectorKind::volume) return write_cavity(file, at, effector);
  if (effector.kind != EffectorKind::length) {
    file.write(at + "/directions", flat_points(effector.directions), {effector.directions.size(), 3});
    return;
  }
  if (effector.pull_point) file.write(at + "/pull_point", numbers(*effector.pull_point), {3});
  file.write(at + "/rest_length", effector.rest_length);
}

// The entries of the lists; P = number of the robot's mapped points.
class Reader {
 public:
  Reader(const DataSource& file, const Checked& checked, int P) : file_(file), checked_(checked), point_count_(P) {}

  ActuatorRow actuator(const std::string& at) const {
    ActuatorRow actuator;
    actuator.name = file_.read_text(at + "/name");
    actuator.kind = static_cast<ActuatorKind>(checked_.word(at + "/kind", actuator_words));
    points(at, actuator.first_point, actuator.point_count);
    if (actuator.kind == ActuatorKind::force) {
      actuator.direction = units(at + "/direction", {3}).front();
      checked_.require(actuator.point_count == 1, at + "/points", "are not one point, where a force acts");
    } else if (actuator.kind == ActuatorKind::cavity) {
      cavity(at, actuator.point_count, actuator);
    } else {
      path(at, actuator.point_count, actuator.pull_point, actuator.rest_length);
    }
    actuator.control = static_cast<ActuatorControl>(checked_.word(at + "/control", control_words));
    actuator.bilateral = checked_.count(at + "/bilateral", 0, 1) == 1;
    const auto limits = file_.read_doubles(at + "/limits", {5});
    for (double limit : limits) checked_.require(!std::isnan(limit), at + "/limits", "holds a number that is none");
    actuator.range = {limits[0], limits[1]};
    actuator.force = {limits[2], limits[3]};
    actuator.rate = limits[4];
    checked_.require(actuator.range.lower <= actuator.range.upper && actuator.force.lower <= actuator.force.upper,
                     at + "/limits", "are reversed");
    checked_.require(actuator.rate > 0 && (actuator.bilateral || actuator.force.upper >= 0), at + "/limits",
                     "leave nothing to do");
    actuator.samples = checked_.count(at + "/samples", 2, 1000000);
    if (actuator.has_gas()) {
      const auto gas = file_.read_doubles(at + "/gas", {3});
      actuator.gas = {gas[0], gas[1], gas[2]};
      const bool supplied = actuator.control == ActuatorControl::supply;
      checked_.require(actuator.kind == ActuatorKind::cavity && gas[0] > 0 && gas[1] >= 0 && std::isfinite(gas[0]) &&
                           std::isfinite(gas[1]) && (supplied ? gas[2] > 0 && std::isfinite(gas[2]) : gas[2] == 0),
                       at + "/gas", "is no gas in a cavity");
    }
    if (file_.has(at + "/friction")) {
      const auto friction = file_.read_doubles(at + "/friction", {2});
      actuator.friction = friction[0];
      actuator.slip_length = friction[1];
      checked_.require(actuator.kind == ActuatorKind::cable && friction[0] > 0 && friction[1] > 0 &&
                           std::isfinite(friction[0]) && std::isfinite(friction[1]),
                       at + "/friction", "is none of a cable");
    }
    return actuator;
  }

  Effector effector(const std::string& at) const {
    Effector effector;
    effector.name = file_.read_text(at + "/name");
    effector.kind = static_cast<EffectorKind>(checked_.word(at + "/kind", effector_words));
    effector.point = checked_.count(at + "/point", 0, point_count_ - 1);
    effector.weight = checked_.number(at + "/weight");
    checked_.require(effector.weight > 0, at + "/weight", "is not positive");
    effector.exact = checked_.count(at + "/exact", 0, 1) == 1;
    if (effector.kind != EffectorKind::position) points(at, effector.first_point, effector.point_count);
    if (effector.kind == EffectorKind::length) {
      path(at, effector.point_count, effector.pull_point, effector.rest_length);
      return effector;
    }
    if (effector.kind == EffectorKind::volume) {
      cavity(at, effector.point_count, effector);
      return effector;
    }
    const auto shape = file_.shape(at + "/directions");
    checked_.require(shape.size() == 2 && shape[0] >= 1 && shape[0] <= 3 && shape[1] == 3, at + "/directions",
                     "has a wrong shape");
    effector.directions = units(at + "/directions", shape);
    if (effector.kind == EffectorKind::orientation) {
      effector.lever = checked_.number(at + "/lever");
      checked_.require(effector.lever > 0, at + "/lever", "is not positive");
      checked_.require(effector.point_count == 3, at + "/points", "are not the three columns of a region");
    }
    return effector;
  }

  RodLine rod(const std::string& at) const {
    RodLine rod;
    points(at, rod.first_point, rod.point_count);
    rod.radius = checked_.number(at + "/radius");
    checked_.require(rod.radius > 0, at + "/radius", "is not positive");
    return rod;
  }

  std::vector<NamedPoint> named_points(const std::string& at) const {
    std::vector<NamedPoint> list;
    const int count = checked_.count(at + "/count", 0, 100000);
    for (int i = 0; i < count; ++i) {
      const std::string entry = at + "/" + entry_name(static_cast<std::size_t>(i));
      list.push_back({file_.read_text(entry + "/name"), file_.read_text(entry + "/set"),
                      checked_.count(entry + "/point", 0, point_count_ - 1)});
    }
    return list;
  }

 private:
  void points(const std::string& at, int& first, int& count) const {
    const auto pair = file_.read_ints(at + "/points", {2});
    first = pair[0];
    count = pair[1];
    checked_.require(first >= 0 && count >= 1 && count <= point_count_ && first <= point_count_ - count, at + "/points",
                     "names points that are not there");
  }
  void cavity(const std::string& at, int point_count, CavityShape& cavity) const {
    for (const auto& [name, value] :
         {std::pair{"/rest_volume", &cavity.rest_volume}, {"/rest_area", &cavity.rest_area}}) {
      *value = checked_.number(at + name);
      checked_.require(*value > 0, at + name, "is not positive");
    }
    VolumePolynomial& volume = cavity.volume;
    const auto shape = file_.shape(at + "/volume/linear");
    checked_.require(shape.size() == 1 && shape[0] >= 1 && shape[0] <= static_cast<std::size_t>(3 * point_count),
                     at + "/volume/linear", "has a wrong shape");
    const std::size_t n = shape[0];
    volume.unknowns = static_cast<int>(n);
    volume.linear = checked_.doubles(at + "/volume/linear", {n});
    volume.quadratic = checked_.doubles(at + "/volume/quadratic", {n * (n + 1) / 2});
    volume.cubic = checked_.doubles(at + "/volume/cubic", {cubic_size(volume.unknowns)});
  }
  void path(const std::string& at, int count, std::optional<Vec3d>& end, double& rest_length) const {
    if (file_.has(at + "/pull_point")) end = points_of(checked_.doubles(at + "/pull_point", {3})).front();
    checked_.require(end || count >= 2, at + "/points", "make a path of one point");
    rest_length = checked_.number(at + "/rest_length");
  }
  std::vector<Vec3d> units(const std::string& object, const std::vector<std::size_t>& shape) const {
    std::vector<Vec3d> vectors = points_of(checked_.doubles(object, shape));
    for (const Vec3d& e : vectors)
      checked_.require(std::abs(norm(e) - 1) < 1e-9, object, "holds a direction that is not of length 1");
    return vectors;
  }

  const DataSource& file_;
  const Checked& checked_;
  int point_count_;
};

}  // namespace

void write_robot(DataSink& file, const Robot& robot) {
  file.write("/robot/name", robot.name);
  file.write("/robot/gravity", numbers(robot.gravity), {3});
  file.write("/robot/time_step", robot.time_step);
  file.write("/robot/integrator", std::string(integrator_words[static_cast<int>(robot.integrator)]));
  file.write("/robot/rayleigh", Numbers{robot.rayleigh_mass, robot.rayleigh_stiffness}, {2});
  if (robot.floating) file.write("/robot/floating", std::int64_t{1});
  file.write("/robot/rest_points", flat_points(robot.rest_points), {robot.rest_points.size(), 3});
  file.write("/robot/actuators/count", static_cast<std::int64_t>(robot.actuators.size()));
  for (std::size_t i = 0; i < robot.actuators.size(); ++i)
    write_actuator(file, "/robot/actuators/" + entry_name(i), robot.actuators[i]);
  file.write("/robot/effectors/count", static_cast<std::int64_t>(robot.effectors.size()));
  for (std::size_t i = 0; i < robot.effectors.size(); ++i)
    write_effector(file, "/robot/effectors/" + entry_name(i), robot.effectors[i]);
  file.write("/robot/probes/count", static_cast<std::int64_t>(robot.probes.size()));
  for (std::size_t i = 0; i < robot.probes.size(); ++i) {
    const std::string at = "/robot/probes/" + entry_name(i);
    file.write(at + "/name", robot.probes[i].name);
    file.write(at + "/set", robot.probes[i].set);
    file.write(at + "/point", static_cast<std::int64_t>(robot.probes[i].point));
  }
  if (robot.rods.empty()) return;
  file.write("/robot/rods/count", static_cast<std::int64_t>(robot.rods.size()));
  for (std::size_t i = 0; i < robot.rods.size(); ++i) {
    const std::string at = "/robot/rods/" + entry_name(i);
    file.write(at + "/points", std::vector<int>{robot.rods[i].first_point, robot.rods[i].point_count}, {2});
    file.write(at + "/radius", robot.rods[i].radius);
  }
}

Robot read_robot(const DataSource& file, const Checked& checked) {
  Robot robot;
  robot.name = file.read_text("/robot/name");
  robot.gravity = points_of(checked.doubles("/robot/gravity", {3})).front();
  robot.time_step = file.read_double("/robot/time_step");
  checked.require(robot.time_step > 0 && std::isfinite(robot.time_step), "/robot/time_step", "is not positive");
  robot.integrator = static_cast<Integrator>(checked.word("/robot/integrator", integrator_words));
  const auto rayleigh = checked.doubles("/robot/rayleigh", {2});
  robot.rayleigh_mass = rayleigh[0];
  robot.rayleigh_stiffness = rayleigh[1];
  robot.floating = file.has("/robot/floating") && checked.count("/robot/floating", 0, 1) == 1;
  const auto shape = file.shape("/robot/rest_points");
  checked.require(shape.size() == 2 && shape[1] == 3 && shape[0] < 1000000, "/robot/rest_points", "has a wrong shape");
  robot.rest_points = points_of(checked.doubles("/robot/rest_points", shape));
  const Reader reader(file, checked, static_cast<int>(robot.rest_points.size()));
  const int actuators = checked.count("/robot/actuators/count", 0, max_box_complementarity);
  for (int i = 0; i < actuators; ++i)
    robot.actuators.push_back(reader.actuator("/robot/actuators/" + entry_name(static_cast<std::size_t>(i))));
  const int effectors = checked.count("/robot/effectors/count", 0, 100000);
  for (int i = 0; i < effectors; ++i)
    robot.effectors.push_back(reader.effector("/robot/effectors/" + entry_name(static_cast<std::size_t>(i))));
  robot.probes = reader.named_points("/robot/probes");
  const int rods = file.has("/robot/rods/count") ? checked.count("/robot/rods/count", 0, 100000) : 0;
  for (int i = 0; i < rods; ++i)
    robot.rods.push_back(reader.rod("/robot/rods/" + entry_name(static_cast<std::size_t>(i))));
  return robot;
}

}  // namespace supple
