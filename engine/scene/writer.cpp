#include "engine/scene/writer.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <string_view>

#include "engine/scene/keys.hpp"

namespace supple {
namespace {

std::string toml(double value) {
  return value == 0 ? "0" : fmt::format("{}", value);  // shortest text that reads back the same; no -0
}
std::string toml(bool value) {
  return value ? "true" : "false";
}
std::string toml(int value) {
  return fmt::format("{}", value);
}
std::string toml(std::uint64_t value) {
  return fmt::format("{}", value);
}
std::string toml(const Vec3d& v) {
  return fmt::format("[{}, {}, {}]", toml(v[0]), toml(v[1]), toml(v[2]));
}
std::string toml(const Interval& range) {
  return fmt::format("[{}, {}]", toml(range.lower), toml(range.upper));
}
std::string toml(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
      quoted += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    else
      quoted += c;
  }
  return quoted + "\"";
}
std::string toml(const std::string& text) {
  return toml(std::string_view(text));
}
std::string toml(const std::vector<Vec3d>& points) {
  std::string list = "[";
  for (const Vec3d& point : points) list += (list.size() > 1 ? ", " : "") + toml(point);
  return list + "]";
}

class Writer {
 public:
  explicit Writer(std::string folder) : folder_(std::move(folder)) {}

  std::string take() { return std::move(text_); }

  void scene(const Scene& scene) {
    open("the scene");
    if (!scene.name.empty()) put("name", scene.name);
    put("gravity", scene.gravity);
    put("time_step", scene.time_step);
    put("duration", scene.duration);
    choice("integrator", scene.integrator);
    if (scene.implicit_velocity != 1) put("implicit_velocity", scene.implicit_velocity);
    if (scene.implicit_position != 1) put("implicit_position", scene.implicit_position);
    for (const BodyScene& b : scene.bodies) body(b);
    for (const BodyScene& b : scene.bodies)
      for (const FixScene& f : b.fixes) fix(f);
    for (const ActuatorScene& a : scene.actuators) actuator(a);
    for (const ConstraintScene& c : scene.constraints) constraint(c);
    for (const EffectorScene& e : scene.effectors) effector(e);
    for (const PointScene& p : scene.probes) {
      open("[[probe]]");
      put("name", p.name);
      put("point", p.point);
      if (p.region) text_ += region(*p.region) + "\n";
      if (!p.set.empty()) put("set", p.set);
    }
    for (const SensorScene& s : scene.sensors) sensor(s);
    for (const ParameterScene& p : scene.parameters) parameter(p);
    for (const ObstacleScene& o : scene.obstacles) obstacle(o);
    contact(scene.contact);
    reduction(scene.reduction);
  }

 private:
  void open(std::string_view title) {
    table_ = &scene_table(title);
    if (title.front() == '[') text_ += fmt::format("\n{}\n", title);
  }
  template <class T>
  void put(std::string_view key, const T& value) {
    text_ += fmt::format("{} = {}\n", key, toml(value));
  }
  void put(std::string_view key, const std::optional<double>& value) {
    if (value) put(key, *value);
  }
  template <class E>
  void choice(std::string_view name, E value) {
    put(name, choice_words(table_->title, name)[static_cast<std::size_t>(value)]);
  }

  void body(const BodyScene& b) {
    open("[body]");
    put("name", b.name);
    placed_file("mesh", {b.mesh_file, b.mesh_unit, b.transform});
    put("mass", b.mass);
    put("density", b.density);
    choice("mass_distribution", b.mass_kind);
    put("order", b.order);
    if (b.dilatation != Dilatation::mean) choice("dilatation", b.dilatation);
    put("rayleigh_mass", b.rayleigh_mass);
    put("rayleigh_stiffness", b.rayleigh_stiffness);
    for (const MaterialScene& m : b.materials) material(m);
    for (const MembraneScene& m : b.membranes) membrane(m);
    for (const RodScene& r : b.rods) rod(r);
  }

  std::string from_folder(const std::string& file) const {
    if (folder_.empty()) return file;
    const std::string relative =
        std::filesystem::path(file).lexically_relative(std::filesystem::absolute(folder_).lexically_normal()).string();
    return relative.empty() ? file : relative;
  }

  void placed_file(std::string_view key, const SurfaceScene& s) {
    text_ += fmt::format("{} = {{file = {}, unit = \"{} m\", scale = {}, rotation = {}, translation = {}}}\n", key,
                         toml(from_folder(s.file)), toml(s.unit), toml(s.transform.scale), toml(s.transform.rotation),
                         toml(s.transform.translation));
  }

  void material(const MaterialScene& m) {
    open("[[body.material]]");
    choice("model", m.model);
    if (!m.constants.empty()) {
      static constexpr std::string_view names[][7] = {
          {"c1", "c2", "c3", "d"}, {"mu", "jm", "d"}, {"mu1", "alpha1", "mu2", "alpha2", "mu3", "alpha3", "d"}};
      const auto law = static_cast<std::size_t>(m.model) - static_cast<std::size_t>(MaterialModel::yeoh);
      for (std::size_t i = 0; i < m.constants.size(); ++i) put(names[law][i], m.constants[i]);
    } else if (m.c01) {
      put("c01", m.c01);
      put("c10", m.c10);
      put("d", m.d);
    } else {
      put("young", m.young);
      put("poisson", m.poisson);
      if (m.model == MaterialModel::mooney_rivlin) put("mooney_ratio", m.mooney_ratio);
    }
    if (m.model == MaterialModel::corotational) choice("rotation", m.rotation);
    if (!m.prony.empty()) {
      text_ += "prony = [";
      for (std::size_t i = 0; i < m.prony.size(); ++i)
        text_ += fmt::format("{}{{modulus = {}, time = {}}}", i == 0 ? "" : ", ", toml(m.prony[i].modulus),
                             toml(m.prony[i].time));
      text_ += "]\n";
    }
    if (m.retardation != 0) put("retardation_time", m.retardation);
    put("density", m.density);
    if (m.region.kind != Region::Kind::all) text_ += fmt::format("region = {{{}}}\n", region(m.region));
  }

  void membrane(const MembraneScene& m) {
    open("[[body.membrane]]");
    text_ += region(m.region) + "\n";
    if (m.threads) {
      const ThreadScene& t = *m.threads;
      text_ += fmt::format(
          "threads = {{stiffness = {}, spacing = {}, {}, {}}}\n", toml(t.stiffness), toml(t.spacing),
          t.push ? "push = true" : fmt::format("buckling = {}", toml(t.buckling)),
          t.direction ? fmt::format("direction = {}", toml(*t.direction))
                      : fmt::format("axis = {}, {}angle = {}", toml(t.axis),
                                    t.centre ? fmt::format("centre = {}, ", toml(*t.centre)) : "", toml(t.angle)));
      return;
    }
    put("thickness", m.thickness);
    put("young", m.young);
    put("poisson", m.poisson);
    put("density", m.density);
  }

  void rod(const RodScene& r) {
    open("[[body.rod]]");
    put("points", r.points);
    put("radius", r.radius);
    put("inner_radius", r.inner_radius);
    put("young", r.young);
    put("density", r.density);
    put("bending", r.bending);
    put("clamped", r.clamped);
    if (r.push)
      put("push", r.push);
    else
      text_ += fmt::format("push = false\nbuckling = {}\n", toml(r.buckling));
    put("spacing", r.spacing);
  }

  std::string region(const Region& r) {
    if (r.kind == Region::Kind::box) return fmt::format("box = [{}, {}]", toml(r.lower), toml(r.upper));
    if (r.kind == Region::Kind::group) return fmt::format("group = {}", toml(r.group));
    return fmt::format("sphere = {{centre = {}, radius = {}}}", toml(r.centre), toml(r.radius));
  }

  void fix(const FixScene& f) {
    open("[[fix]]");
    text_ += region(f.region) + "\n";
    if (!f.motion.empty()) {
      put("motion", f.motion);
      put("direction", f.motion_direction);
      put("range", f.motion_range);
    } else {
      put("stiffness", f.stiffness);
    }
  }

  void actuator(const ActuatorScene& a) {
    open("[[actuator]]");
    put("name", a.name);
    choice("type", a.kind);
    if (a.kind == ActuatorKind::cable) {
      path(a.points, a.pull_point, a.attachment_radius);
    } else if (a.region) {
      text_ += region(*a.region) + "\n";
    } else if (a.surface) {
      placed_file("surface", *a.surface);
    } else {
      put("point", a.points.front());
      put("attachment_radius", a.attachment_radius);
    }
    if (a.kind == ActuatorKind::force) put("direction", a.direction);
    const bool cavity = a.kind == ActuatorKind::cavity;
    choice("control", static_cast<int>(a.control) + (cavity ? 2 : 0));  // words of lengths and forces come first
    put("range", a.range);
    put("rate", a.rate);
    put("bilateral", a.bilateral);
    put(cavity ? "pressure" : "force", a.force);
    if (a.control == ActuatorControl::gas || a.control == ActuatorControl::supply) {
      put("atmosphere", a.atmosphere);
      put("dead_volume", a.dead_volume);
    }
    if (a.control == ActuatorControl::supply) put("resistance", a.resistance);
    if (a.friction > 0) {
      put("friction", a.friction);
      put("slip_length", a.slip_length);
    }
    put("samples", a.samples);
  }

  void constraint(const ConstraintScene& c) {
    open("[[constraint]]");
    put("name", c.name);
    choice("type", c.kind);
    if (c.kind == ConstraintKind::distance || c.kind == ConstraintKind::limit) {
      put("points", c.points);
      if (c.anchor) put("anchor", *c.anchor);
      put("length", c.length);
      if (c.kind == ConstraintKind::limit) choice("bound", c.bound);
    } else {
      put("point", c.points.front());
      if (c.position) put("position", *c.position);
      if (c.kind == ConstraintKind::plane)
        put("normal", c.directions.front());
      else
        put("directions", c.directions);
    }
    put("attachment_radius", c.attachment_radius);
    put("compliance", c.compliance);
    put("damping_time", c.damping_time);
    choice("as", c.form);
  }

  void effector(const EffectorScene& e) {
    open("[[effector]]");
    put("name", e.name);
    choice("type", e.kind);
    if (e.point) put("point", *e.point);
    if (e.region) text_ += region(*e.region) + "\n";
    if (e.surface) placed_file("surface", *e.surface);
    if (e.kind == EffectorKind::length)
      path(e.points, e.pull_point, e.attachment_radius);
    else if (e.kind != EffectorKind::volume)
      put("directions", e.directions);
    if (e.kind == EffectorKind::orientation) put("lever", e.lever);
    put("weight", e.weight);
    put("exact", e.exact);
  }

  void sensor(const SensorScene& s) {
    open("[[sensor]]");
    put("name", s.name);
    choice("type", s.kind);
    if (s.kind == SensorKind::length) path(s.points, s.pull_point, s.attachment_radius);
    if (s.point) put("point", *s.point);
    if (s.region) text_ += region(*s.region) + "\n";
    if (s.kind == SensorKind::strain) {
      put("direction", s.direction);
      choice("measure", s.measure);
    }
    if (!s.actuator.empty()) put("actuator", s.actuator);
    put("noise", s.noise);
    put("bias", s.bias);
    put("delay", s.delay);
  }

  void path(const std::vector<Vec3d>& points, const std::optional<Vec3d>& pull_point, double attachment_radius) {
    put("points", points);
    if (pull_point) put("pull_point", *pull_point);
    put("attachment_radius", attachment_radius);
  }

  void parameter(const ParameterScene& p) {
    open("[[parameter]]");
    put("name", p.name);
    choice("type", p.kind);
    put("range", p.range);
    if (p.material > 0) text_ += fmt::format("material = {}\n", p.material);
    if (p.membrane > 0) text_ += fmt::format("membrane = {}\n", p.membrane);
    if (p.kind != ParameterKind::stretch) return;
    put("direction", p.direction);
    if (p.from) put("from", *p.from);
    if (p.to) put("to", *p.to);
    if (p.about) put("about", *p.about);
  }

  void obstacle(const ObstacleScene& o) {
    open("[[obstacle]]");
    put("name", o.name);
    choice("type", o.shape);
    if (o.radius > 0) put("radius", o.radius);
    const bool tube = o.shape == ObstacleShape::tube;
    if (tube) put("thickness", o.thickness);
    if (tube || o.shape == ObstacleShape::capsule || o.shape == ObstacleShape::cylinder) put("length", o.length);
    if (o.shape == ObstacleShape::box) put("size", o.size);
    if (o.surface) placed_file("surface", *o.surface);
    put("position", o.position);
    if (o.shape != ObstacleShape::sphere) put("rotation", o.rotation);
    if (!tube && o.shape != ObstacleShape::plane) put("inside", o.inside);
    put("friction", o.friction);
    if (o.max_force < unlimited) put("max_force", o.max_force);
  }

  // Writes nothing where all keys have their defaults: the fingerprint of a scene is that of its text.
  void contact(const ContactScene& c) {
    const bool everywhere = c.region.kind == Region::Kind::all;
    if (c.distance == 0 && c.spacing == 0 && everywhere && !c.surface) return;
    open("[contact]");
    put("distance", c.distance);
    if (!c.surface) put("spacing", c.spacing);
    if (!everywhere) text_ += region(c.region) + "\n";
    if (c.surface) placed_file("surface", *c.surface);
  }

  void reduction(const ReductionScene& r) {
    open("[reduce]");
    put("error", r.error);  // before what its default depends on (fingerprint.cpp)
    if (r.trajectories > 0 || r.error) put("trajectories", r.trajectories);
    if (r.doublings > 0) put("doublings", r.doublings);  // so that files stay as they were
    choice("sampling", r.sampling);
    if (!r.along.file.empty()) {  // as doublings
      put("actuation", from_folder(r.along.file));
      put("variation", r.along.variation);
    }
    put("states", r.states);
    put("states_tolerance", r.states_tolerance);
    put("sweep_steps", r.sweep_steps);
    if (r.friction != ShakingFriction::none) choice("friction", r.friction);               // as doublings
    if (r.rigid_motion != RigidMotionForm::frame) choice("rigid_motion", r.rigid_motion);  // as doublings
    put("budget", r.budget);
    put("corners", r.corners);
    put("converged", r.converged);
    if (!r.modes_by_error) put("modes_tolerance", r.pod_tolerance);
    put("modes_tolerance_squared", r.pod_tolerance_squared);
    put("max_modes", r.max_modes);
    if (r.pushes > 0) put("pushes", r.pushes);                       // as doublings
    if (r.contact_modes > 0) put("contact_modes", r.contact_modes);  // as doublings
    put("elements_tolerance", r.ecsw_tolerance);
    put("elements", r.elements);
    if (r.elements_every > 0) put("elements_every", r.elements_every);        // as doublings
    if (r.membranes == FieldForm::strains) choice("membranes", r.membranes);  // as doublings
    if (r.solids == FieldForm::strains) choice("solids", r.solids);           // as doublings
    put("strain_tolerance", r.strain_tolerance);
    if (r.max_strain_modes > 0) put("max_strain_modes", r.max_strain_modes);  // as doublings
    if (r.unit != DomainUnit::point) choice("unit", r.unit);
    put("elements_acceptance", r.ecsw_acceptance);
    put("training", r.ecsw_training);
    put("selection", r.ecsw_selection);
    put("seed", r.seed);
    put("validation_states", r.validation_states);
    put("goal_error_limit", r.goal_error_limit);
    put("shape_error_limit", r.shape_error_limit);
  }

  std::string folder_, text_;
  const TableKeys* table_ = nullptr;
};

}  // namespace

std::string write_scene(const Scene& scene, const std::string& mesh_folder) {
  Writer writer(mesh_folder);
  writer.scene(scene);
  return writer.take();
}

}  // namespace supple
