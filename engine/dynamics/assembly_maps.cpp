// The maps of an assembly: where its points are, their Jacobians and transposes, and its inertia.

#include <algorithm>
#include <cmath>

#include "engine/dynamics/assembly.hpp"
#include "kernels/base/contract.hpp"
#include "kernels/base/extent.hpp"

namespace supple {

namespace {

Vec3d vector_at(std::span<const double> x, std::size_t i) {
  return {{x[i], x[i + 1], x[i + 2]}};
}

void add(std::span<double> x, std::size_t i, const Vec3d& v) {
  for (std::size_t k = 0; k < 3; ++k) x[i + k] += v[static_cast<int>(k)];
}

}  // namespace

Pose AssemblyMechanics::block_pose(int frame, std::span<const double> q, std::span<const double> c) const {
  const FramePart& part = frames_[extent(frame)];
  const Assembly::Frame& description = assembly_.frames[extent(frame)];
  if (part.v >= 0) return pose_of(q.data() + part.q);
  Pose pose = description.pose;
  if (description.hold == Assembly::Hold::driven)
    for (std::size_t m = 0; m < description.motions.size(); ++m)
      pose.position = pose.position + c[extent(part.motion) + m] * description.motions[m].direction;
  return pose;
}

Pose AssemblyMechanics::frame_pose(int frame, std::span<const double> q, std::span<const double> c) const {
  return block_pose(frame, q, c) * Pose{-1.0 * frames_[extent(frame)].origin, Mat3d::identity()};
}

Pose AssemblyMechanics::body_pose(int body, std::span<const double> q, std::span<const double> c) const {
  return frame_pose(assembly_.bodies[extent(body)].frame, q, c) * assembly_.bodies[extent(body)].place;
}

void AssemblyMechanics::set_poses(std::span<const double> q, std::span<const double> c) {
  poses_.resize(frames_.size());
  for (std::size_t f = 0; f < frames_.size(); ++f) poses_[f] = block_pose(static_cast<int>(f), q, c);
  std::copy(q.begin(), q.end(), alpha_.begin());
}

int AssemblyMechanics::frame_of(const Assembly::Point& point) const {
  return point.frame >= 0 ? point.frame : assembly_.bodies[extent(point.body)].frame;
}

Mat3d AssemblyMechanics::axes(int body) const {
  const Assembly::Body& description = assembly_.bodies[extent(body)];
  return poses_[extent(description.frame)].rotation * description.place.rotation;
}

const Assembly::Point& AssemblyMechanics::world_point(int point) const {
  return points_[extent(point - first_world_)];
}

int AssemblyMechanics::body_of_output(int point) const {
  if (point >= first_world_) return -1;
  const auto after = std::ranges::upper_bound(parts_, point, {}, &Part::point);
  return static_cast<int>(after - parts_.begin()) - 1;
}

// A point in the world, from the origin of its frame's block, in that frame's axes.
Vec3d AssemblyMechanics::in_frame(int point) const {
  const Assembly::Point& at = world_point(point);
  const Vec3d& origin = frames_[extent(frame_of(at))].origin;
  if (at.frame >= 0) return at.position - origin;
  const Assembly::Body& body = assembly_.bodies[extent(at.body)];
  const Vec3d own = vector_at(y_, extent(3, parts_[extent(at.body)].point + at.output));
  return at.vector ? body.place.rotation * own : body.place(own) - origin;
}

void AssemblyMechanics::evaluate_outputs(std::span<const double> q, std::span<const double> c, std::span<double> y) {
  set_poses(q, c);
  for (std::size_t b = 0; b < parts_.size(); ++b) {
    const Part& part = parts_[b];
    assembly_.bodies[b].mechanics->evaluate_outputs(q.subspan(extent(part.v), extent(part.nv)),
                                                    c.subspan(extent(part.motion), extent(part.motions)),
                                                    y.subspan(extent(3, part.point), extent(3, part.outputs)));
    std::copy_n(y.data() + extent(3, part.point), extent(3, part.outputs), y_.data() + extent(3, part.point));
  }
  for (std::size_t p = 0; p < points_.size(); ++p) {
    const int point = first_world_ + static_cast<int>(p);
    const Pose& pose = poses_[extent(frame_of(points_[p]))];
    const Vec3d x = points_[p].vector ? pose.rotation * in_frame(point) : pose(in_frame(point));
    std::copy_n(x.v, 3, y.data() + extent(3, point));
    std::copy_n(x.v, 3, y_.data() + extent(3, point));
  }
}

// f += (dy/dq)^T force at a point in the world; y as last evaluated.
void AssemblyMechanics::add_point_force(int point, const Vec3d& force, std::span<double> f) const {
  const Assembly::Point& at = world_point(point);
  const int frame = frame_of(at);
  if (at.body >= 0) {
    const Part& part = parts_[extent(at.body)];
    const Vec3d own = transpose(axes(at.body)) * force;
    assembly_.bodies[extent(at.body)].mechanics->add_row_forces({{at.output}, {Mat3d::identity()}}, own.v,
                                                                f.subspan(extent(part.v), extent(part.nv)));
  }
  if (!free(frame)) return;
  const auto v = extent(frames_[extent(frame)].v);
  if (!at.vector) add(f, v, force);
  add(f, v + 3, cross(in_frame(point), transpose(poses_[extent(frame)].rotation) * force));
}

void AssemblyMechanics::add_frame_force(int frame, const Vec3d& place, const Vec3d& force, std::span<const double> q,
                                        std::span<double> f) const {
  if (!free(frame)) return;
  const FramePart& part = frames_[extent(frame)];
  const Pose pose = pose_of(q.data() + part.q);
  add(f, extent(part.v), force);
  add(f, extent(part.v) + 3, transpose(pose.rotation) * cross(place - pose.position, force));
}

// (dy/dq) v.
Vec3d AssemblyMechanics::point_rate(int point, std::span<const double> v) const {
  const Assembly::Point& at = world_point(point);
  const int frame = frame_of(at);
  Vec3d rate{{0, 0, 0}};
  if (at.body >= 0) {
    const Part& part = parts_[extent(at.body)];
    assembly_.bodies[extent(at.body)].mechanics->multiply_rows({{at.output}, {axes(at.body)}},
                                                               v.subspan(extent(part.v), extent(part.nv)), 1, rate.v);
  }
  if (!free(frame)) return rate;
  const auto first = extent(frames_[extent(frame)].v);
  if (!at.vector) rate = rate + vector_at(v, first);
  return rate + poses_[extent(frame)].rotation * cross(vector_at(v, first + 3), in_frame(point));
}

void AssemblyMechanics::row_jacobians(const RowLayout& layout, std::span<const double> gradients, std::span<double> H,
                                      std::span<double> H_c) const {
  const std::size_t nv = extent(coordinates_.nv), motions = robot_.motions.size();
  std::fill(H.begin(), H.end(), 0.0);
  std::fill(H_c.begin(), H_c.end(), 0.0);
  // What the rows have at each body's own mapped points.
  struct Pieces {
    RowLayout layout;
    std::vector<int> row;
    std::vector<double> gradients;
  };
  std::vector<Pieces> pieces(parts_.size());
  const auto add_piece = [&](int body, int row, int first, int count, const double* g) {
    Pieces& of = pieces[extent(body)];
    of.layout.add(first, count);
    of.row.push_back(row);
    of.gradients.insert(of.gradients.end(), g, g + 3 * count);
  };
  for (int row = 0; row < layout.rows(); ++row) {
    const int first = layout.first[extent(row)] / 3, count = layout.count[extent(row)] / 3;
    const double* g = gradients.data() + layout.offset[extent(row)];
    if (const int body = body_of_output(first); body >= 0) {
      add_piece(body, row, first - parts_[extent(body)].point, count, g);
      continue;
    }
    const std::span<double> h = H.subspan(extent(row) * nv, nv);
    for (int i = 0; i < count; ++i) {
      const Assembly::Point& at = world_point(first + i);
      const Vec3d gradient{{g[3 * i], g[3 * i + 1], g[3 * i + 2]}};
      if (at.body >= 0) add_piece(at.body, row, at.output, 1, (transpose(axes(at.body)) * gradient).v);
      const int frame = frame_of(at);
      const Assembly::Frame& description = assembly_.frames[extent(frame)];
      if (free(frame)) {
        const auto v = extent(frames_[extent(frame)].v);
        if (!at.vector) add(h, v, gradient);
        add(h, v + 3, cross(in_frame(first + i), transpose(poses_[extent(frame)].rotation) * gradient));
      } else if (description.hold == Assembly::Hold::driven && !at.vector) {
        for (std::size_t m = 0; m < description.motions.size(); ++m)
          H_c[extent(row) * motions + extent(frames_[extent(frame)].motion) + m] +=
              dot(gradient, description.motions[m].direction);
      }
    }
  }
  std::vector<double> own, own_c;
  for (std::size_t b = 0; b < parts_.size(); ++b) {
    const Part& part = parts_[b];
    const Pieces& of = pieces[b];
    if (of.row.empty()) continue;
    own.assign(extent(of.layout.rows(), part.nv), 0.0);
    own_c.assign(extent(of.layout.rows(), part.motions), 0.0);
    assembly_.bodies[b].mechanics->row_jacobians(of.layout, of.gradients, own, own_c);
    for (std::size_t k = 0; k < of.row.size(); ++k) {
      double* h = H.data() + extent(of.row[k]) * nv + extent(part.v);
      for (std::size_t j = 0; j < extent(part.nv); ++j) h[j] += own[k * extent(part.nv) + j];
      for (std::size_t m = 0; m < extent(part.motions); ++m)
        H_c[extent(of.row[k]) * motions + extent(part.motion) + m] += own_c[k * extent(part.motions) + m];
    }
  }
}

void AssemblyMechanics::multiply_rows(const PointRows& rows, std::span<const double> X, int count,
                                      std::span<double> out) const {
  for (int j = 0; j < count; ++j) {
    const std::span<const double> x = X.subspan(extent(j, coordinates_.nv), extent(coordinates_.nv));
    for (int p = 0; p < rows.points(); ++p) {
      const int point = rows.point[extent(p)], body = body_of_output(point);
      const Mat3d& frame = rows.frame[extent(p)];
      double* value = out.data() + extent(j, rows.rows()) + extent(3, p);
      if (body < 0) {
        const Vec3d rate = frame * point_rate(point, x);
        std::copy_n(rate.v, 3, value);
      } else {
        const Part& part = parts_[extent(body)];
        assembly_.bodies[extent(body)].mechanics->multiply_rows(
            {{point - part.point}, {frame}}, x.subspan(extent(part.v), extent(part.nv)), 1, {value, 3});
      }
    }
  }
}

void AssemblyMechanics::add_row_forces(const PointRows& rows, std::span<const double> lambda,
                                       std::span<double> f) const {
  for (int p = 0; p < rows.points(); ++p) {
    const int point = rows.point[extent(p)], body = body_of_output(point);
    const Mat3d& frame = rows.frame[extent(p)];
    if (body < 0) {
      add_point_force(point, transpose(frame) * vector_at(lambda, extent(3, p)), f);
    } else {
      const Part& part = parts_[extent(body)];
      assembly_.bodies[extent(body)].mechanics->add_row_forces(
          {{point - part.point}, {frame}}, lambda.subspan(extent(3, p), 3), f.subspan(extent(part.v), extent(part.nv)));
    }
  }
}

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

PointReport AssemblyMechanics::evaluate_forces(std::span<const double> q, std::span<const double> c, TangentKind kind,
                                               std::span<double> f) {
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
  return report;
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
