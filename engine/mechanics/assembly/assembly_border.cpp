// The system matrix of an assembly: blocks of the bodies, a border of the frames and of what couples points
// (assembly.hpp).

#include <algorithm>
#include <cmath>

#include "engine/mechanics/assembly/array_vectors.hpp"
#include "engine/mechanics/assembly/assembly.hpp"
#include "kernels/base/contract.hpp"
#include "kernels/base/extent.hpp"
#include "solvers/dense/symmetric_factor.hpp"

namespace supple {

// Unknowns: six of every free frame, then three of w of every coupled point, then three of its mu.
struct AssemblyMechanics::Border {
  int size = 0, first_mu = 0;
  std::vector<int> slot;  // of a point in the world: its place among the coupled ones, or -1
  std::vector<int> coupled;
  std::vector<PointStiffness> stiffness;
  std::vector<double> E, scale;  // size x size, lower triangle; scaled to entries of about one, then factored
  std::vector<int> pivots;
  struct Columns {
    std::vector<int> index;    // unknowns of the border that the body's equations see
    std::vector<double> C, Z;  // [index][nv]: these columns, and D^-1 times them
  };
  std::vector<Columns> bodies;
  std::vector<double> work, own;
  std::vector<int> sides;  // right sides that are not zero in a body

  void add(int i, int j, double value) { E[extent(std::max(i, j), size) + extent(std::min(i, j))] += value; }
  // Column of an unknown in a body's equations.
  std::span<double> column(int body, int unknown, int nv) {
    Columns& of = bodies[extent(body)];
    auto at = std::ranges::find(of.index, unknown);
    if (at == of.index.end()) {
      of.index.push_back(unknown);
      of.C.resize(of.C.size() + extent(nv), 0.0);
      at = of.index.end() - 1;
    }
    return std::span(of.C).subspan(extent(static_cast<int>(at - of.index.begin()), nv), extent(nv));
  }
};

namespace {

// Of hard links in statics [N/m].
constexpr double link_stiffness_in_statics = 1e4;
// Of the stiffness of a frame in statics: what is added, for directions that are free.
constexpr double neutral = 1e-10;

// Symmetric scaling d E d to rows of largest entry one, or nearly.
void equilibrate(int n, std::vector<double>& E, std::vector<double>& d) {
  d.assign(extent(n), 1.0);
  std::vector<double> largest(extent(n));
  for (int round = 0; round < 4; ++round) {
    std::fill(largest.begin(), largest.end(), 0.0);
    for (int i = 0; i < n; ++i)
      for (int j = 0; j <= i; ++j) {
        const double size = std::abs(E[extent(i, n) + extent(j)]);
        largest[extent(i)] = std::max(largest[extent(i)], size);
        largest[extent(j)] = std::max(largest[extent(j)], size);
      }
    for (int i = 0; i < n; ++i) largest[extent(i)] = largest[extent(i)] > 0 ? 1 / std::sqrt(largest[extent(i)]) : 1;
    for (int i = 0; i < n; ++i) {
      d[extent(i)] *= largest[extent(i)];
      for (int j = 0; j <= i; ++j) E[extent(i, n) + extent(j)] *= largest[extent(i)] * largest[extent(j)];
    }
  }
}

}  // namespace

bool AssemblyMechanics::stiffens_body_alone(const PointStiffness& at) const {
  if (at.i != at.j || at.i < robot_.first_collision_point || robot_.collision_points == 0) return false;
  const Assembly::Point& point = world_point(at.i);
  return point.body >= 0 && !free(frame_of(point));
}

void AssemblyMechanics::factor(const SystemCoefficients& coefficients, std::span<const double> y,
                               std::span<const double> multipliers, std::span<SystemReport> found) {
  found[0] = factor_system(coefficients, y, multipliers);
}

SystemReport AssemblyMechanics::factor_system(const SystemCoefficients& coefficients, std::span<const double> y,
                                              std::span<const double> multipliers) {
  SUPPLE_EXPECT(tangent_ != TangentKind::none);
  ++factorisations_;
  SystemReport worst;
  std::vector<PointStiffness> own_points;
  std::vector<double> own_multipliers;
  for (std::size_t b = 0; b < parts_.size(); ++b) {
    const Part& part = parts_[b];
    own_points.clear();
    for (PointStiffness at : coefficients.points)
      if (body_of_output(at.i) == static_cast<int>(b)) {
        SUPPLE_EXPECT(body_of_output(at.j) == static_cast<int>(b));
        at.i -= part.point;
        at.j -= part.point;
        own_points.push_back(at);
      } else if (stiffens_body_alone(at) && world_point(at.i).body == static_cast<int>(b)) {
        const Mat3d turned = axes(static_cast<int>(b));
        const int output = world_point(at.i).output;
        own_points.push_back({at.robot, output, output, transpose(turned) * at.S * turned});
      }
    own_multipliers.clear();
    for (const int row : part.rows) own_multipliers.push_back(multipliers[extent(row)]);
    SystemCoefficients own = coefficients;
    own.points = own_points;
    const SystemReport report = assembly_.bodies[b].mechanics->factor(
        own, y.subspan(extent(3, part.point), extent(3, part.outputs)), own_multipliers);
    if (worst.status == SystemStatus::ok) worst.status = report.status;
    worst.negative_pivots += report.negative_pivots;
    worst.weakened += report.weakened;
  }
  if (worst.status != SystemStatus::ok) return worst;
  SystemReport border = factor_border(coefficients, y, multipliers, /*held=*/false);
  if (border.status == SystemStatus::singular && coefficients.mass == 0 && !free_frames_.empty())
    border = factor_border(coefficients, y, multipliers, /*held=*/true);
  worst.status = border.status;
  worst.negative_pivots += border.negative_pivots;
  if (worst.status == SystemStatus::ok && tangent_ == TangentKind::safe && worst.negative_pivots > 0)
    worst.status = SystemStatus::not_positive;
  return worst;
}

// A_theta,theta and A_theta,body of a force at a point, by the curvature of the frame's map.
void AssemblyMechanics::frame_stiffness(int point, const Vec3d& force, Border& border) const {
  const Assembly::Point& at = world_point(point);
  const int frame = frame_of(at);
  if (!free(frame)) return;
  const Vec3d F = transpose(now_.poses[extent(frame)].rotation) * force, x = in_frame(point);
  const auto slot = static_cast<int>(std::ranges::find(free_frames_, frame) - free_frames_.begin());
  const int theta = rigid_velocities * slot + 3;
  const Mat3d K = dot(F, x) * Mat3d::identity() - 0.5 * (outer(F, x) + outer(x, F));
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j <= i; ++j) border.add(theta + i, theta + j, K(i, j));
  if (at.body < 0) return;
  const Part& part = parts_[extent(at.body)];
  const Assembly::Body& body = assembly_.bodies[extent(at.body)];
  const PointRows rows{{at.output}, {skew(F) * body.place.rotation}};
  for (int k = 0; k < 3; ++k) {
    Vec3d unit{{0, 0, 0}};
    unit[k] = 1;
    body.mechanics->add_row_forces(rows, unit.v, border.column(at.body, theta + k, part.nv));
  }
}

template <class Visit>
void AssemblyMechanics::visit_link_rows(std::span<const double> multipliers, const Visit& visit) const {
  const std::size_t actuators = robot_.actuators.size();
  for (std::size_t k = extent(first_motor_); k < actuators; ++k) visit(robot_.actuators[k].joint, multipliers[k]);
  for (std::size_t k = extent(first_link_row_); k < robot_.constraints.size(); ++k)
    visit(robot_.constraints[k], multipliers[actuators + k]);
}

// Of the links' forces and of weight.
void AssemblyMechanics::add_geometric(std::span<const double> y, std::span<const double> multipliers,
                                      Border& border) const {
  std::vector<double> gradient;
  const auto add = [&](const ConstraintRow& row, double lambda) {
    if (lambda == 0) return;
    gradient.resize(extent(3, row.point_count));
    (void)evaluate_constraint(row, y, gradient.data());
    for (int i = 0; i < row.point_count; ++i) {
      const double* g = gradient.data() + 3 * i;
      frame_stiffness(row.first_point + i, lambda * Vec3d{{g[0], g[1], g[2]}}, border);
    }
  };
  visit_link_rows(multipliers, add);
  // Springs as forces: their curvature in y comes with the coefficients, that of the maps by what they pull at rest.
  for (std::size_t k = extent(first_link_spring_); k < robot_.springs.size(); ++k) {
    const ConstraintRow& spring = robot_.springs[k];
    gradient.resize(extent(3, spring.point_count));
    add(spring, -evaluate_constraint(spring, y, gradient.data()) / spring.compliance);
  }
  for (std::size_t s = 0; s < free_frames_.size(); ++s) {
    const int frame = free_frames_[s], theta = rigid_velocities * static_cast<int>(s) + 3;
    const Vec3d F = transpose(now_.poses[extent(frame)].rotation) * robot_.gravity, x = now_.moments[extent(frame)];
    const Mat3d K = dot(F, x) * Mat3d::identity() - 0.5 * (outer(F, x) + outer(x, F));
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j <= i; ++j) border.add(theta + i, theta + j, K(i, j));
    for (std::size_t b = 0; b < parts_.size(); ++b) {
      if (assembly_.bodies[b].frame != frame) continue;
      for (int k = 0; k < 3; ++k) {
        const std::span<double> column = border.column(static_cast<int>(b), theta + k, parts_[b].nv);
        for (std::size_t j = 0; j < column.size(); ++j) {
          const double* g = parts_[b].inertia.translation().data() + 3 * j;
          column[j] += cross(F, Vec3d{{g[0], g[1], g[2]}})[k];
        }
      }
    }
  }
}

SystemReport AssemblyMechanics::factor_border(const SystemCoefficients& coefficients, std::span<const double> y,
                                              std::span<const double> multipliers, bool held) {
  if (!border_) border_ = std::make_shared<Border>();
  Border& border = *border_;
  border.slot.assign(points_.size(), -1);
  border.coupled.clear();
  border.stiffness.clear();
  const auto couple = [&](int i, int j, const Mat3d& S) {
    for (const int point : {i, j}) {
      int& slot = border.slot[extent(point)];
      if (slot >= 0) continue;
      slot = static_cast<int>(border.coupled.size());
      border.coupled.push_back(point);
    }
    border.stiffness.push_back({0, i, j, S});
  };
  for (const PointStiffness& at : coefficients.points)
    if (body_of_output(at.i) < 0 && !stiffens_body_alone(at) &&
        std::ranges::any_of(at.S.m, [](double s) { return s != 0; }))
      couple(at.i, at.j, at.S);
  if (coefficients.mass != 0)
    for (std::size_t k = 0; k < assembly_.masses.size(); ++k)
      if (assembly_.masses[k].point.body >= 0) {
        const int point = first_mass_ + static_cast<int>(k);
        couple(point, point, coefficients.mass * assembly_.masses[k].mass * Mat3d::identity());
      }
  // Statics where frames are free (held): what hard links and motors hold has no stiffness of its own. A + H^T G H has the solution
  // of A where the rows are obeyed, for any G; multipliers differ by G phi, which Newton's method takes to zero.
  if (held) {
    std::vector<double> gradient;
    const auto stiffen = [&](const ConstraintRow& row, double stiffness) {
      gradient.resize(extent(3, row.point_count));
      (void)evaluate_constraint(row, y, gradient.data());
      const auto at = [&](int i) {
        return Vec3d{{gradient[extent(3, i)], gradient[extent(3, i) + 1], gradient[extent(3, i) + 2]}};
      };
      for (int i = 0; i < row.point_count; ++i)
        for (int j = 0; j < row.point_count; ++j)
          couple(row.first_point + i, row.first_point + j, stiffness * outer(at(i), at(j)));
    };
    for (std::size_t k = extent(first_link_row_); k < robot_.constraints.size(); ++k)
      if (robot_.constraints[k].compliance == 0 && !robot_.constraints[k].one_sided)
        stiffen(robot_.constraints[k], link_stiffness_in_statics);
    for (std::size_t k = extent(first_motor_); k < robot_.actuators.size(); ++k) {
      const ActuatorRow& motor = robot_.actuators[k];
      if (motor.control == ActuatorControl::displacement)
        stiffen(motor.joint, motor.compliance > 0 ? 1 / motor.compliance : link_stiffness_in_statics);
    }
  }
  if (coefficients.geometric)
    visit_link_rows(multipliers, [&](const ConstraintRow& row, double multiplier) {
      visit_constraint_curvature(row, y, multiplier, [&](int i, int j, const Mat3d& S) {
        couple(row.first_point + i, row.first_point + j, S);
      });
    });
  const auto frames = static_cast<int>(free_frames_.size()), coupled = static_cast<int>(border.coupled.size());
  const int first_w = rigid_velocities * frames;
  border.first_mu = first_w + 3 * coupled;
  const int n = border.size = border.first_mu + 3 * coupled;
  border.E.assign(extent(n, n), 0.0);
  border.bodies.resize(parts_.size());
  for (Border::Columns& columns : border.bodies) {
    columns.index.clear();
    columns.C.clear();
  }
  if (n == 0) return {};

  for (std::size_t s = 0; s < free_frames_.size(); ++s) {
    const int frame = free_frames_[s], first = rigid_velocities * static_cast<int>(s);
    const FramePart& part = frames_[extent(frame)];
    if (coefficients.mass == 0) break;
    for (int i = 0; i < 3; ++i) {
      border.add(first + i, first + i, coefficients.mass * part.total.mass);
      for (int j = 0; j <= i; ++j)
        border.add(first + 3 + i, first + 3 + j, coefficients.mass * now_.inertias[extent(frame)](i, j));
    }
    const Mat3d coupling =
        -coefficients.mass * (now_.poses[extent(frame)].rotation * skew(now_.moments[extent(frame)]));
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) border.add(first + 3 + j, first + i, coupling(i, j));
    for (std::size_t b = 0; b < parts_.size(); ++b) {
      if (assembly_.bodies[b].frame != frame) continue;
      const int nv = parts_[b].nv;
      for (int k = 0; k < 6; ++k) {
        const std::span<double> column = border.column(static_cast<int>(b), first + k, nv);
        for (std::size_t j = 0; j < column.size(); ++j) {
          const double *g = parts_[b].inertia.translation().data() + 3 * j,
                       *turn = now_.bodies[b].rotation.data() + 3 * j;
          const Vec3d turned = now_.poses[extent(frame)].rotation * Vec3d{{g[0], g[1], g[2]}};
          column[j] += coefficients.mass * (k < 3 ? turned[k] : turn[k - 3]);
        }
      }
    }
  }
  if (coefficients.geometric) add_geometric(y, multipliers, border);

  for (int s = 0; s < coupled; ++s) {
    const int point = border.coupled[extent(s)], mu = border.first_mu + 3 * s;
    const Assembly::Point& at = world_point(point);
    const int frame = frame_of(at);
    for (int k = 0; k < 3; ++k) border.add(mu + k, first_w + 3 * s + k, -1);
    if (at.body >= 0) {
      const PointRows rows{{at.output}, {axes(at.body)}};
      for (int k = 0; k < 3; ++k) {
        Vec3d unit{{0, 0, 0}};
        unit[k] = 1;
        assembly_.bodies[extent(at.body)].mechanics->add_row_forces(
            rows, unit.v, border.column(at.body, mu + k, parts_[extent(at.body)].nv));
      }
    }
    if (!free(frame)) continue;
    const int first =
        rigid_velocities * static_cast<int>(std::ranges::find(free_frames_, frame) - free_frames_.begin());
    const Mat3d turn = -1.0 * (now_.poses[extent(frame)].rotation * skew(in_frame(point)));
    for (int i = 0; i < 3; ++i) {
      if (!at.vector) border.add(mu + i, first + i, 1);
      for (int j = 0; j < 3; ++j) border.add(mu + i, first + 3 + j, turn(i, j));
    }
  }
  for (const PointStiffness& at : border.stiffness) {
    const int i = first_w + 3 * border.slot[extent(at.i)], j = first_w + 3 * border.slot[extent(at.j)];
    if (i < j) continue;  // its transpose is there too
    for (int k = 0; k < 3; ++k)
      for (int l = 0; l < (i == j ? k + 1 : 3); ++l) border.add(i + k, j + l, at.S(k, l));
  }

  for (std::size_t b = 0; b < parts_.size(); ++b) {
    Border::Columns& columns = border.bodies[b];
    const auto count = static_cast<int>(columns.index.size());
    const std::size_t nv = extent(parts_[b].nv);
    if (count == 0) continue;
    columns.Z = columns.C;
    assembly_.bodies[b].mechanics->solve(columns.Z, count);
    for (int i = 0; i < count; ++i)
      for (int j = 0; j <= i; ++j) {
        double sum = 0;
        for (std::size_t k = 0; k < nv; ++k) sum += columns.C[extent(i) * nv + k] * columns.Z[extent(j) * nv + k];
        border.add(columns.index[extent(i)], columns.index[extent(j)], -sum);
      }
  }
  // Statics: a frame that no force holds stays where it is, along what is free of it.
  if (held)
    for (std::size_t k = 0; k < free_frames_.size(); ++k) {
      const int frame = free_frames_[k], first = rigid_velocities * static_cast<int>(k);
      const bool carries = std::ranges::any_of(assembly_.bodies, [&](const auto& body) { return body.frame == frame; });
      const bool held_by_some =
          std::ranges::any_of(border.coupled, [&](int point) { return frame_of(world_point(point)) == frame; });
      // It is free in all directions: with weight there is no equilibrium.
      if (!carries && !held_by_some && norm(robot_.gravity) > 0) return {SystemStatus::singular, 0};
      const RigidInertia& total = frames_[extent(frame)].total;
      const double turning = trace(total.inertia) / total.mass;  // m^2
      for (int i = 0; i < rigid_velocities; ++i)
        border.add(first + i, first + i, neutral * link_stiffness_in_statics * (i < 3 ? 1 : turning));
    }
  equilibrate(n, border.E, border.scale);
  border.pivots.assign(extent(n), 0);
  const DenseFactorReport report = ldlt_factor(border.E.data(), n, n, border.pivots.data());
  // Each coupled point brings three pivots of either sign of its own.
  return {report.status == DenseFactorStatus::ok ? SystemStatus::ok : SystemStatus::singular,
          report.negative_pivots - 3 * coupled};
}

void AssemblyMechanics::solve(std::span<double> X, int count) {
  SUPPLE_EXPECT(border_ != nullptr);
  Border& border = *border_;
  const int nv = coordinates_.nv, n = border.size;
  const int frames = rigid_velocities * static_cast<int>(free_frames_.size()), first = nv - frames;
  border.work.assign(extent(count, n), 0.0);
  for (int r = 0; r < count; ++r)
    std::copy_n(X.data() + extent(r, nv) + extent(first), frames, border.work.data() + extent(r, n));
  for (std::size_t b = 0; b < parts_.size(); ++b) {
    const Part& part = parts_[b];
    const std::size_t own_nv = extent(part.nv);
    const Border::Columns& columns = border.bodies[b];
    // Most right sides are rows of a few bodies, and zero in the others.
    border.sides.clear();
    border.own.clear();
    for (int r = 0; r < count; ++r) {
      const auto x = X.begin() + static_cast<std::ptrdiff_t>(extent(r, nv) + extent(part.v));
      if (std::all_of(x, x + part.nv, [](double value) { return value == 0; })) continue;
      border.sides.push_back(r);
      border.own.insert(border.own.end(), x, x + part.nv);
    }
    if (border.sides.empty()) continue;
    assembly_.bodies[b].mechanics->solve(border.own, static_cast<int>(border.sides.size()));
    for (std::size_t k = 0; k < border.sides.size(); ++k) {
      const int r = border.sides[k];
      const double* x = border.own.data() + k * own_nv;
      std::copy_n(x, own_nv, X.data() + extent(r, nv) + extent(part.v));
      for (std::size_t i = 0; i < columns.index.size(); ++i) {
        double sum = 0;
        for (std::size_t k = 0; k < own_nv; ++k) sum += columns.C[i * own_nv + k] * x[k];
        border.work[extent(r, n) + extent(columns.index[i])] -= sum;
      }
    }
  }
  if (n == 0) return;
  for (int r = 0; r < count; ++r)
    for (int i = 0; i < n; ++i) border.work[extent(r, n) + extent(i)] *= border.scale[extent(i)];
  ldlt_solve(border.E.data(), n, n, border.pivots.data(), border.work.data(), count, n);
  for (int r = 0; r < count; ++r) {
    double* z = border.work.data() + extent(r, n);
    for (int i = 0; i < n; ++i) z[i] *= border.scale[extent(i)];
    std::copy_n(z, frames, X.data() + extent(r, nv) + extent(first));
    for (std::size_t b = 0; b < parts_.size(); ++b) {
      const std::size_t own_nv = extent(parts_[b].nv);
      const Border::Columns& columns = border.bodies[b];
      double* x = X.data() + extent(r, nv) + extent(parts_[b].v);
      for (std::size_t i = 0; i < columns.index.size(); ++i)
        for (std::size_t k = 0; k < own_nv; ++k) x[k] -= z[columns.index[i]] * columns.Z[i * own_nv + k];
    }
  }
}

void AssemblyMechanics::solve_robot(int, std::span<double> X, int count) {
  solve(X, count);
}

bool AssemblyMechanics::root_solve(int, std::span<double>, int) {
  return false;
}

// For laws that move inputs. Left out is how inputs turn the forces of links and contacts at points on frames that they
// turn, and how they move the curvature of obstacles that stiffens a body alone: Newton's method takes it up.
void AssemblyMechanics::input_columns(const SystemCoefficients& coefficients, std::span<double> A_c) {
  SUPPLE_EXPECT(border_ != nullptr);
  const std::size_t nv = extent(coordinates_.nv), motions = robot_.motions.size();
  std::fill(A_c.begin(), A_c.end(), 0.0);
  const auto column = [&](int m) { return A_c.subspan(extent(m) * nv, nv); };
  std::vector<double> own;
  for (std::size_t b = 0; b < parts_.size(); ++b) {
    const Part& part = parts_[b];
    own.assign(extent(part.motions, part.nv), 0.0);
    if (part.motions > 0) assembly_.bodies[b].mechanics->input_columns(coefficients, own);
    for (int m = 0; m < part.motions; ++m)
      std::copy_n(own.data() + extent(m, part.nv), part.nv, column(part.motion + m).data() + part.v);
  }
  add_turned_weight(coefficients.stiffness, A_c);
  std::vector<double> still(nv, 0.0), unit(motions, 0.0);
  for (std::size_t m = 0; m < motions; ++m) {
    const bool of_frame = std::ranges::any_of(frames_, [&](const FramePart& frame) {
      return std::find(frame.motions.begin(), frame.motions.end(), static_cast<int>(m)) != frame.motions.end();
    });
    if (!of_frame) continue;
    unit[m] = coefficients.mass;
    add_couplings(now_, still, unit, 1, column(static_cast<int>(m)));
    unit[m] = 0;
  }
  // What couples points: S dy/dc at each.
  const std::vector<int>& coupled = border_->coupled;
  if (coupled.empty()) return;
  std::vector<double> rates(3 * coupled.size() * motions);
  input_rates(coupled, rates);
  for (const PointStiffness& at : border_->stiffness)
    for (std::size_t m = 0; m < motions; ++m) {
      const Vec3d force = at.S * vector_at(rates, 3 * (m * coupled.size() + extent(border_->slot[extent(at.j)])));
      if (!(force == Vec3d{{0, 0, 0}})) add_point_force(at.i, force, column(static_cast<int>(m)));
    }
}

}  // namespace supple
