#pragma once
// Several bodies as one mechanics. Coordinates: those of every soft body, in the axes of the frame that carries it,
// then a pose for every frame that moves freely (engine/model/pose.hpp). Mapped points y: those of every body as its
// own model has them, in which its own rows are written, then points in the world, chained from these through the
// frames (a point on a rigid body, or carried by it):
//   y = t + R x,   x = p fixed in the frame, or x = s + S y_body with (s, S) where the body sits in the frame.
// Rows between points of different bodies are multimappings: H has a block for each. With F = lambda dphi/dy at y the
// frame's map has the geometric stiffness -F . d^2 y, of which, with F' = R^T F,
//   theta, theta: (F' . x) I - (F' x^T + x F'^T)/2      theta, body: [F']x S L      (turns to the frame's axes first)
// and the row's own curvature couples all its points.
//
// A is blocks of bodies, bordered by the frames and by what couples points, S in A += P^T S P, with w = P u, mu = S w:
//   [ D    B    P_b^T   0 ] [u ]   [r_b]
//   [ B^T  A_f  P_f^T   0 ] [u_f] = [r_f]
//   [ P_b  P_f  0      -I ] [mu]   [ 0 ]
//   [ 0    0   -I       S ] [w ]   [ 0 ]
// Each body factors its own block; the Schur complement on the border is a small dense symmetric matrix. A frame whose
// pose is prescribed is no unknown.
//
// Collision points, of bodies and of frames, are points in the world too. Forces of contact have no geometric stiffness
// of the frames' maps: their moment F x against inertia I/h^2 is F h^2/(m x), small, and Newton's method converges at
// that rate. The curvature of obstacles comes as that of links does, or into the block of a body whose frame is held.
//
// Inertia is complete (body_inertia.hpp): moments of the deformed bodies, centrifugal and Coriolis forces. A step has the
// balance of momentum, not M times a change of velocities: with P the linear momentum of a free frame and all it
// carries, L its angular momentum about the common centre of mass in the frame's axes, p_j that of a coordinate but for the velocity V of the frame's origin,
//   P' - P = h F,   R' L' - R L = h T,   p_j' - p_j + sum m phi_j . R'^T (V' - V) = h (f_j - sum m (Omega x w) . phi_j)
// so that P and R L are constant to Newton's tolerance where nothing acts, for any time step. The tangent leaves out
// how these change with velocities, of relative size h |Omega|: Newton's method converges at that rate. One
// linearisation takes them at the velocity of the start; the velocities of free frames then follow from P' and L'.

#include <memory>
#include <optional>

#include "engine/collision/collision_surface.hpp"
#include "engine/mechanics/mechanics.hpp"
#include "engine/model/body_inertia.hpp"

namespace supple {

struct Assembly {
  enum class Hold { fixed, driven, free };
  struct Frame {
    std::string name;
    Pose pose;  // at rest
    Hold hold = Hold::free;
    RigidInertia inertia;  // its own, in its axes; without effect unless free
    /// Driven: each moves what the ones before have moved; directions and centres are those in the world at rest.
    std::vector<MotionInput> motions;
    int carrier = -1;  // driven or fixed: the frame, before it in the list and not free, whose motions move it too
  };
  struct Body {
    std::string name;                // stands before the names of all that is the body's own: "finger-1/north"
    Mechanics* mechanics = nullptr;  // one robot, no obstacles, not floating; must outlive the assembly
    BodyInertia inertia;
    int frame = 0;
    Pose place;  // in the frame
    /// Its mapped points are in the world but for those of its own rows, so that effectors, probes and collision points
    /// keep their numbers, and its obstacles are those of the whole. For a body that is alone.
    bool alone = false;
  };
  // A point in the world.
  struct Point {
    int frame = -1, body = -1;  // one of the two
    int output = 0;             // body: its mapped point
    Vec3d position{{0, 0, 0}};  // frame: in its axes
    bool vector = false;        // only turned, as axes of joints and columns of a deformation gradient are
  };
  struct Link {
    ConstraintRow row;  // its points are these, in the world
    std::vector<Point> points;
    bool as_force = false;  // a spring in f and A
  };
  /// An actuator of a joint.
  struct Motor {
    ActuatorRow row;  // its joint's points are these, in the world
    std::vector<Point> points;
  };
  struct Mass {
    Point point;
    double mass = 0;  // kg
  };
  struct Probe {
    std::string name, set;
    Point point;
  };
  struct Led {
    Effector effector;  // position or orientation
    Point point;
    std::vector<Point> vectors;  // orientation: three, its axes
  };
  /// What may touch other bodies: the skin of a part, the shape of a rigid body.
  struct BodySurface {
    std::string name;             // of the part or rigid body
    CollisionSurface surface;     // its rest places: those of its vertices in the world at rest
    std::vector<Point> vertices;  // one for each vertex of the surface
    double friction = 0;          // Coulomb's coefficient; of a pair the geometric mean of both
    bool touches_itself = false;
  };

  std::string name;
  Vec3d gravity{{0, 0, 0}};
  double time_step = 0.01;
  Integrator integrator = Integrator::implicit_euler;
  double implicit_velocity = 1, implicit_position = 1;
  std::vector<Frame> frames;
  std::vector<Body> bodies;
  std::vector<Link> links;
  std::vector<Motor> motors;
  std::vector<Mass> masses;
  std::vector<Probe> probes;
  std::vector<Led> effectors;             // none: those of the bodies, which are probes otherwise
  std::vector<PlacedObstacle> obstacles;  // in the world
  double contact_distance = 0;
  std::vector<Point> collision_points;  // on bodies and on free frames
  std::vector<BodySurface> surfaces;    // of bodies that may touch each other, contact_distance apart at least
  std::vector<std::array<int, 2>> never_touching;  // pairs of surfaces
};

class AssemblyMechanics : public Mechanics {
 public:
  // Throws InputError for what cannot be assembled.
  explicit AssemblyMechanics(Assembly assembly);

  int robots() const override { return 1; }
  const Robot& robot() const override { return robot_; }
  const Coordinates& coordinates() const override { return coordinates_; }
  const RowLayout& rows() const override { return rows_; }
  void evaluate_outputs(std::span<const double> q, std::span<const double> c, std::span<double> y) override;
  void outputs_elsewhere(std::span<const double> q, std::span<const double> c, std::span<double> y) override;
  void input_rates(std::span<const int> points, std::span<double> rates) override;
  using Mechanics::evaluate_forces;
  void evaluate_forces(std::span<const double> q, std::span<const double> c, TangentKind kind, std::span<double> f,
                       std::span<PointReport> found) override;
  double turn_step(int robot, std::span<const double> q, std::span<const double> c, std::span<const double> dc,
                   std::span<double> dq) override;
  void begin_viscous_step(double h, std::span<const double> viscous) override;
  void end_viscous_step(double h, std::span<const double> q, std::span<const double> c,
                        std::span<const unsigned char> moved, std::span<double> viscous) override;
  void external_forces(std::span<double> p) const override;
  void inertia(std::span<const double> v, std::span<const double> v_c, std::span<double> out) const override;
  bool turns() const override { return turns_; }
  void add_turning(const StepMotion& step, std::span<double> out) const override;
  void correct_momentum(const StepMotion& step, std::span<double> v_end) const override;
  void damping(std::span<const double> v, std::span<const double> v_c, std::span<double> out) override;
  using Mechanics::factor;
  void factor(const SystemCoefficients& coefficients, std::span<const double> y, std::span<const double> multipliers,
              std::span<SystemReport> found) override;
  void row_jacobians(const RowLayout& layout, std::span<const double> gradients, std::span<double> H,
                     std::span<double> H_c) const override;
  void input_columns(const SystemCoefficients& coefficients, std::span<double> A_c) override;
  void solve(std::span<double> X, int count) override;
  void multiply_rows(const PointRows& rows, std::span<const double> X, int count, std::span<double> out) const override;
  void add_row_forces(const PointRows& rows, std::span<const double> lambda, std::span<double> f) const override;
  void solve_robot(int robot, std::span<double> X, int count) override;
  bool root_solve(int robot, std::span<double> X, int count) override;

  const Assembly& assembly() const { return assembly_; }
  // Of a frame, for coordinates and inputs; of a free one, of the axes of the assembly's description.
  Pose frame_pose(int frame, std::span<const double> q, std::span<const double> c) const;
  // Of a body's own axes.
  Pose body_pose(int body, std::span<const double> q, std::span<const double> c) const;
  // Where the coordinates, mapped points and motions of a body begin.
  int first_coordinate(int body) const { return parts_[static_cast<std::size_t>(body)].v; }
  int first_motion(int body) const { return parts_[static_cast<std::size_t>(body)].motion; }
  // Of a body's rows, actuators and then constraints, their places among those of the assembly.
  const std::vector<int>& rows_of(int body) const { return parts_[static_cast<std::size_t>(body)].rows; }
  int first_actuator(int body) const { return parts_[static_cast<std::size_t>(body)].actuator; }
  // The body in whose axes a mapped point is; -1: it is one in the world.
  int body_of_output(int point) const {
    const MappedPoint& mapped = points_[static_cast<std::size_t>(point)];
    return mapped.own ? mapped.at.body : -1;
  }
  // Coulomb's coefficients [obstacles], and gravity, for the steps to come.
  void set_friction(std::vector<double> friction) { friction_ = std::move(friction); }
  void set_gravity(const Vec3d& gravity);
  double friction(int robot, int obstacle) const override;
  int changes() const override { return changes_; }
  // f [nv] += generalised force on a frame of a force [N] at a place of the world that it carries: none where the frame
  // is held or driven.
  void add_frame_force(int frame, const Vec3d& place, const Vec3d& force, std::span<const double> q,
                       std::span<double> f) const;
  // Momentum [kg m/s] and angular momentum about the origin [kg m^2/s] of the frames that are free and all they carry.
  std::pair<Vec3d, Vec3d> momentum(std::span<const double> q, std::span<const double> v) const;
  // Of all the free frames carry [m].
  Vec3d centre_of_mass(std::span<const double> q) const;
  // Their kinetic energy, and that of bodies on frames that are fixed [J].
  double kinetic_energy(std::span<const double> q, std::span<const double> v) const;

 private:
  SystemReport factor_system(const SystemCoefficients& coefficients, std::span<const double> y,
                             std::span<const double> multipliers);
  struct Part {  // of a body: where its blocks begin, and its rows among those of the assembly
    int nv = 0, v = 0, outputs = 0, point = 0, motions = 0, motion = 0, springs = 0, spring = 0, actuator = 0;
    std::vector<int> rows;
    bool turns = false;               // its frame does, or may
    std::vector<double> input_rates;  // of its own motions: dy/dc of its own points, in its axes [motions][outputs]
    CarriedInertia inertia;           // about the origin of the frame's block
  };
  struct FramePart {
    int q = -1, v = -1;        // free: blocks
    std::vector<int> motions;  // driven: those that move it, in order
    bool turns = false;        // free, or one of them is a rotation
    Vec3d origin{{0, 0, 0}};   // free: centre of mass of it and all it carries, which its coordinates place
    RigidInertia total;
  };
  // Where frames and bodies are, for coordinates and inputs.
  struct Placement {
    std::vector<double> inputs;
    std::vector<Pose> poses;  // of the frames' blocks
    std::vector<CarriedInertia::At> bodies;
    std::vector<Vec3d> moments;   // of free frames: first moment of all it carries beyond that at rest, its axes [kg m]
    std::vector<Mat3d> inertias;  // of free frames: about the origin [kg m^2]
  };
  struct Twist {
    Vec3d velocity{{0, 0, 0}}, turn{{0, 0, 0}};  // of the block's origin in the world; in the frame's axes
  };
  struct Border;

  void check() const;
  void lay_out();
  void gather_inertia();
  void merge_robots();
  void merge_sensors(int body);
  int add_point(const Assembly::Point& point);
  void keep_points_of(int body);
  void set_poses(std::span<const double> q, std::span<const double> c, Placement& placement) const;
  void place(std::span<const double> q, std::span<const double> c, Placement& placement) const;
  void find_moments(std::span<const double> q) const;
  const MotionInput& motion(int index) const { return robot_.motions[static_cast<std::size_t>(index)]; }
  // visit(motion, direction, centre): those of a driven frame, as they are now in the world.
  template <class Visit>
  Pose visit_motions(int frame, std::span<const double> c, const Visit& visit) const;
  // How fast a point of a driven frame moves with its motions: visit(motion, rate [m or m/rad]).
  template <class Visit>
  void visit_rates(int frame, const Vec3d& point, bool vector, const Visit& visit) const;
  Twist twist_of(int frame, const Placement& placement, std::span<const double> v, std::span<const double> v_c) const;
  Pose block_pose(int frame, std::span<const double> q, std::span<const double> c) const;
  bool free(int frame) const { return frames_[static_cast<std::size_t>(frame)].v >= 0; }
  int frame_of(const Assembly::Point& point) const;
  Mat3d axes(int body) const;
  Vec3d in_frame(const Assembly::Point& at, std::span<const double> own_y) const;
  Vec3d in_frame(int point) const { return in_frame(world_point(point), own_y_); }
  void map_points(std::span<const double> q, std::span<const double> c, const std::vector<Pose>& poses,
                  std::span<double> own_y, std::span<double> y) const;
  const Assembly::Point& world_point(int point) const { return points_[static_cast<std::size_t>(point)].at; }
  // Rows at mapped points that move with a body's coordinates, in the body's axes; at: their places among all.
  struct BodyRows {
    std::vector<int> at;
    PointRows rows;
  };
  std::vector<BodyRows> rows_of_bodies(const PointRows& rows) const;
  // Whether the curvature of an obstacle at this collision point is stiffness of its body alone.
  bool stiffens_body_alone(const PointStiffness& at) const;
  void add_couplings(const Placement& placement, std::span<const double> v, std::span<const double> v_c, double scale,
                     std::span<double> out) const;
  void add_apparent_forces(const Placement& placement, std::span<const double> v, std::span<const double> v_c,
                           double scale, std::span<double> out) const;
  void add_weight_of_masses(std::span<double> f) const;
  void add_turned_weight(double factor, std::span<double> A_c) const;
  void add_point_force(int point, const Vec3d& force, std::span<double> f) const;
  Vec3d point_rate(int point, std::span<const double> v) const;
  void add_frame_part(int point, const Vec3d& force, std::span<double> f) const;
  Vec3d frame_rate(int point, std::span<const double> v) const;
  SystemReport factor_border(const SystemCoefficients& coefficients, std::span<const double> y,
                             std::span<const double> multipliers, bool held);
  // visit(row, multiplier) for every row of links and motors that has a multiplier.
  template <class Visit>
  void visit_link_rows(std::span<const double> multipliers, const Visit& visit) const;
  void add_geometric(std::span<const double> y, std::span<const double> multipliers, Border& border) const;
  void frame_stiffness(int point, const Vec3d& force, Border& border) const;

  Assembly assembly_;
  Robot robot_;
  Coordinates coordinates_;
  RowLayout rows_, springs_;
  std::vector<Part> parts_;
  std::vector<FramePart> frames_;
  std::vector<int> free_frames_;
  struct MappedPoint {
    Assembly::Point at;
    bool own = false;  // as the body has it, in its axes; otherwise in the world
  };
  std::vector<MappedPoint> points_;
  int first_mass_ = 0;          // mass k sits at mapped point first_mass_ + k
  std::vector<int> link_rows_;  // of the links that are rows, in order
  int first_motor_ = 0, first_link_row_ = 0, first_link_spring_ = 0;
  Placement now_;                  // of the last evaluation
  mutable Placement start_, end_;  // of a step
  mutable Placement moments_;      // of the bodies and frames for these coordinates, without poses
  mutable std::vector<double> moments_at_;
  std::vector<double> y_, own_y_;  // mapped points of the last evaluation, and as the bodies have theirs
  struct {
    std::vector<Pose> poses;
    std::vector<double> own_y;
  } elsewhere_;  // of outputs_elsewhere
  std::vector<double> friction_;
  int changes_ = 0;
  mutable std::vector<double> q_end_, sum_, impulse_, momentum_;  // [nq], [nv]
  mutable std::vector<double> brought_;  // [nv]: of the last add_turning, what it added without forces
  bool turns_ = false;
  TangentKind tangent_ = TangentKind::none;
  std::shared_ptr<Border> border_;
};

}  // namespace supple
