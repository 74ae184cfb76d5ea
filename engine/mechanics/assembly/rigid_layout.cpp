#include "engine/mechanics/assembly/rigid_layout.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "kernels/base/error.hpp"
#include "kernels/base/extent.hpp"

namespace supple {

namespace {

// In the world at rest. `carrier`: the pose of what carries the body, `rest` its own.
std::vector<MotionInput> motions_of(const RigidScene& rigid, const Pose& carrier, const Pose& rest) {
  std::vector<MotionInput> motions;
  for (const MotionScene& scene : rigid.motions) {
    MotionInput motion{scene.name, carrier.rotation * scene.direction, scene.range, true};
    motion.rotation = scene.kind == MotionKind::rotation;
    if (motion.rotation) motion.centre = rest(scene.centre);
    motions.push_back(motion);
  }
  return motions;
}

class Layout {
 public:
  Layout(const AssemblyScene& scene, const std::vector<std::optional<RigidSolid>>& solids)
      : scene_(scene), solids_(solids), seated_(scene.rigids.size(), 0) {
    out_.seats.resize(scene.rigids.size());
    out_.frames.push_back(
        {.name = "world", .pose = {}, .hold = Assembly::Hold::fixed, .inertia = {}, .motions = {}, .carrier = -1});
    for (int r = 0; r < static_cast<int>(scene.rigids.size()); ++r) seat(r);
  }
  RigidLayout take() { return std::move(out_); }

 private:
  RigidInertia inertia(int r) const {
    const std::optional<RigidSolid>& solid = solids_[extent(r)];
    return solid ? solid->inertia : RigidInertia{};
  }

  int carrier_of(int r) {
    const RigidScene& rigid = scene_.rigids[extent(r)];
    if (rigid.on.empty()) return -1;
    const int carrier = find_rigid(scene_, rigid.on);
    if (carrier < 0)
      throw InputError(
          fmt::format("rigid body '{}' is on '{}', which is no rigid body of the scene", rigid.name, rigid.on),
          fmt::format("[[rigid]] with name = \"{}\"", rigid.on), rigid.place);
    if (seated_[extent(carrier)] == 1)
      throw InputError(fmt::format("rigid body '{}' is on '{}', which it carries itself", rigid.name, rigid.on),
                       "one of them without `on`: held, driven or free", rigid.place);
    seat(carrier);
    return carrier;
  }

  void seat(int r) {
    if (seated_[extent(r)] != 0) return;
    seated_[extent(r)] = 1;
    const RigidScene& rigid = scene_.rigids[extent(r)];
    const int carrier = carrier_of(r);
    const RigidLayout::Seat on = carrier < 0 ? RigidLayout::Seat{} : out_.seats[extent(carrier)];
    const Pose own = pose_in(rigid.translation, rigid.rotation);
    RigidLayout::Seat& seat = out_.seats[extent(r)];
    seat.rest = on.rest * own;
    const bool driven = !rigid.motions.empty(), welded = carrier >= 0 && !driven;
    seat.welded_to = welded ? on.welded_to : r;
    if (on.free && driven)
      throw InputError(
          fmt::format("rigid body '{}' has motions on '{}', which moves freely (prescribed motions relative to a free "
                      "body are not supported)",
                      rigid.name, rigid.on),
          "[[link]] with type = \"joint\" between them, or a carrier that is held or driven",
          rigid.motions.front().place);
    seat.free = welded ? on.free : !driven && !rigid.held;
    seat.moves = seat.free || driven || on.moves;
    if (welded && on.free) {
      seat.frame = on.frame;
      seat.offset = on.offset * own;
      RigidInertia& whole = out_.frames[extent(on.frame)].inertia;
      if (const RigidInertia more = inertia(r); more.mass > 0) whole = whole + seen_from(seat.offset, more);
    } else {
      Assembly::Frame frame;
      frame.name = rigid.name;
      frame.pose = seat.rest;
      frame.hold = driven ? Assembly::Hold::driven : seat.free ? Assembly::Hold::free : Assembly::Hold::fixed;
      if (seat.free) frame.inertia = inertia(r);
      frame.motions = motions_of(rigid, on.rest, seat.rest);
      frame.carrier = carrier < 0 ? -1 : on.frame;
      seat.frame = static_cast<int>(out_.frames.size());
      out_.frames.push_back(std::move(frame));
    }
    seated_[extent(r)] = 2;
  }

  const AssemblyScene& scene_;
  const std::vector<std::optional<RigidSolid>>& solids_;
  std::vector<char> seated_;  // 0: not yet; 1: its carrier is looked for; 2: done
  RigidLayout out_;
};

}  // namespace

RigidLayout lay_out_rigids(const AssemblyScene& scene, const std::vector<std::optional<RigidSolid>>& solids) {
  return Layout(scene, solids).take();
}

int find_rigid(const AssemblyScene& scene, const std::string& name) {
  const auto found = std::ranges::find(scene.rigids, name, &RigidScene::name);
  return found == scene.rigids.end() ? -1 : static_cast<int>(found - scene.rigids.begin());
}

Pose pose_in(const Vec3d& translation, const Vec3d& rotation) {
  return {translation, rotation_matrix({.rotation = rotation})};
}

}  // namespace supple
