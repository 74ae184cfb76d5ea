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
    if (part.turns) continue;  // see evaluate_forces
    const Mat3d& turned = now_.poses[extent(body.frame)].rotation;
    const std::span<double> own = p.subspan(extent(part.v), extent(part.nv));
    if (std::ranges::equal((turned * body.place.rotation).m, Mat3d::identity().m) &&
        body.mechanics->robot().gravity == robot_.gravity) {
      body.mechanics->external_forces(own);
      continue;
    }
    const Vec3d gravity = transpose(turned) * robot_.gravity;
    for (std::size_t j = 0; j < own.size(); ++j) own[j] = dot(vector_at(part.inertia.translation(), 3 * j), gravity);
  }
  for (const int f : free_frames_) add(p, extent(frames_[extent(f)].v), frames_[extent(f)].total.mass * robot_.gravity);
  for (std::size_t k = 0; k < assembly_.masses.size(); ++k)
    if (assembly_.masses[k].point.body >= 0)
      add_point_force(first_mass_ + static_cast<int>(k), assembly_.masses[k].mass * robot_.gravity, p);
}

void AssemblyMechanics::evaluate_forces(std::span<const double> q, std::span<const double> c, TangentKind kind,
                                        std::span<double> f, std::span<PointReport> found) {
  place(q, c, now_);
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
  // Weight in the frames' axes: about the origin of those that are free, and on the bodies' coordinates.
  const auto gravity_in = [&](int frame) { return transpose(now_.poses[extent(frame)].rotation) * robot_.gravity; };
  for (const int frame : free_frames_) {
    const auto v = extent(frames_[extent(frame)].v);
    const Vec3d turn = cross(now_.moments[extent(frame)], gravity_in(frame));
    for (std::size_t k = 0; k < 6; ++k) f[v + k] = k < 3 ? 0 : -turn[static_cast<int>(k - 3)];
  }
  for (std::size_t b = 0; b < parts_.size(); ++b) {
    if (!parts_[b].turns) continue;
    const Vec3d gravity = gravity_in(assembly_.bodies[b].frame);
    for (std::size_t j = 0; j < extent(parts_[b].nv); ++j) {
      const double weight = dot(vector_at(parts_[b].inertia.translation(), 3 * j), gravity);
      f[extent(parts_[b].v) + j] -= weight;
      scale += weight * weight;
    }
  }
  report.force_scale = std::sqrt(scale);
  found[0] = report;
}

double AssemblyMechanics::turn_step(int, std::span<const double> q, std::span<const double> c,
                                    std::span<const double> dc, std::span<double> dq) {
  const std::vector<double> whole(dq.begin(), dq.end());
  std::vector<double> inputs(dc.begin(), dc.end());
  double share = 1;
  const auto turn_bodies = [&] {
    for (std::size_t b = 0; b < parts_.size(); ++b) {
      const Part& part = parts_[b];
      const auto own = [&](std::span<const double> x) { return x.subspan(extent(part.motion), extent(part.motions)); };
      share = std::min(
          share, assembly_.bodies[b].mechanics->turn_step(0, q.subspan(extent(part.v), extent(part.nv)), own(c),
                                                          own(inputs), dq.subspan(extent(part.v), extent(part.nv))));
    }
  };
  turn_bodies();
  if (share == 1) return 1;
  // All of them by the share of the one that turns farthest.
  const double all = share;
  for (std::size_t i = 0; i < dq.size(); ++i) dq[i] = all * whole[i];
  for (double& x : inputs) x *= all;
  turn_bodies();
  return all;
}

void AssemblyMechanics::begin_viscous_step(double h, std::span<const double> viscous) {
  for (const Assembly::Body& body : assembly_.bodies) {
    const auto own = extent(body.mechanics->robot().viscous);
    body.mechanics->begin_viscous_step(h, viscous.first(own));
    viscous = viscous.subspan(own);
  }
}

void AssemblyMechanics::end_viscous_step(double h, std::span<const double> q, std::span<const double> c,
                                         std::span<const unsigned char> moved, std::span<double> viscous) {
  for (std::size_t b = 0; b < parts_.size(); ++b) {
    const Part& part = parts_[b];
    Mechanics& body = *assembly_.bodies[b].mechanics;
    const auto own = extent(body.robot().viscous);
    body.end_viscous_step(h, q.subspan(extent(part.v), extent(part.nv)),
                          c.subspan(extent(part.motion), extent(part.motions)), moved, viscous.first(own));
    viscous = viscous.subspan(own);
  }
}

void AssemblyMechanics::inertia(std::span<const double> v, std::span<const double> v_c, std::span<double> out) const {
  for (std::size_t b = 0; b < parts_.size(); ++b) {
    const Part& part = parts_[b];
    assembly_.bodies[b].mechanics->inertia(v.subspan(extent(part.v), extent(part.nv)),
                                           v_c.empty() ? v_c : v_c.subspan(extent(part.motion), extent(part.motions)),
                                           out.subspan(extent(part.v), extent(part.nv)));
  }
  std::fill(out.begin() + (coordinates_.nv - rigid_velocities * static_cast<int>(free_frames_.size())), out.end(), 0.0);
  add_couplings(now_, v, v_c, 1, out);
}

// out += scale times what M has beside the blocks of the bodies: P, L about the origin, what frames give to p_j.
void AssemblyMechanics::add_couplings(const Placement& placement, std::span<const double> v,
                                      std::span<const double> v_c, double scale, std::span<double> out) const {
  for (const int frame : free_frames_) {
    const FramePart& part = frames_[extent(frame)];
    const auto first = extent(part.v);
    const Mat3d& R = placement.poses[extent(frame)].rotation;
    const Vec3d velocity = vector_at(v, first), turn = vector_at(v, first + 3), c = placement.moments[extent(frame)];
    add(out, first, scale * (part.total.mass * velocity + R * cross(turn, c)));
    add(out, first + 3, scale * (placement.inertias[extent(frame)] * turn + cross(c, transpose(R) * velocity)));
  }
  for (std::size_t b = 0; b < parts_.size(); ++b) {
    const Part& part = parts_[b];
    const int frame = assembly_.bodies[b].frame;
    const bool unmoved = frames_[extent(frame)].v < 0 && (frames_[extent(frame)].motions.empty() || v_c.empty());
    if (unmoved) continue;
    const Mat3d& R = placement.poses[extent(frame)].rotation;
    const Twist twist = twist_of(frame, placement, v, v_c);
    const Vec3d velocity = transpose(R) * twist.velocity;
    const std::span<const double> translation = part.inertia.translation();
    for (std::size_t j = 0; j < extent(part.nv); ++j)
      out[extent(part.v) + j] += scale * dot(vector_at(translation, 3 * j), velocity);
    if (!part.turns) continue;
    const std::span<const double> rotation = placement.bodies[b].rotation;
    for (std::size_t j = 0; j < extent(part.nv); ++j)
      out[extent(part.v) + j] += scale * dot(vector_at(rotation, 3 * j), twist.turn);
    if (!free(frame)) continue;
    Vec3d momentum{{0, 0, 0}}, angular{{0, 0, 0}};
    for (std::size_t j = 0; j < extent(part.nv); ++j) {
      const double rate = v[extent(part.v) + j];
      momentum = momentum + rate * vector_at(translation, 3 * j);
      angular = angular + rate * vector_at(rotation, 3 * j);
    }
    const auto first = extent(frames_[extent(frame)].v);
    add(out, first, scale * (R * momentum));
    add(out, first + 3, scale * angular);
  }
  for (std::size_t k = 0; k < assembly_.masses.size(); ++k) {
    const Assembly::Mass& mass = assembly_.masses[k];
    if (mass.point.body < 0) continue;
    const int point = first_mass_ + static_cast<int>(k), frame = frame_of(mass.point);
    Vec3d rate = point_rate(point, v);
    if (!v_c.empty())
      for (const int m : frames_[extent(frame)].motions) rate = rate + v_c[extent(m)] * motion(m).direction;
    add_point_force(point, scale * mass.mass * rate, out);
  }
}

// out_j -= scale sum m (Omega x (w - V)) . phi_j.
void AssemblyMechanics::add_apparent_forces(const Placement& placement, std::span<const double> v,
                                            std::span<const double> v_c, double scale, std::span<double> out) const {
  for (std::size_t b = 0; b < parts_.size(); ++b) {
    const Part& part = parts_[b];
    if (!part.turns) continue;
    part.inertia.add_apparent_forces(placement.bodies[b], twist_of(assembly_.bodies[b].frame, placement, v, v_c).turn,
                                     v.subspan(extent(part.v), extent(part.nv)), scale,
                                     out.subspan(extent(part.v), extent(part.nv)));
  }
}

void AssemblyMechanics::add_turning(const StepMotion& step, std::span<double> out) const {
  place(step.q, step.c, start_);
  q_end_.assign(step.q.begin(), step.q.end());
  coordinates_.integrate(q_end_.data(), step.u.data());
  place(q_end_, step.c_end, end_);
  sum_.assign(extent(coordinates_.nv), 0.0);
  add_couplings(start_, step.v, step.v_c, 1, sum_);
  // From the axes and the centre of mass of the start to those of the end.
  for (const int frame : free_frames_) {
    const FramePart& part = frames_[extent(frame)];
    const auto first = extent(part.v);
    const Mat3d &R = start_.poses[extent(frame)].rotation, &R_end = end_.poses[extent(frame)].rotation;
    const double share = 1 / part.total.mass;
    const Vec3d P = vector_at(sum_, first), L = vector_at(sum_, first + 3);
    const Vec3d about_centre = L - cross(share * start_.moments[extent(frame)], transpose(R) * P);
    const Vec3d L_end =
        transpose(R_end) * (R * about_centre) + cross(share * end_.moments[extent(frame)], transpose(R_end) * P);
    std::copy_n(L_end.v, 3, sum_.data() + first + 3);
    // Torques of the start are in its axes.
    if (step.start_force.empty()) continue;
    const Vec3d torque = vector_at(step.start_force, first + 3);
    add(sum_, first + 3, step.time_step * (transpose(R_end) * (R * torque) - torque));
  }
  // V is compared in the world: a velocity that all have in common changes nothing.
  for (std::size_t b = 0; b < parts_.size(); ++b) {
    if (!parts_[b].turns) continue;
    const int frame = assembly_.bodies[b].frame;
    const Vec3d V = twist_of(frame, start_, step.v, step.v_c).velocity,
                change = transpose(end_.poses[extent(frame)].rotation) * V -
                         transpose(start_.poses[extent(frame)].rotation) * V;
    for (std::size_t j = 0; j < extent(parts_[b].nv); ++j)
      sum_[extent(parts_[b].v) + j] += dot(vector_at(parts_[b].inertia.translation(), 3 * j), change);
  }
  add_couplings(end_, step.v, step.v_c, -1, sum_);
  brought_ = sum_;
  const double h = step.time_step;
  add_apparent_forces(end_, step.v_end, step.v_c_end, h * step.alpha, sum_);
  if (step.alpha != 1) add_apparent_forces(start_, step.v, step.v_c, h * (1 - step.alpha), sum_);
  for (std::size_t k = 0; k < sum_.size(); ++k) out[k] += sum_[k];
}

void AssemblyMechanics::damping(std::span<const double> v, std::span<const double> v_c, std::span<double> out) {
  std::fill(out.begin(), out.end(), 0.0);
  for (std::size_t b = 0; b < parts_.size(); ++b) {
    const Part& part = parts_[b];
    assembly_.bodies[b].mechanics->damping(v.subspan(extent(part.v), extent(part.nv)),
                                           v_c.empty() ? v_c : v_c.subspan(extent(part.motion), extent(part.motions)),
                                           out.subspan(extent(part.v), extent(part.nv)));
  }
  if (robot_.rayleigh_mass != 0) add_couplings(now_, v, v_c, robot_.rayleigh_mass, out);
}

// What the step has solved for a frame is M (v_end - v) - brought_ = h (F, T), T about the frame's origin at the start.
void AssemblyMechanics::correct_momentum(const StepMotion& step, std::span<double> v_end) const {
  if (free_frames_.empty()) return;
  std::vector<double>& impulse = impulse_;
  impulse.assign(brought_.size(), 0.0);
  q_end_.assign(v_end.begin(), v_end.end());
  for (std::size_t k = 0; k < v_end.size(); ++k) q_end_[k] -= step.v[k];
  add_couplings(now_, q_end_, {}, 1, impulse);
  for (std::size_t k = 0; k < impulse.size(); ++k) impulse[k] -= brought_[k];
  place(step.q, step.c, start_);
  sum_.assign(impulse.size(), 0.0);
  add_couplings(start_, step.v, step.v_c, 1, sum_);
  q_end_.assign(step.q.begin(), step.q.end());
  coordinates_.integrate(q_end_.data(), step.u.data());
  place(q_end_, step.c_end, end_);
  momentum_.assign(impulse.size(), 0.0);
  add_couplings(end_, v_end, step.v_c_end, 1, momentum_);
  for (const int frame : free_frames_) {
    const std::size_t f = extent(frame);
    const auto first = extent(frames_[f].v);
    const double share = 1 / frames_[f].total.mass;
    const Mat3d &R = start_.poses[f].rotation, &R_end = end_.poses[f].rotation;
    const Vec3d &c = start_.moments[f], &c_end = end_.moments[f];
    const Vec3d P = vector_at(sum_, first) + vector_at(impulse, first), P_now = vector_at(momentum_, first);
    // About the centre of mass.
    const Vec3d L = vector_at(sum_, first + 3) + vector_at(impulse, first + 3) - cross(share * c, transpose(R) * P);
    const Vec3d L_now = vector_at(momentum_, first + 3) - cross(share * c_end, transpose(R_end) * P_now);
    const Vec3d turn = inverse(end_.inertias[f] - point_inertia(share, c_end)) * (transpose(R_end) * (R * L) - L_now);
    add(v_end, first, share * (P - P_now - R_end * cross(turn, c_end)));
    add(v_end, first + 3, turn);
  }
}

std::pair<Vec3d, Vec3d> AssemblyMechanics::momentum(std::span<const double> q, std::span<const double> v) const {
  const std::vector<double> still(robot_.motions.size(), 0.0);
  place(q, still, start_);
  sum_.assign(extent(coordinates_.nv), 0.0);
  add_couplings(start_, v, {}, 1, sum_);
  Vec3d linear{{0, 0, 0}}, angular{{0, 0, 0}};
  for (const int frame : free_frames_) {
    const auto first = extent(frames_[extent(frame)].v);
    const Pose& pose = start_.poses[extent(frame)];
    const Vec3d P = vector_at(sum_, first);
    linear = linear + P;
    angular = angular + cross(pose.position, P) + pose.rotation * vector_at(sum_, first + 3);
  }
  return {linear, angular};
}

Vec3d AssemblyMechanics::centre_of_mass(std::span<const double> q) const {
  const std::vector<double> still(robot_.motions.size(), 0.0);
  place(q, still, start_);
  double mass = 0;
  Vec3d moment{{0, 0, 0}};
  for (const int frame : free_frames_) {
    const double own = frames_[extent(frame)].total.mass;
    const Pose& pose = start_.poses[extent(frame)];
    mass += own;
    moment = moment + own * pose.position + pose.rotation * start_.moments[extent(frame)];
  }
  return (1 / mass) * moment;
}

double AssemblyMechanics::kinetic_energy(std::span<const double> q, std::span<const double> v) const {
  const std::vector<double> still(robot_.motions.size(), 0.0);
  place(q, still, start_);
  sum_.assign(extent(coordinates_.nv), 0.0);
  for (std::size_t b = 0; b < parts_.size(); ++b)
    assembly_.bodies[b].mechanics->inertia(v.subspan(extent(parts_[b].v), extent(parts_[b].nv)), {},
                                           std::span(sum_).subspan(extent(parts_[b].v), extent(parts_[b].nv)));
  add_couplings(start_, v, {}, 1, sum_);
  double twice = 0;
  for (std::size_t k = 0; k < sum_.size(); ++k) twice += v[k] * sum_[k];
  return twice / 2;
}

}  // namespace supple
