#pragma once
// Bars with driven regions, for the tests of prescribed inputs: on a base that slides, between two ends that move, tied
// by springs.

#include "tests/engine/bodies/reduced_bodies.hpp"

namespace supple::driven_bodies {

enum class Drive { rigid, ends, springs };

inline std::string name_of(Drive drive) {
  return drive == Drive::rigid ? "sliding" : drive == Drive::ends ? "two_ends" : "springs";
}

inline FixScene driven(FixScene fix, const std::string& motion, const Vec3d& direction) {
  fix.motion = motion;
  fix.motion_direction = direction;
  fix.motion_range = {-0.02, 0.03};
  return fix;
}

// reduced_bodies::bar_scene whose clamp moves; `ends`: its far end too, by a motion of its own; `springs`: springs at
// the far end, which hold it in place.
inline Scene scene(Drive drive, const boxes::Law& law = {"corotational", MaterialModel::corotational}) {
  Scene scene = reduced_bodies::bar_scene(law);
  std::vector<FixScene>& fixes = scene.bodies[0].fixes;
  fixes[0] = driven(fixes[0], "base", {{0.5, 1, -2}});
  if (drive != Drive::springs) fixes.pop_back();
  if (drive == Drive::ends) {
    FixScene far;
    far.region.kind = Region::Kind::box;
    far.region.lower = {{0.295, -1, -1}};
    far.region.upper = {{1, 1, 1}};
    fixes.push_back(driven(far, "far", {{-1, 0.3, 0.2}}));
  }
  return scene;
}

// reduced_bodies::bar, its far end plane again, so that all of it is held.
inline Mesh bar(bool hexahedra) {
  Mesh mesh = reduced_bodies::bar(hexahedra);
  for (Vec3d& x : mesh.nodes)
    if (x[0] > 0.25) x[0] = 0.3;
  return mesh;
}

inline FullModel model(Drive drive, bool hexahedra = false,
                       const boxes::Law& law = {"corotational", MaterialModel::corotational}) {
  return build_full_model(scene(drive, law), bar(hexahedra));
}

// alpha + Psi_f c: unknowns of the full model for the coordinates of one with the full basis.
inline std::vector<double> lifted(const std::vector<double>& psi, const std::vector<double>& alpha,
                                  const std::vector<double>& c) {
  std::vector<double> q = alpha;
  for (std::size_t m = 0; m < c.size(); ++m)
    for (std::size_t i = 0; i < q.size(); ++i) q[i] += psi[m * q.size() + i] * c[m];
  return q;
}

}  // namespace supple::driven_bodies
