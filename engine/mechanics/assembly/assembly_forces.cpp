// Forces on an assembly, and its inertia.

#include <algorithm>
#include <cmath>

#include "engine/mechanics/assembly/array_vectors.hpp"
#include "engine/mechanics/assembly/assembly.hpp"
#include "kernels/base/extent.hpp"

namespace supple {

void AssemblyMechanics::external_forces(std::span<double> p) const {
  std::fill(p.begin(), p.end(), 0.0);
  for (std::size_t b = 0; b < parts_.size(); ++b) {
    const Part& part = parts_[b];
    const Assembly::Body& body = assembly_.bodies[b];
    if (free(body.frame)) continue;  // it turns: see evaluate_forces
    const Mat3d& turned = poses_[extent(body.frame)].rotation;
    const std::span<double> own = p.subspan(extent(part.v), extent(part.nv));
    if (std::ranges::equal((turned * body.place.rotation).m, Mat3d::identity().m) &&
        body.mechanics->robot().gravity == robot_.gravity) {
      body.mechanics->external_forces(own);
      continue;
    }
    const Vec3d gravity = transpose(turned) * robot_.gravity;
    for (std::size_t j = 0; j < own.size(); ++j) own[j] = dot(vector_at(part.translation, 3 * j), gravity);
  }
  for (const int f : free_frames_) add(p, extent(frames_[extent(f)].v), frames_[extent(f)].total.mass * robot_.gravity);
  for (std::size_t k = 0; k < assembly_.masses.size(); ++k)
    if (assembly_.masses[k].point.body >= 0)
      add_point_force(first_mass_ + static_cast<int>(k), assembly_.masses[k].mass * robot_.gravity, p);
}

// First moment of what the frame carries about its origin, beyond that at rest: sum m u, in its axes [kg m].
Vec3d AssemblyMechanics::moment_of(int frame, std::span<const double> alpha) const {
  Vec3d moment{{0, 0, 0}};
  for (std::size_t b = 0; b < parts_.size(); ++b) {
    if (assembly_.bodies[b].frame != frame) continue;
    for (std::size_t j = 0; j < extent(parts_[b].nv); ++j)
      moment = moment + alpha[extent(parts_[b].v) + j] * vector_at(parts_[b].translation, 3 * j);
  }
  return moment;
}

void AssemblyMechanics::evaluate_forces(std::span<const double> q, std::span<const double> c, TangentKind kind,
                                        std::span<double> f, std::span<PointReport> found) {
  set_poses(q, c);
  if (kind != TangentKind::none) tangent_ = kind;
  PointReport report;
  double scale = 0;
  for (std::size_t b = 0; b < parts_.size(); ++b) {
    const Part& part = parts_[b];
    const PointReport own = assembly_.bodies[b].mechanics->evaluate_forces(
        q.subspan(extent(part.v), extent(part.nv)), c.subspan(extent(part.motion), extent(part.motions)), kind,
        f.subspan(extent(part.v), extent(part.nv)));
    report.inverted += own.inverted;
    report.undefined += own.undefined;
    if (report.first_undefined < 0) report.first_undefined = own.first_undefined;
    scale += own.force_scale * own.force_scale;
  }
  for (const int frame : free_frames_) {
    const auto v = extent(frames_[extent(frame)].v);
    // Weight in the frame's axes: on the body's coordinates, and about the frame's origin.
    const Vec3d gravity = transpose(poses_[extent(frame)].rotation) * robot_.gravity;
    const Vec3d turn = cross(moment_of(frame, alpha_), gravity);
    for (std::size_t k = 0; k < 6; ++k) f[v + k] = k < 3 ? 0 : -turn[static_cast<int>(k - 3)];
    for (std::size_t b = 0; b < parts_.size(); ++b) {
      if (assembly_.bodies[b].frame != frame) continue;
      for (std::size_t j = 0; j < extent(parts_[b].nv); ++j) {
        const double weight = dot(vector_at(parts_[b].translation, 3 * j), gravity);
        f[extent(parts_[b].v) + j] -= weight;
        scale += weight * weight;
      }
    }
  }
  report.force_scale = std::sqrt(scale);
  found[0] = report;
}

void AssemblyMechanics::inertia(std::span<const double> v, std::span<const double> v_c, std::span<double> out) const {
  for (std::size_t b = 0; b < parts_.size(); ++b) {
    const Part& part = parts_[b];
    assembly_.bodies[b].mechanics->inertia(v.subspan(extent(part.v), extent(part.nv)),
                                           v_c.empty() ? v_c : v_c.subspan(extent(part.motion), extent(part.motions)),
                                           out.subspan(extent(part.v), extent(part.nv)));
  }
  std::fill(out.begin() + (coordinates_.nv - rigid_velocities * static_cast<int>(free_frames_.size())), out.end(), 0.0);
  add_couplings(v, v_c, 1, out);
}

// out += scale times what M has beside the blocks of the bodies.
void AssemblyMechanics::add_couplings(std::span<const double> v, std::span<const double> v_c, double scale,
                                      std::span<double> out) const {
  for (const int frame : free_frames_) {
    const FramePart& part = frames_[extent(frame)];
    const auto first = extent(part.v);
    const Mat3d& R = poses_[extent(frame)].rotation;
    const Vec3d velocity = vector_at(v, first), turn = vector_at(v, first + 3), c = moment_of(frame, alpha_);
    add(out, first, scale * (part.total.mass * velocity + R * cross(turn, c)));
    add(out, first + 3, scale * (part.total.inertia * turn + cross(c, transpose(R) * velocity)));
  }
  for (std::size_t b = 0; b < parts_.size(); ++b) {
    const Part& part = parts_[b];
    const int frame = assembly_.bodies[b].frame;
    const Mat3d& R = poses_[extent(frame)].rotation;
    Vec3d velocity{{0, 0, 0}};  // of the frame, in its axes
    if (free(frame)) {
      const auto first = extent(frames_[extent(frame)].v);
      velocity = transpose(R) * vector_at(v, first);
      const Vec3d turn = vector_at(v, first + 3);
      Vec3d momentum{{0, 0, 0}}, angular{{0, 0, 0}};
      for (std::size_t j = 0; j < extent(part.nv); ++j) {
        const double rate = v[extent(part.v) + j];
        momentum = momentum + rate * vector_at(part.translation, 3 * j);
        angular = angular + rate * vector_at(part.rotation, 3 * j);
        out[extent(part.v) + j] += scale * dot(vector_at(part.rotation, 3 * j), turn);
      }
      add(out, first, scale * (R * momentum));
      add(out, first + 3, scale * angular);
    } else if (assembly_.frames[extent(frame)].hold == Assembly::Hold::driven && !v_c.empty()) {
      const std::vector<MotionInput>& motions = assembly_.frames[extent(frame)].motions;
      for (std::size_t m = 0; m < motions.size(); ++m)
        velocity = velocity + v_c[extent(frames_[extent(frame)].motion) + m] * (transpose(R) * motions[m].direction);
    } else {
      continue;
    }
    for (std::size_t j = 0; j < extent(part.nv); ++j)
      out[extent(part.v) + j] += scale * dot(vector_at(part.translation, 3 * j), velocity);
  }
  for (std::size_t k = 0; k < assembly_.masses.size(); ++k) {
    const Assembly::Mass& mass = assembly_.masses[k];
    if (mass.point.body < 0) continue;
    const int point = first_mass_ + static_cast<int>(k), frame = frame_of(mass.point);
    Vec3d rate = point_rate(point, v);
    const Assembly::Frame& description = assembly_.frames[extent(frame)];
    if (description.hold == Assembly::Hold::driven && !v_c.empty())
      for (std::size_t m = 0; m < description.motions.size(); ++m)
        rate = rate + v_c[extent(frames_[extent(frame)].motion) + m] * description.motions[m].direction;
    add_point_force(point, scale * mass.mass * rate, out);
  }
}

void AssemblyMechanics::add_transport(std::span<const double> q, std::span<const double> v, std::span<const double> u,
                                      std::span<double> out) const {
  for (const int frame : free_frames_) {
    const FramePart& part = frames_[extent(frame)];
    const auto first = extent(part.v);
    Vec3d momentum{{0, 0, 0}}, angular = part.total.inertia * vector_at(v, first + 3);
    for (std::size_t b = 0; b < parts_.size(); ++b) {
      if (assembly_.bodies[b].frame != frame) continue;
      for (std::size_t j = 0; j < extent(parts_[b].nv); ++j) {
        const double rate = v[extent(parts_[b].v) + j];
        momentum = momentum + rate * vector_at(parts_[b].translation, 3 * j);
        angular = angular + rate * vector_at(parts_[b].rotation, 3 * j);
      }
    }
    const Mat3d start = pose_of(q.data() + part.q).rotation, turn = rotation_exp(vector_at(u, first + 3));
    const Vec3d rate = vector_at(v, first + 3);
    const Vec3d before = momentum + cross(rate, moment_of(frame, q)),
                after = momentum + cross(rate, moment_of(frame, alpha_));
    // Of the angular momentum c x V only c x V' is left: c' x V is what the turn about a moving point adds, -V x P.
    add(out, first, start * (before - turn * after));
    add(out, first + 3, transpose(turn) * angular - angular);
  }
}

void AssemblyMechanics::damping(std::span<const double> v, std::span<const double> v_c, std::span<double> out) {
  std::fill(out.begin(), out.end(), 0.0);
  for (std::size_t b = 0; b < parts_.size(); ++b) {
    const Part& part = parts_[b];
    assembly_.bodies[b].mechanics->damping(v.subspan(extent(part.v), extent(part.nv)),
                                           v_c.empty() ? v_c : v_c.subspan(extent(part.motion), extent(part.motions)),
                                           out.subspan(extent(part.v), extent(part.nv)));
  }
  if (robot_.rayleigh_mass != 0) add_couplings(v, v_c, robot_.rayleigh_mass, out);
}

std::pair<Vec3d, Vec3d> AssemblyMechanics::frame_momentum(std::span<const double> q, std::span<const double> v) const {
  Vec3d linear{{0, 0, 0}}, angular{{0, 0, 0}};
  for (const int frame : free_frames_) {
    const FramePart& part = frames_[extent(frame)];
    const Pose pose = pose_of(q.data() + part.q);
    const Vec3d momentum = part.total.mass * vector_at(v, extent(part.v));
    linear = linear + momentum;
    angular = angular + cross(pose.position, momentum) +
              pose.rotation * (part.total.inertia * vector_at(v, extent(part.v) + 3));
  }
  return {linear, angular};
}

}  // namespace supple
