#pragma once
// A scene as plain data: everything in SI (m, kg, s, N, Pa, rad), every default filled in. Filled by read_scene
// (scene/reader.hpp); nothing here is derived from the mesh. One body per scene so far; the field is a list because
// several are coming.

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/mesh/mesh.hpp"
#include "engine/scene/units.hpp"
#include "kernels/base/error.hpp"

namespace supple {

inline constexpr double unlimited = std::numeric_limits<double>::infinity();

struct Interval {
  double lower = -unlimited;
  double upper = unlimited;
};

/// A part of space or a named group of the mesh; a node (or element centroid) belongs to it when it is inside.
struct Region {
  enum class Kind { all, box, sphere, group };
  Kind kind = Kind::all;
  Vec3d lower{{0, 0, 0}}, upper{{0, 0, 0}};  // box corners [m]
  Vec3d centre{{0, 0, 0}};                   // sphere [m]
  double radius = 0;
  std::string group;  // name of a group of the mesh
  Place place;
};

enum class MaterialModel { corotational, st_venant_kirchhoff, stable_neo_hookean, mooney_rivlin, yeoh, gent, ogden };

/// Which rotation the corotational law takes out: polar factor of F; frame on the element's edges (SOFA's "large");
/// polar factor of the element's edge matrix (SOFA's "polar"). The last two only for tetrahedra.
enum class RotationKind { polar, edge_frame, edge_polar };

/// A branch of a viscoelastic material: a spring and a dashpot in a row, beside its law.
struct PronyTerm {
  double modulus = 0;  // relative to the law's
  double time = 0;     // relaxation time [s]
  bool operator==(const PronyTerm&) const = default;
};

inline constexpr std::size_t most_prony_terms = 15;

struct MaterialScene {
  MaterialModel model = MaterialModel::corotational;
  double young = 0;    // Pa
  double poisson = 0;  // -
  RotationKind rotation = RotationKind::polar;
  /// Mooney-Rivlin W = C01 (I1bar - 3) + C10 (I2bar - 3) + D (J - 1)^2 [Pa], as written in the paper's eq. 10; given
  /// directly, or from young and poisson: mu = 2 (C01 + C10), C10 / C01 = mooney_ratio, D = bulk modulus / 2.
  std::optional<double> c01, c10, d;
  double mooney_ratio = 0.25;
  /// Yeoh: C1, C2, C3, D; Gent: mu, J_m, D; Ogden: mu_i and alpha_i of three terms in turn, D: as kernels/materials has
  /// them. D from Poisson's ratio is filled in. Empty for other models.
  std::vector<double> constants;
  /// What resists a change of shape fast and no longer at rest: the shear modulus at time t is (1 + sum g exp(-t/tau))
  /// times that of the law.
  std::vector<PronyTerm> prony;
  double retardation = 0;         // Kelvin-Voigt: viscosity of shear over shear modulus [s]
  std::optional<double> density;  // kg/m^3, overrides the body's
  Region region;                  // elements it applies to; later entries win
  Place place;
};

/// Threads side by side in a layer, inextensible or nearly so (kernels/materials/fibres.hpp). Along `direction`, projected
/// on each face; or wound about an axis through `centre` (none: the middle of the faces), at `angle` from it [rad].
inline constexpr double default_buckling = 1e-6;
struct ThreadScene {
  double stiffness = 0;                // axial, of one thread: force per strain [N]
  double spacing = 0;                  // from one to the next [m]
  bool push = false;                   // they resist compression too
  double buckling = default_buckling;  // strain at which others buckle
  std::optional<Vec3d> direction;
  Vec3d axis{{0, 0, 1}};
  std::optional<Vec3d> centre;
  double angle = 0;
};

/// A thin layer on faces of the body: stiff in its plane, free to bend. Corotational plane stress
/// (kernels/materials/corotational_membrane.hpp).
struct MembraneScene {
  Region region;         // a group of triangles of the mesh, or the boundary's faces with all their nodes in it
  double thickness = 0;  // m
  double young = 0;      // Pa
  double poisson = 0;    // -
  std::optional<double> density;       // kg/m^3, a mass beside the body's; none: the body's mass holds it
  std::optional<ThreadScene> threads;  // instead of thickness, moduli and density
  Place place;
};

/// A slender round rod in the body, along a path: stiff along itself and, where the path is straight, against bending
/// (kernels/materials/rod.hpp).
struct RodScene {
  std::vector<Vec3d> points;            // m, after the transform
  double radius = 0, inner_radius = 0;  // m
  double young = 0;                     // Pa
  std::optional<double> density;        // kg/m^3, a mass beside the body's; none: the body's mass holds it
  bool bending = true;                  // it resists bending
  bool clamped = true;                  // so are its ends at held nodes
  bool push = true;                     // it resists compression
  double buckling = default_buckling;   // strain at which others buckle
  std::optional<double> spacing;        // of its nodes [m]; none: edge length of the elements that it runs through
  Place place;
};

enum class MassKind { consistent, lumped, per_node };

/// Where elements of several points resist a change of volume: at each of them, or what would make them lock (of
/// elements of second order the excess of nearly incompressible materials) once, by their mean deformation gradient.
enum class Dilatation { mean, points };

/// Nodes that are not free: held at rest, driven by a prescribed motion, or tied to rest by springs.
struct FixScene {
  Region region;
  /// Prescribed translation: amplitude along this direction is the input named `motion` (empty = held at rest).
  std::string motion;
  Vec3d motion_direction{{0, 0, 0}};
  Interval motion_range;
  double stiffness = unlimited;  // N/m per node; finite: rest-shape springs instead of removed nodes
  Place place;
};

struct BodyScene {
  std::string name = "body";
  std::string mesh_file;          // absolute
  double mesh_unit = 1;           // m per file unit
  Transform transform;            // applied after the unit
  std::optional<double> mass;     // kg in total; else density
  std::optional<double> density;  // kg/m^3
  MassKind mass_kind = MassKind::consistent;
  int order = 1;  // of the elements, 1 or 2; a scene file that does not say has 2
  Dilatation dilatation = Dilatation::mean;
  double rayleigh_mass = 0;       // 1/s
  double rayleigh_stiffness = 0;  // s
  std::vector<MaterialScene> materials;
  std::vector<MembraneScene> membranes;
  std::vector<RodScene> rods;
  std::vector<FixScene> fixes;
  Place place;
};

/// Motors are those of joints, in scenes of several bodies (assembly_scene.hpp).
enum class ActuatorKind { cable, force, cavity, motor, linear_motor };
/// What the command is: the value of the actuator's row (length pulled, distance moved, volume gained) or its
/// multiplier (tension, force, pressure). Of a cavity also the gas in it: the amount that is put in, or the pressure that
/// feeds it through a line.
enum class ActuatorControl { displacement, force, gas, supply };
/// Whether the command is a force or a pressure.
inline bool commands_force(ActuatorControl control) {
  return control == ActuatorControl::force || control == ActuatorControl::supply;
}

inline constexpr double standard_atmosphere = 101325;  // Pa
inline constexpr double default_slip_length = 1e-4;    // m

/// A surface in a file of its own, in the frame of the transformed body once its own transform is applied.
struct SurfaceScene {
  std::string file;  // absolute
  double unit = 1;   // m per file unit
  Transform transform;
  Place place{};
};

/// What drives the robot.
///   cable   inextensible, with or without friction where it turns, through points embedded in the body: point[0] is its attachment, the last
///           point is where it is pulled (embedded), or pull_point (fixed in space) follows
///   force   along a direction fixed in space, on one point of the body or spread evenly over the surface in a region
///   cavity  a closed surface, filled with a gas of one pressure: faces of the body's boundary in a region, or a
///           surface from a file, embedded in the body. Where the command is its gas it obeys p V = const
///           (engine/model/robot.hpp, GasLaw)
struct ActuatorScene {
  std::string name;
  ActuatorKind kind = ActuatorKind::cable;
  std::vector<Vec3d> points;        // m, rest positions in the transformed frame; force: one, or none with a region
  std::optional<Vec3d> pull_point;  // cable: m, fixed in space
  std::optional<Region> region;     // force: the nodes of the boundary in it share the force by area; cavity: its walls
  std::optional<SurfaceScene> surface;  // cavity
  Vec3d direction{{0, 0, 0}};           // force: unit vector
  double attachment_radius = 0;         // m; > 0 spreads each point over the nodes within this radius
  ActuatorControl control = ActuatorControl::displacement;
  Interval range;           // of the command: m, cavity m^3 (displacement, gas) or N, cavity Pa (force, supply)
  double rate = unlimited;  // limit on |d command / dt|
  bool bilateral = false;   // true: the cable may push, the force be negative, the cavity be sucked at
  Interval force;           // limits on the multiplier [N, Pa]; unilateral actuators have lower = max(lower, 0)
  double atmosphere = standard_atmosphere;  // gas: absolute pressure outside [Pa], to which pressures are relative
  double dead_volume = 0;                   // gas: of lines and fittings, at the cavity's pressure [m^3]
  double resistance = 0;                    // supply: of the line [Pa s/m^3], the flow measured at the pressure outside
  double friction = 0;                      // cable: Coulomb's coefficient where it turns
  double slip_length = default_slip_length;  // cable: sliding over which friction turns round [m]
  int samples = 2;                           // grid samples of this actuator in offline sampling, s_i >= 2
  Place place;
};

/// Dimensions of the command of an actuator, of its rate and of its multiplier.
Dimension command_dimension(ActuatorKind kind, ActuatorControl control);
Dimension rate_dimension(ActuatorKind kind, ActuatorControl control);
Dimension multiplier_dimension(ActuatorKind kind);
/// What the command is, as scenes name it.
const char* command_word(ActuatorKind kind, ActuatorControl control);
/// "displacement", "volume", "angle"; "force", "pressure", "torque".
const char* value_word(ActuatorKind kind);
const char* multiplier_word(ActuatorKind kind);

/// A constraint between points of the body, or between a point and a place fixed in space.
///   distance     between two points, or a point and an anchor: the length of the segment is kept
///   fixed_point  a point stays where it is, along one to three directions
///   plane        a point stays in the plane through `position` across its normal
///   limit        the segment is no longer (a string), or no shorter, than a length
enum class ConstraintKind { distance, fixed_point, plane, limit };
enum class LengthBound { longest, shortest };
/// constraint: rows of their own, with multipliers; force: a spring in the forces and the stiffness.
enum class ConstraintForm { constraint, force };

struct ConstraintScene {
  std::string name;
  ConstraintKind kind = ConstraintKind::distance;
  std::vector<Vec3d> points;                 // m, at rest; distance, limit: two, or one and an anchor; others: one
  std::optional<Vec3d> anchor;               // distance, limit: m, fixed in space
  std::optional<double> length;              // distance, limit: m; as at rest
  LengthBound bound = LengthBound::longest;  // limit
  std::vector<Vec3d> directions = {{{1, 0, 0}}, {{0, 1, 0}}, {{0, 0, 1}}};  // fixed_point, plane: unit vectors
  std::optional<Vec3d> position;  // fixed_point, plane: m; where the point is at rest
  double attachment_radius = 0;   // as a cable's
  double compliance = 0;          // m/N; 0: hard
  double damping_time = 0;        // s
  ConstraintForm form = ConstraintForm::constraint;
  Place place;
};

struct PointScene {  // a probe
  std::string name;
  Vec3d point{{0, 0, 0}};  // m, rest position in the transformed frame
  std::string set;         // points of one set are reported together (the diamond's arms)
  Place place;
  std::optional<Region> region{};  // its nodes carry the point; none: the element that it lies in
};

enum class EffectorKind { position, orientation, length, volume };
Dimension goal_dimension(EffectorKind kind);

/// What inverse control steers; see Effector in engine/model/robot.hpp.
struct EffectorScene {
  std::string name;
  EffectorKind kind = EffectorKind::position;
  std::optional<Vec3d> point;    // position: m, rest position in the transformed frame
  std::optional<Region> region;  // position: its nodes carry the point, or their mean; orientation: their rotation;
                                 // volume: walls
  std::optional<SurfaceScene> surface;                                      // volume: walls, as a cavity's
  std::vector<Vec3d> directions = {{{1, 0, 0}}, {{0, 1, 0}}, {{0, 0, 1}}};  // position, orientation: unit vectors
  double lever = 0.01;                                                      // orientation: m per radian
  double weight = 1;
  bool exact = false;
  std::vector<Vec3d> points;  // length: path as a cable's
  std::optional<Vec3d> pull_point;
  double attachment_radius = 0;
  Place place;
};
inline EffectorScene position_effector(std::string name, const Vec3d& point) {
  EffectorScene effector;
  effector.name = std::move(name);
  effector.point = point;
  return effector;
}

/// What a sensor measures; formulas: engine/model/sensors.hpp.
enum class SensorKind {
  length,
  strain,
  pressure,
  volume,
  tension,
  force,
  position,
  accelerometer,
  gyroscope,
  contact_force
};
/// Of a fibre that F stretches from d to F d, |d| = 1: (|F d|^2 - 1)/2, or |F d| - 1.
enum class StrainMeasure { green_lagrange, engineering };
/// Of a sensor's value, noise and bias.
Dimension sensor_dimension(SensorKind kind);

/// A sensor, which acts on nothing: what it delivers is value + bias + noise, late by the delay.
struct SensorScene {
  std::string name;
  SensorKind kind = SensorKind::position;
  std::vector<Vec3d> points;  // length: path as a cable's
  std::optional<Vec3d> pull_point;
  double attachment_radius = 0;
  std::optional<Vec3d> point;  // strain, position, accelerometer, gyroscope: m, rest position in the transformed frame
  std::optional<Region> region;  // position: as an effector's; accelerometer, gyroscope: it turns with its nodes;
                                 // contact_force: collision points in it, none: all
  Vec3d direction{{0, 0, 0}};    // strain: unit vector along the fibre at rest
  StrainMeasure measure = StrainMeasure::green_lagrange;
  std::string actuator;  // pressure, volume, tension, force: its name
  double noise = 0;      // standard deviation, in SI
  double bias = 0;       // in SI
  double delay = 0;      // s
  Place place;
};

/// What a parameter is a factor on: the moduli of one material or of all; the mass; lengths along a direction.
enum class ParameterKind { stiffness, density, stretch };

/// A number that the reduced model is to be good for a range of ([[parameter]]): a factor, 1 as the scene stands.
struct ParameterScene {
  std::string name;
  ParameterKind kind = ParameterKind::stiffness;
  Interval range{1, 1};
  int material = 0, membrane = 0;  // stiffness: of which, from 1; both 0: of the whole body
  Vec3d direction{{0, 0, 0}};      // stretch: unit vector
  /// stretch: what lies between the planes across the direction through these is stretched, what lies beyond is carried
  /// along [m]; none: the ends of the body.
  std::optional<Vec3d> from, to;
  std::optional<Vec3d> about;  // stretch: the plane that stays; none: midway
  Place place;
};

enum class ObstacleShape { plane, sphere, capsule, box, cylinder, tube, mesh };

/// A rigid obstacle that does not move. Shapes and their own frames: engine/obstacles/obstacle.hpp.
struct ObstacleScene {
  std::string name;
  ObstacleShape shape = ObstacleShape::plane;
  double radius = 0;                    // sphere, capsule, cylinder; tube: of its bore [m]
  double length = 0;                    // capsule, cylinder, tube [m]
  double thickness = 0;                 // tube: of its wall [m]
  Vec3d size{{0, 0, 0}};                // box: edge lengths [m]
  std::optional<SurfaceScene> surface;  // mesh
  Vec3d position{{0, 0, 0}};            // m
  Vec3d rotation{{0, 0, 0}};            // turns about x, then y, then z [rad]
  bool inside = false;                  // the free space is inside; not of a plane or tube
  double friction = 0;                  // Coulomb's coefficient against the body
  double max_force = unlimited;         // N: of the sum of its normal forces, in inverse control
  Place place;
};

/// How the body touches obstacles: at collision points, nodes of its boundary, or corners of a surface that it carries.
struct ContactScene {
  double distance = 0;                  // m: contact distance, the gap that is kept
  double spacing = 0;                   // m: least distance between points at rest; 0: every node
  Region region;                        // of the boundary, or of the surface: then no group
  std::optional<SurfaceScene> surface;  // without spacing
  Place place;
};

enum class Integrator { implicit_euler, implicit_euler_newton, quasi_static };

/// The unit that has one cubature weight in the reduced integration domain: an element, or one of the eight points of a
/// hexahedron.
enum class DomainUnit { element, point };

enum class SamplingKind { latin_hypercube, grid, random_paths, greedy };

/// Friction of the obstacles in transient training trajectories: none (the paper) or their own.
enum class ShakingFriction { none, own };

/// How a free-floating reduced body moves as a whole: on a frame that turns by any angle, or by six linearised
/// rigid modes (eq. 22 of the paper).
enum class RigidMotionForm { frame, linearised };

/// What the forces of reduced membranes, or solids, are made of: some of their elements, or modes of their strains
/// (engine/reduction/basis/strain_modes.hpp, engine/reduction/strains/solid_strains.hpp).
enum class FieldForm { elements, strains };

/// Asked for where [reduce] specifies no states, modes or elements; and the trajectories that go with an error.
inline constexpr double default_error = 0.01;
inline constexpr int default_trajectories = 2;
inline constexpr double membrane_strain_tolerance = 0.05, solid_strain_tolerance = 0.02;
inline constexpr int most_doublings = 10;  // 1024 times as many states
/// How many times as large as the mean error that is asked for the error of any state may be.
inline constexpr double largest_to_mean = 5;

/// Commands over time (a CSV file) that models are trained and measured along.
struct TrainingCommands {
  std::string file;        // empty: none
  double variation = 0.1;  // inputs of further runs move by 1 +- this of what the file has
  Place place;
};

/// Offline recipe: [reduce] and its sub-tables.
struct ReductionScene {
  Place place;  // of the sampling
  SamplingKind sampling = SamplingKind::latin_hypercube;
  int states = 272;                        // all but the grid: number of states
  TrainingCommands along;                  // of a robot that is trained in time, instead of samples of the box
  bool corners = true;                     // all but the grid: also the corners of the box, when there are at most 64
  std::optional<double> states_tolerance;  // greedy: predicted mean error that is small enough, a fraction
  int sweep_steps = 9;                     // grid, and transient training: increments between neighbours (figure 1)
  ShakingFriction friction = ShakingFriction::none;  // while the training states are made
  Place friction_place;
  RigidMotionForm rigid_motion = RigidMotionForm::frame;  // of free-floating bodies
  int budget = 4096;  // grid points above which the grid falls back to the hypercube (Algorithm 1)
  bool converged =
      true;  // snapshots are converged equilibria; false: one linearised step per increment, as in the paper
  std::optional<double> error;    // mean error asked for, a fraction (engine/reduction/model_errors.hpp); none: any
  bool error_is_default = false;  // it is the default
  int trajectories = 0;           // among the training states, beside equilibria (sampling.hpp)
  int doublings = 0;              // so many times as many states and trajectories again, beside the first ones
  /// Modes are added until the model has that error on the validation set; false: as pod_tolerance and max_modes ask.
  bool modes_by_error = false;
  double pod_tolerance = 1e-3;
  bool pod_tolerance_squared = false;    // true: sum tail / sum <= tolerance; false: its square root
  int max_modes = 0;                     // 0 = by tolerance alone
  std::optional<double> ecsw_tolerance;  // tau (engine/reduction/elements/selection.hpp)
  int elements = 0;                      // units of the domain, exactly; 0 = by the rule
  Place elements_every_place;
  int elements_every = 0;  // units are selected using every n-th snapshot; 0 = see pipeline.cpp
  double pushes = 0;       // N: the largest force by which training states are pushed at a collision point; 0: none
  int contact_modes = 0;   // beside those of the snapshots, for contact of the skin (contact_modes.hpp)
  FieldForm membranes = FieldForm::elements, solids = FieldForm::elements;
  /// As pod_tolerance, of the strains in the norm of energy; none: membrane_strain_tolerance, solid_strain_tolerance.
  std::optional<double> strain_tolerance;
  int max_strain_modes = 0;  // 0 = by tolerance alone
  DomainUnit unit = DomainUnit::point;
  double ecsw_acceptance = 0.1;  // displacement rule without tau: what a domain may lose on the selection set
  std::string ecsw_training = "projected";  // or "rerun": the paper's second pass with the reduced model
  std::string ecsw_selection = "displacement";
  std::uint64_t seed = 1;
  int validation_states = 30;
  std::optional<double> goal_error_limit, shape_error_limit;  // fractions; above one no model is written
};

struct Scene {
  std::string file;  // as given; "" when built in memory
  std::string name;
  Vec3d gravity{{0, 0, -9.81}};
  double time_step = 0.01;
  double duration = 1;  // default length of `simulate`
  Integrator integrator = Integrator::implicit_euler;
  /// Fractions of the forces and of the velocity at the end of a step in their means over the step, 0.5 to 1
  /// (engine/step/step.hpp).
  double implicit_velocity = 1, implicit_position = 1;
  std::vector<BodyScene> bodies;
  std::vector<ActuatorScene> actuators;
  std::vector<ConstraintScene> constraints;
  std::vector<EffectorScene> effectors;
  std::vector<PointScene> probes;
  std::vector<SensorScene> sensors;
  std::vector<ParameterScene> parameters;
  std::vector<ObstacleScene> obstacles;
  ContactScene contact;
  ReductionScene reduction;
};

/// The default error, and what goes with it.
void ask_for_default_error(ReductionScene& recipe);
/// Resets it, and what goes with it, where it is the default.
void drop_default_error(ReductionScene& recipe);

/// Equality of all members except places and `file`.
bool operator==(const Scene& a, const Scene& b);

/// Files that the scene names: the mesh of every body, then surfaces of cavities and obstacles.
std::vector<std::string> input_files(const Scene& scene);

}  // namespace supple
