#pragma once
// The rows of a contact, for one robot on the host (engine/step/contact_stage.hpp) and for batches on a device
// (contact_ops.hpp): when a pair of a collision point and an obstacle needs rows, and what they are. With gap g and
// normal n at the place x of the point, or where a motion m would bring it, and slip s since the step began:
//   phi = (g(x + m) - n . m - distance, t_1 . s, t_2 . s),   d phi/dx = (n, t_1, t_2)

#include <cmath>

#include "kernels/contact/proximity.hpp"

namespace supple {

// A pair further below its distance than this [m] gets rows; rounding of a position is 1e-17.
inline constexpr double deepest_idle = 1e-12;
// Further rows of a pair are for where it would end deeper than this [m], and so many it may have.
inline constexpr double deepest_cut = 1e-9;
inline constexpr int most_rows = 4;

struct PairRows {
  Mat3d frame;  // rows n, t_1, t_2
  Vec3d phi;    // m
};

// near: gap and normal at x + m.
template <class Near>
SUPPLE_HD inline PairRows rows_of_pair(const Near& near, const Vec3d& moved, const Vec3d& slip, double distance) {
  PairRows rows{frame_on(near.normal), {}};
  rows.phi = rows.frame * slip;
  rows.phi[0] = near.gap - dot(near.normal, moved) - distance;
  return rows;
}

struct PairNeed {
  enum class Rows { none, at_its_place, where_it_ends } rows = Rows::none;
  double depth = 0;  // none: how far it would end below its distance [m], where that is known
};

// What a pair that has so many rows needs for the motion `move` of its point from `from`. near(x, far): anything with
// gap and normal at x; a gap of HUGE_VAL if it is beyond `far`.
template <class Near>
SUPPLE_HD inline PairNeed need_of_pair(const Near& near, bool plane, int rows, const Vec3d& from, const Vec3d& move,
                                       double distance) {
  if (rows == 0) {
    const auto here = near(from, distance + norm(move));
    if (!(here.gap < HUGE_VAL)) return {};
    if (here.gap + dot(here.normal, move) - distance < -deepest_idle) return {PairNeed::Rows::at_its_place, 0};
  }
  if (plane) return {};
  const double depth = distance - near(from + move, distance).gap;
  if (depth > deepest_cut && rows < most_rows) return {PairNeed::Rows::where_it_ends, 0};
  return {PairNeed::Rows::none, depth};
}

}  // namespace supple
