#include "engine/scene/scene.hpp"

#include <algorithm>
#include <array>
#include <tuple>

namespace supple {
namespace {

auto fields(const Interval& v) {
  return std::tie(v.lower, v.upper);
}
auto fields(const Transform& v) {
  return std::tie(v.rotation, v.translation, v.scale);
}
auto fields(const Region& v) {
  return std::tie(v.kind, v.lower, v.upper, v.centre, v.radius, v.group);
}
auto fields(const ReductionScene& v) {
  return std::tie(v.sampling, v.along.file, v.along.variation, v.states, v.states_tolerance, v.sweep_steps, v.friction,
                  v.budget, v.corners, v.converged, v.modes_by_error, v.error, v.trajectories, v.doublings, v.pushes,
                  v.pod_tolerance, v.pod_tolerance_squared, v.max_modes, v.contact_modes, v.ecsw_tolerance,
                  v.ecsw_acceptance, v.elements, v.elements_every, v.membranes, v.solids, v.strain_tolerance,
                  v.max_strain_modes, v.unit, v.ecsw_training, v.ecsw_selection, v.seed, v.validation_states,
                  v.goal_error_limit, v.shape_error_limit);
}

template <class T>
bool same(const T& a, const T& b) {
  return fields(a) == fields(b);
}
bool same(const MaterialScene& a, const MaterialScene& b) {
  const auto plain = [](const MaterialScene& v) {
    return std::tie(v.model, v.young, v.poisson, v.rotation, v.c01, v.c10, v.d, v.mooney_ratio, v.constants, v.prony,
                    v.retardation, v.density);
  };
  return plain(a) == plain(b) && same(a.region, b.region);
}
bool same(const MembraneScene& a, const MembraneScene& b) {
  const auto threads = [](const MembraneScene& v) {
    const ThreadScene t = v.threads.value_or(ThreadScene{});
    return std::tuple(v.threads.has_value(), t.stiffness, t.spacing, t.push, t.buckling, t.direction.has_value(),
                      t.centre.has_value(), t.angle);
  };
  const auto vectors = [](const MembraneScene& v) {
    const ThreadScene t = v.threads.value_or(ThreadScene{});
    return std::array{t.direction.value_or(Vec3d{}), t.axis, t.centre.value_or(Vec3d{})};
  };
  for (std::size_t k = 0; k < 3; ++k)
    if (!std::ranges::equal(vectors(a)[k].v, vectors(b)[k].v)) return false;
  if (threads(a) != threads(b)) return false;
  const auto plain = [](const MembraneScene& v) { return std::tie(v.thickness, v.young, v.poisson, v.density); };
  return plain(a) == plain(b) && same(a.region, b.region);
}
bool same(const RodScene& a, const RodScene& b) {
  const auto plain = [](const RodScene& v) {
    return std::tie(v.points, v.radius, v.inner_radius, v.young, v.density, v.bending, v.clamped, v.push, v.buckling,
                    v.spacing);
  };
  return plain(a) == plain(b);
}
bool same(const FixScene& a, const FixScene& b) {
  const auto plain = [](const FixScene& v) { return std::tie(v.motion, v.motion_direction, v.stiffness); };
  return plain(a) == plain(b) && same(a.region, b.region) && same(a.motion_range, b.motion_range);
}
bool same(const std::optional<Region>& a, const std::optional<Region>& b) {
  return a.has_value() == b.has_value() && (!a || same(*a, *b));
}
bool same(const std::optional<SurfaceScene>& a, const std::optional<SurfaceScene>& b) {
  return a.has_value() == b.has_value() &&
         (!a || (a->file == b->file && a->unit == b->unit && same(a->transform, b->transform)));
}
bool same(const ActuatorScene& a, const ActuatorScene& b) {
  const auto plain = [](const ActuatorScene& v) {
    return std::tie(v.name, v.kind, v.points, v.pull_point, v.direction, v.attachment_radius, v.control, v.rate,
                    v.bilateral, v.samples, v.atmosphere, v.dead_volume, v.resistance, v.friction, v.slip_length);
  };
  return plain(a) == plain(b) && same(a.region, b.region) && same(a.surface, b.surface) && same(a.range, b.range) &&
         same(a.force, b.force);
}
bool same(const ConstraintScene& a, const ConstraintScene& b) {
  const auto plain = [](const ConstraintScene& v) {
    return std::tie(v.name, v.kind, v.points, v.anchor, v.length, v.bound, v.directions, v.position,
                    v.attachment_radius, v.compliance, v.damping_time, v.form);
  };
  return plain(a) == plain(b);
}
bool same(const EffectorScene& a, const EffectorScene& b) {
  const auto plain = [](const EffectorScene& v) {
    return std::tie(v.name, v.kind, v.point, v.directions, v.lever, v.weight, v.exact, v.points, v.pull_point,
                    v.attachment_radius);
  };
  return plain(a) == plain(b) && same(a.region, b.region) && same(a.surface, b.surface);
}
bool same(const PointScene& a, const PointScene& b) {
  const auto plain = [](const PointScene& v) { return std::tie(v.name, v.point, v.set); };
  return plain(a) == plain(b) && same(a.region, b.region);
}
bool same(const SensorScene& a, const SensorScene& b) {
  const auto plain = [](const SensorScene& v) {
    return std::tie(v.name, v.kind, v.points, v.pull_point, v.attachment_radius, v.point, v.direction, v.measure,
                    v.actuator, v.noise, v.bias, v.delay);
  };
  return plain(a) == plain(b) && same(a.region, b.region);
}
bool same(const ParameterScene& a, const ParameterScene& b) {
  const auto plain = [](const ParameterScene& v) {
    return std::tie(v.name, v.kind, v.range.lower, v.range.upper, v.material, v.membrane, v.direction, v.from, v.to,
                    v.about);
  };
  return plain(a) == plain(b);
}
bool same(const ObstacleScene& a, const ObstacleScene& b) {
  const auto plain = [](const ObstacleScene& v) {
    return std::tie(v.name, v.shape, v.radius, v.length, v.thickness, v.size, v.position, v.rotation, v.inside,
                    v.friction, v.max_force);
  };
  return plain(a) == plain(b) && same(a.surface, b.surface);
}
bool same(const ContactScene& a, const ContactScene& b) {
  return a.distance == b.distance && a.spacing == b.spacing && same(a.region, b.region) && same(a.surface, b.surface);
}
template <class T>
bool same(const std::vector<T>& a, const std::vector<T>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const T& x, const T& y) { return same(x, y); });
}
bool same_body(const BodyScene& a, const BodyScene& b) {
  const auto plain = [](const BodyScene& v) {
    return std::tie(v.name, v.mesh_file, v.mesh_unit, v.mass, v.density, v.mass_kind, v.order, v.dilatation,
                    v.rayleigh_mass, v.rayleigh_stiffness);
  };
  return plain(a) == plain(b) && same(a.transform, b.transform) && same(a.materials, b.materials) &&
         same(a.membranes, b.membranes) && same(a.rods, b.rods) && same(a.fixes, b.fixes);
}

}  // namespace

bool operator==(const Scene& a, const Scene& b) {
  const auto plain = [](const Scene& v) {
    return std::tie(v.name, v.gravity, v.time_step, v.duration, v.integrator, v.implicit_velocity, v.implicit_position);
  };
  return plain(a) == plain(b) &&
         std::equal(a.bodies.begin(), a.bodies.end(), b.bodies.begin(), b.bodies.end(), same_body) &&
         same(a.actuators, b.actuators) && same(a.constraints, b.constraints) && same(a.effectors, b.effectors) &&
         same(a.probes, b.probes) && same(a.sensors, b.sensors) && same(a.parameters, b.parameters) &&
         same(a.obstacles, b.obstacles) && same(a.contact, b.contact) && same(a.reduction, b.reduction);
}

namespace {

struct ActuatorWords {
  ActuatorKind kind;
  const char *value, *multiplier;
  Dimension value_is, value_rate, multiplier_is, multiplier_rate;
};

// In the order of the enumeration.
constexpr std::array actuator_words{ActuatorWords{ActuatorKind::cable, "displacement", "force", Dimension::length,
                                                  Dimension::speed, Dimension::force, Dimension::force_rate},
                                    ActuatorWords{ActuatorKind::force, "displacement", "force", Dimension::length,
                                                  Dimension::speed, Dimension::force, Dimension::force_rate},
                                    ActuatorWords{ActuatorKind::cavity, "volume", "pressure", Dimension::volume,
                                                  Dimension::volume_rate, Dimension::stress, Dimension::stress_rate},
                                    ActuatorWords{ActuatorKind::motor, "angle", "torque", Dimension::angle,
                                                  Dimension::turn_rate, Dimension::torque, Dimension::torque_rate},
                                    ActuatorWords{ActuatorKind::linear_motor, "travel", "force", Dimension::length,
                                                  Dimension::speed, Dimension::force, Dimension::force_rate}};

const ActuatorWords& words_of(ActuatorKind kind) {
  return actuator_words[static_cast<std::size_t>(kind)];
}

}  // namespace

Dimension command_dimension(ActuatorKind kind, ActuatorControl control) {
  return commands_force(control) ? words_of(kind).multiplier_is : words_of(kind).value_is;
}

Dimension rate_dimension(ActuatorKind kind, ActuatorControl control) {
  return commands_force(control) ? words_of(kind).multiplier_rate : words_of(kind).value_rate;
}

Dimension multiplier_dimension(ActuatorKind kind) {
  return words_of(kind).multiplier_is;
}

const char* command_word(ActuatorKind kind, ActuatorControl control) {
  switch (control) {
    case ActuatorControl::displacement:
      return value_word(kind);
    case ActuatorControl::force:
      return multiplier_word(kind);
    case ActuatorControl::gas:
      return "gas";
    case ActuatorControl::supply:
      return "supply";
  }
  return "";
}

const char* value_word(ActuatorKind kind) {
  return words_of(kind).value;
}

const char* multiplier_word(ActuatorKind kind) {
  return words_of(kind).multiplier;
}

Dimension goal_dimension(EffectorKind kind) {
  return kind == EffectorKind::orientation ? Dimension::angle
         : kind == EffectorKind::volume    ? Dimension::volume
                                           : Dimension::length;
}

Dimension sensor_dimension(SensorKind kind) {
  switch (kind) {
    case SensorKind::length:
    case SensorKind::position:
      return Dimension::length;
    case SensorKind::strain:
      return Dimension::number;
    case SensorKind::pressure:
      return Dimension::stress;
    case SensorKind::volume:
      return Dimension::volume;
    case SensorKind::accelerometer:
      return Dimension::acceleration;
    case SensorKind::gyroscope:
      return Dimension::turn_rate;
    case SensorKind::tension:
    case SensorKind::force:
    case SensorKind::contact_force:
      break;
  }
  return Dimension::force;
}

void ask_for_default_error(ReductionScene& recipe) {
  recipe.error = default_error;
  recipe.error_is_default = recipe.modes_by_error = true;
  recipe.trajectories = default_trajectories;
}

void drop_default_error(ReductionScene& recipe) {
  if (!recipe.error_is_default) return;
  recipe.error.reset();
  recipe.error_is_default = recipe.modes_by_error = false;
  recipe.trajectories = 0;
}

std::vector<std::string> input_files(const Scene& scene) {
  std::vector<std::string> files;
  for (const BodyScene& body : scene.bodies) files.push_back(body.mesh_file);
  for (const ActuatorScene& actuator : scene.actuators)
    if (actuator.surface) files.push_back(actuator.surface->file);
  for (const EffectorScene& effector : scene.effectors)
    if (effector.surface) files.push_back(effector.surface->file);
  for (const ObstacleScene& obstacle : scene.obstacles)
    if (obstacle.surface) files.push_back(obstacle.surface->file);
  if (scene.contact.surface) files.push_back(scene.contact.surface->file);
  return files;
}

}  // namespace supple
