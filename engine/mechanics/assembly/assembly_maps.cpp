// The maps of an assembly: where its points are, their Jacobians and transposes.

#include <algorithm>
#include <cmath>

#include "engine/mechanics/assembly/array_vectors.hpp"
#include "engine/mechanics/assembly/assembly.hpp"
#include "kernels/base/contract.hpp"
#include "kernels/base/extent.hpp"

namespace supple {

// The product of the motions' exponentials (R. Brockett, 1984): each is carried by those before it.
template <class Visit>
Pose AssemblyMechanics::visit_motions(int frame, std::span<const double> c, const Visit& visit) const {
  Pose moved;
  for (const int m : frames_[extent(frame)].motions) {
    const MotionInput& by = motion(m);
    visit(m, moved.rotation * by.direction, moved(by.centre));
    const double value = c[extent(m)];
    if (by.rotation) {
      const Mat3d turn = rotation_exp(value * by.direction);
      moved = moved * Pose{by.centre - turn * by.centre, turn};
    } else {
      moved.position = moved.position + moved.rotation * (value * by.direction);
    }
  }
  return moved;
}

template <class Visit>
void AssemblyMechanics::visit_rates(int frame, const Vec3d& point, bool vector, const Visit& visit) const {
  (void)visit_motions(frame, now_.inputs, [&](int m, const Vec3d& direction, const Vec3d& centre) {
    if (motion(m).rotation)
      visit(m, cross(direction, vector ? point : point - centre));
    else if (!vector)
      visit(m, direction);
  });
}

Pose AssemblyMechanics::block_pose(int frame, std::span<const double> q, std::span<const double> c) const {
  const FramePart& part = frames_[extent(frame)];
  const Pose& rest = assembly_.frames[extent(frame)].pose;
  if (part.v >= 0) return pose_of(q.data() + part.q);
  if (part.motions.empty()) return rest;
  return visit_motions(frame, c, [](int, const Vec3d&, const Vec3d&) {}) * rest;
}

Pose AssemblyMechanics::frame_pose(int frame, std::span<const double> q, std::span<const double> c) const {
  return block_pose(frame, q, c) * Pose{-1.0 * frames_[extent(frame)].origin, Mat3d::identity()};
}

Pose AssemblyMechanics::body_pose(int body, std::span<const double> q, std::span<const double> c) const {
  return frame_pose(assembly_.bodies[extent(body)].frame, q, c) * assembly_.bodies[extent(body)].place;
}

void AssemblyMechanics::set_poses(std::span<const double> q, std::span<const double> c, Placement& placement) const {
  placement.inputs.assign(c.begin(), c.end());
  placement.poses.resize(frames_.size());
  for (std::size_t f = 0; f < frames_.size(); ++f) placement.poses[f] = block_pose(static_cast<int>(f), q, c);
}

void AssemblyMechanics::place(std::span<const double> q, std::span<const double> c, Placement& placement) const {
  set_poses(q, c, placement);
  if (!turns_) return;
  // Moments of the bodies depend on their coordinates alone, which a step asks for more than once.
  if (!std::ranges::equal(q, moments_at_)) find_moments(q);
  placement.bodies = moments_.bodies;
  placement.moments = moments_.moments;
  placement.inertias = moments_.inertias;
}

void AssemblyMechanics::find_moments(std::span<const double> q) const {
  moments_at_.assign(q.begin(), q.end());
  Placement& placement = moments_;
  placement.bodies.resize(parts_.size());
  placement.moments.assign(frames_.size(), {{0, 0, 0}});
  placement.inertias.resize(frames_.size());
  for (const int f : free_frames_) placement.inertias[extent(f)] = frames_[extent(f)].total.inertia;
  for (std::size_t b = 0; b < parts_.size(); ++b) {
    const Part& part = parts_[b];
    if (!part.turns) continue;
    CarriedInertia::At& at = placement.bodies[b];
    part.inertia.evaluate(q.subspan(extent(part.v), extent(part.nv)), at);
    const std::size_t f = extent(assembly_.bodies[b].frame);
    if (frames_[f].v < 0) continue;
    placement.moments[f] = placement.moments[f] + at.moment;
    placement.inertias[f] = placement.inertias[f] + trace(at.second) * Mat3d::identity() - at.second;
  }
}

// A_c [motions][nv] += factor times what the rotations of frames change of the forces: weight turns against the frame,
// d(R^T g) = R^T (g x a) for a turn about a.
void AssemblyMechanics::add_turned_weight(double factor, std::span<double> A_c) const {
  for (std::size_t f = 0; f < frames_.size(); ++f)
    (void)visit_motions(static_cast<int>(f), now_.inputs, [&](int m, const Vec3d& direction, const Vec3d&) {
      if (!motion(m).rotation) return;
      const Vec3d change = transpose(now_.poses[f].rotation) * cross(robot_.gravity, direction);
      const std::span<double> column = A_c.subspan(extent(m, coordinates_.nv), extent(coordinates_.nv));
      for (std::size_t b = 0; b < parts_.size(); ++b) {
        if (extent(assembly_.bodies[b].frame) != f) continue;
        for (std::size_t j = 0; j < extent(parts_[b].nv); ++j)
          column[extent(parts_[b].v) + j] -= factor * dot(vector_at(parts_[b].inertia.translation(), 3 * j), change);
      }
    });
}

AssemblyMechanics::Twist AssemblyMechanics::twist_of(int frame, const Placement& placement, std::span<const double> v,
                                                     std::span<const double> v_c) const {
  const FramePart& part = frames_[extent(frame)];
  if (part.v >= 0) return {vector_at(v, extent(part.v)), vector_at(v, extent(part.v) + 3)};
  Twist twist;
  if (part.motions.empty() || v_c.empty()) return twist;
  const Pose& pose = placement.poses[extent(frame)];
  // Axes are those of the inputs that the placement has.
  (void)visit_motions(frame, placement.inputs, [&](int m, const Vec3d& direction, const Vec3d& centre) {
    const double rate = v_c[extent(m)];
    if (motion(m).rotation) {
      twist.velocity = twist.velocity + rate * cross(direction, pose.position - centre);
      twist.turn = twist.turn + rate * (transpose(pose.rotation) * direction);
    } else {
      twist.velocity = twist.velocity + rate * direction;
    }
  });
  return twist;
}

int AssemblyMechanics::frame_of(const Assembly::Point& point) const {
  return point.frame >= 0 ? point.frame : assembly_.bodies[extent(point.body)].frame;
}

Mat3d AssemblyMechanics::axes(int body) const {
  const Assembly::Body& description = assembly_.bodies[extent(body)];
  return now_.poses[extent(description.frame)].rotation * description.place.rotation;
}

// A point in the world, from the origin of its frame's block, in that frame's axes.
Vec3d AssemblyMechanics::in_frame(const Assembly::Point& at, std::span<const double> own_y) const {
  const Vec3d& origin = frames_[extent(frame_of(at))].origin;
  if (at.frame >= 0) return at.vector ? at.position : at.position - origin;
  const Assembly::Body& body = assembly_.bodies[extent(at.body)];
  const Vec3d own = vector_at(own_y, extent(3, parts_[extent(at.body)].point + at.output));
  return at.vector ? body.place.rotation * own : body.place(own) - origin;
}

// Where the mapped points are; own_y: as the bodies have theirs.
void AssemblyMechanics::map_points(std::span<const double> q, std::span<const double> c, const std::vector<Pose>& poses,
                                   std::span<double> own_y, std::span<double> y) const {
  for (std::size_t b = 0; b < parts_.size(); ++b) {
    const Part& part = parts_[b];
    assembly_.bodies[b].mechanics->evaluate_outputs(q.subspan(extent(part.v), extent(part.nv)),
                                                    c.subspan(extent(part.motion), extent(part.motions)),
                                                    own_y.subspan(extent(3, part.point), extent(3, part.outputs)));
  }
  for (std::size_t p = 0; p < points_.size(); ++p) {
    double* out = y.data() + 3 * p;
    if (points_[p].own) {
      std::copy_n(own_y.data() + 3 * p, 3, out);
      continue;
    }
    const Assembly::Point& at = points_[p].at;
    const std::size_t frame = extent(frame_of(at));
    const Pose& pose = poses[frame];
    const Vec3d& origin = frames_[frame].origin;
    if (at.body < 0 || at.vector) {
      const Vec3d x = in_frame(at, own_y);
      std::copy_n((at.vector ? pose.rotation * x : pose(x)).v, 3, out);
      continue;
    }
    // The points of a body's surface follow each other.
    const Pose& place = assembly_.bodies[extent(at.body)].place;
    const double* own = own_y.data() + extent(3, parts_[extent(at.body)].point);
    for (;; ++p) {
      const Assembly::Point& one = points_[p].at;
      std::copy_n(pose(place(vector_at({own + extent(3, one.output), 3}, 0)) - origin).v, 3, y.data() + 3 * p);
      if (p + 1 == points_.size()) break;
      const MappedPoint& next = points_[p + 1];
      if (next.own || next.at.body != at.body || next.at.frame >= 0 || next.at.vector) break;
    }
  }
}

void AssemblyMechanics::evaluate_outputs(std::span<const double> q, std::span<const double> c, std::span<double> y) {
  set_poses(q, c, now_);
  own_y_.resize(y_.size());
  map_points(q, c, now_.poses, own_y_, y);
  std::ranges::copy(y, y_.begin());
}

void AssemblyMechanics::outputs_elsewhere(std::span<const double> q, std::span<const double> c, std::span<double> y) {
  elsewhere_.poses.resize(frames_.size());
  for (std::size_t f = 0; f < frames_.size(); ++f) elsewhere_.poses[f] = block_pose(static_cast<int>(f), q, c);
  elsewhere_.own_y.resize(y_.size());
  map_points(q, c, elsewhere_.poses, elsewhere_.own_y, y);
}

// f += (dy/dq)^T force at a point in the world; y as last evaluated.
void AssemblyMechanics::add_point_force(int point, const Vec3d& force, std::span<double> f) const {
  const Assembly::Point& at = world_point(point);
  if (at.body >= 0) {
    const Part& part = parts_[extent(at.body)];
    const Vec3d own = transpose(axes(at.body)) * force;
    assembly_.bodies[extent(at.body)].mechanics->add_row_forces({{at.output}, {Mat3d::identity()}}, own.v,
                                                                f.subspan(extent(part.v), extent(part.nv)));
  }
  add_frame_part(point, force, f);
}

// The part of it on the frame's velocities.
void AssemblyMechanics::add_frame_part(int point, const Vec3d& force, std::span<double> f) const {
  const Assembly::Point& at = world_point(point);
  const int frame = frame_of(at);
  if (!free(frame)) return;
  const auto v = extent(frames_[extent(frame)].v);
  if (!at.vector) add(f, v, force);
  add(f, v + 3, cross(in_frame(point), transpose(now_.poses[extent(frame)].rotation) * force));
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
  Vec3d rate{{0, 0, 0}};
  if (at.body >= 0) {
    const Part& part = parts_[extent(at.body)];
    assembly_.bodies[extent(at.body)].mechanics->multiply_rows({{at.output}, {axes(at.body)}},
                                                               v.subspan(extent(part.v), extent(part.nv)), 1, rate.v);
  }
  return rate + frame_rate(point, v);
}

// The part of it that the frame's velocities make.
Vec3d AssemblyMechanics::frame_rate(int point, std::span<const double> v) const {
  const Assembly::Point& at = world_point(point);
  const int frame = frame_of(at);
  Vec3d rate{{0, 0, 0}};
  if (!free(frame)) return rate;
  const auto first = extent(frames_[extent(frame)].v);
  if (!at.vector) rate = vector_at(v, first);
  return rate + now_.poses[extent(frame)].rotation * cross(vector_at(v, first + 3), in_frame(point));
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
      if (free(frame)) {
        const auto v = extent(frames_[extent(frame)].v);
        if (!at.vector) add(h, v, gradient);
        add(h, v + 3, cross(in_frame(first + i), transpose(now_.poses[extent(frame)].rotation) * gradient));
      } else {
        visit_rates(frame, vector_at(y_, extent(3, first + i)), at.vector,
                    [&](int m, const Vec3d& rate) { H_c[extent(row) * motions + extent(m)] += dot(gradient, rate); });
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

void AssemblyMechanics::input_rates(std::span<const int> points, std::span<double> rates) {
  std::fill(rates.begin(), rates.end(), 0.0);
  for (std::size_t p = 0; p < points.size(); ++p) {
    const int point = points[p], own = body_of_output(point);
    const auto at = [&](int m) { return 3 * (extent(m) * points.size() + p); };
    const int body = own >= 0 ? own : world_point(point).body;
    if (body >= 0 && parts_[extent(body)].motions > 0) {
      const Part& part = parts_[extent(body)];
      const int output = own >= 0 ? point - part.point : world_point(point).output;
      for (int m = 0; m < part.motions; ++m) {
        const Vec3d rate = vector_at(part.input_rates, extent(m, 3 * part.outputs) + extent(3, output));
        add(rates, at(part.motion + m), own >= 0 ? rate : axes(body) * rate);
      }
    }
    if (own >= 0) continue;
    const int frame = frame_of(world_point(point));
    if (!free(frame))
      visit_rates(frame, vector_at(y_, extent(3, point)), world_point(point).vector,
                  [&](int m, const Vec3d& rate) { add(rates, at(m), rate); });
  }
}

std::vector<AssemblyMechanics::BodyRows> AssemblyMechanics::rows_of_bodies(const PointRows& rows) const {
  std::vector<BodyRows> bodies(parts_.size());
  for (int p = 0; p < rows.points(); ++p) {
    const int point = rows.point[extent(p)], own = body_of_output(point);
    const int body = own >= 0 ? own : world_point(point).body;
    if (body < 0) continue;
    BodyRows& of = bodies[extent(body)];
    of.at.push_back(p);
    of.rows.point.push_back(own >= 0 ? point - parts_[extent(body)].point : world_point(point).output);
    of.rows.frame.push_back(own >= 0 ? rows.frame[extent(p)] : rows.frame[extent(p)] * axes(body));
  }
  return bodies;
}

void AssemblyMechanics::multiply_rows(const PointRows& rows, std::span<const double> X, int count,
                                      std::span<double> out) const {
  const std::vector<BodyRows> bodies = rows_of_bodies(rows);
  std::vector<double> values;
  for (int j = 0; j < count; ++j) {
    const std::span<const double> x = X.subspan(extent(j, coordinates_.nv), extent(coordinates_.nv));
    const std::span<double> column = out.subspan(extent(j, rows.rows()), extent(rows.rows()));
    std::fill(column.begin(), column.end(), 0.0);
    for (std::size_t b = 0; b < bodies.size(); ++b) {
      if (bodies[b].at.empty()) continue;
      values.resize(extent(bodies[b].rows.rows()));
      assembly_.bodies[b].mechanics->multiply_rows(bodies[b].rows, x.subspan(extent(parts_[b].v), extent(parts_[b].nv)),
                                                   1, values);
      for (std::size_t k = 0; k < bodies[b].at.size(); ++k)
        std::copy_n(values.data() + 3 * k, 3, column.data() + extent(3, bodies[b].at[k]));
    }
    for (int p = 0; p < rows.points(); ++p)
      if (const int point = rows.point[extent(p)]; body_of_output(point) < 0)
        add(column, extent(3, p), rows.frame[extent(p)] * frame_rate(point, x));
  }
}

void AssemblyMechanics::add_row_forces(const PointRows& rows, std::span<const double> lambda,
                                       std::span<double> f) const {
  const Vec3d none{{0, 0, 0}};
  // Contacts ask for one unit force after the other.
  PointRows loaded;
  std::vector<double> loads;
  for (int p = 0; p < rows.points(); ++p) {
    const Vec3d force = vector_at(lambda, extent(3, p));
    if (force == none) continue;
    loaded.point.push_back(rows.point[extent(p)]);
    loaded.frame.push_back(rows.frame[extent(p)]);
    loads.insert(loads.end(), force.v, force.v + 3);
  }
  const std::vector<BodyRows> bodies = rows_of_bodies(loaded);
  std::vector<double> own;
  for (std::size_t b = 0; b < bodies.size(); ++b) {
    if (bodies[b].at.empty()) continue;
    own.clear();
    for (const int p : bodies[b].at) own.insert(own.end(), loads.begin() + 3 * p, loads.begin() + 3 * p + 3);
    assembly_.bodies[b].mechanics->add_row_forces(bodies[b].rows, own,
                                                  f.subspan(extent(parts_[b].v), extent(parts_[b].nv)));
  }
  for (int p = 0; p < loaded.points(); ++p)
    if (const int point = loaded.point[extent(p)]; body_of_output(point) < 0)
      add_frame_part(point, transpose(loaded.frame[extent(p)]) * vector_at(loads, extent(3, p)), f);
}

}  // namespace supple
