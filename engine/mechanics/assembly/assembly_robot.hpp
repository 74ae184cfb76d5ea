#pragma once
// The mechanics of a scene of several bodies, with the models behind it.

#include <functional>
#include <memory>

#include "engine/mechanics/assembly/assembly_surfaces.hpp"
#include "engine/mechanics/full/full_mechanics.hpp"
#include "engine/mechanics/reduced/reduced_mechanics.hpp"
#include "engine/scene/assembly_scene.hpp"

namespace supple {

class AssemblyRobot {
 public:
  // Reads the parts. Throws InputError.
  explicit AssemblyRobot(AssemblyScene scene);

  const AssemblyScene& scene() const { return scene_; }
  AssemblyMechanics& mechanics() { return *mechanics_; }
  const AssemblyMechanics& mechanics() const { return *mechanics_; }
  // Of a part: one of both, the other is null.
  const FullModel* full(int part) const { return parts_[static_cast<std::size_t>(part)].full.get(); }
  const ReducedModel* reduced(int part) const { return parts_[static_cast<std::size_t>(part)].reduced.get(); }
  // The number of the frame of the assembly that a rigid body is part of.
  int frame_of_rigid(int rigid) const { return layout_.seats[static_cast<std::size_t>(rigid)].frame; }
  // Of its own frame, which is not the assembly's where it is welded to a body that moves freely.
  Pose rigid_pose(int rigid, std::span<const double> q, std::span<const double> c) const;
  // The shape of a rigid body in the axes of its own frame; empty where its scene gives it none.
  const Surface& shape(int rigid) const;
  // Whether there is a free frame or a free-floating part.
  bool moves_freely() const;
  // The skins of its parts, then the shapes of its rigid bodies, in the world: nodes for coordinates and inputs.
  Surface surface(std::span<const double> q, std::span<const double> c) const;
  // What may touch obstacles: of rigid bodies those that move freely alone.
  std::vector<Vec3d> skin(std::span<const double> q, std::span<const double> c) const;
  // Where the nodes of a part's skin are in its own axes.
  std::vector<Vec3d> part_skin(int part, std::span<const double> q, std::span<const double> c) const;
  // What of it touches other bodies; empty where it may not.
  const PartSkin& touching_skin(int part) const { return parts_[static_cast<std::size_t>(part)].touching; }
  // Von Mises stress of the elements of its parts, one after the other (element_stress.hpp) [Pa].
  std::vector<double> stress(std::span<const double> q, std::span<const double> c) const;
  // Of a full part, with the obstacles of the whole.
  Scene part_scene(int part) const;
  // Whether all laws have an exact tangent.
  bool exact_tangent() const;
  // "finger-1: 24 modes, 180 elements".
  std::vector<std::string> part_texts() const;
  // Of everything that decides how it moves but the integrator and the time step.
  std::uint64_t fingerprint() const { return fingerprint_; }

 private:
  // What parts of one file share, and with it the cache of the processor.
  struct PartModel {
    std::shared_ptr<const FullModel> full;        // one of both
    std::shared_ptr<const ReducedModel> reduced;  // of one that is on a frame of its own, its shape
    bool touches = false;                         // may touch other bodies
    PartSkin touching;                            // empty where it may not
    bool moves_freely = false, on_frame = false;  // the latter: it brings a frame of its own
    std::vector<int> skin;                        // full: mesh nodes of its surface
    std::vector<std::array<int, 3>> triangles;
  };
  struct Part : PartModel {
    std::unique_ptr<Mechanics> mechanics;
  };
  void add_part(const PartScene& part, Assembly& assembly);
  // That of a part before this one with the same file and the same points, or null.
  const PartModel* same_model(const PartScene& part, bool touches) const;
  Scene scene_of(const PartScene& part) const;
  void build_full(const PartScene& part, PartModel& own) const;
  void read_reduced(const PartScene& part, PartModel& own) const;
  void take_implicit_factors(Robot& robot) const;
  static void refuse_carrier(const PartScene& part, bool moves_freely);
  // Where the scene has no contact distance: 0.2 % of the diagonal of the smallest body that may touch others.
  void add_surfaces(Assembly& assembly) const;
  void add_contact(Assembly& assembly) const;
  // Obstacles of the whole become those of a part's scene, for the choice of its collision points alone.
  void add_obstacles(const PartScene& part, Scene& scene) const;
  // Of a body's point, by its name in `what`: "link 'pivot'".
  Assembly::Point point(const std::string& what, const Place& place, const std::string& text) const;
  void add_effector(const BodyEffectorScene& scene, Assembly& assembly) const;
  std::vector<Assembly::Point> vectors_at(const Assembly::Point& at, const BodyEffectorScene& scene,
                                          const Assembly& assembly) const;
  // The first of the three mapped vectors of a part's orientation effector at this point, or -1.
  static int orientation_at(const Assembly::Point& at, const Assembly& assembly);
  void add_link(const LinkScene& link, Assembly& assembly) const;
  // Three rows that keep the two points of a link at one place, or a spring between them.
  static void add_ball(Assembly::Link link, const std::string& name, Assembly& assembly);
  void add_joint(const LinkScene& link, const std::vector<Assembly::Point>& points, Assembly& assembly) const;
  static ActuatorRow motor_row(const LinkScene& scene, const ConstraintRow& coordinate);
  // Coordinates and inputs of a part among those of the whole.
  std::pair<std::span<const double>, std::span<const double>> own_values(std::size_t part, std::span<const double> q,
                                                                         std::span<const double> c) const;

  AssemblyScene scene_;
  std::vector<std::optional<RigidSolid>> solids_;  // of the rigid bodies
  RigidLayout layout_;
  TouchingBodies touching_;
  std::vector<Part> parts_;
  std::unique_ptr<AssemblyMechanics> mechanics_;
  std::uint64_t fingerprint_ = 0;
};

}  // namespace supple
