#include "engine/step/contact_stage.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/array/mirrored.hpp"
#include "kernels/base/contract.hpp"
#include "kernels/base/extent.hpp"
#include "kernels/contact/contact_rows.hpp"

namespace supple {

namespace {

// A force this close to its cone slides: it was put there by a projection.
constexpr double at_the_cone = 1 - 1e-9;

// Rows are solved to some 1e-10 of the step's motion; a pair is deep in another surface beyond the distance.
SearchSettings search_settings(const Robot& robot) {
  return {.depth = robot.contact_distance, .tolerance = std::max(1e-9, 1e-6 * robot.contact_distance)};
}

Vec3d point_of(std::span<const double> y, int point) {
  const std::size_t k = extent(3, point);
  return {{y[k], y[k + 1], y[k + 2]}};
}

}  // namespace

ContactStage::ContactStage(Mechanics& mechanics)
    : mechanics_(mechanics),
      robot_(mechanics.robot()),
      nv_(mechanics.coordinates().nv),
      ny_(mechanics.robot().outputs()),
      obstacles_(static_cast<int>(mechanics.robot().obstacles.size())) {
  SUPPLE_EXPECT(robot_.pairs() > 0 || (robot_.surfaces && mechanics.robots() == 1));
  if (robot_.surfaces) search_.emplace(*robot_.surfaces, search_settings(robot_));
  for (int p = 0; p < robot_.collision_points; ++p) all_points_.point.push_back(robot_.first_collision_point + p);
  all_points_.frame.assign(all_points_.point.size(), Mat3d::identity());
  moved_.assign(extent(all_points_.rows()), 0.0);
  find_input_rates();
  scratch_.du.assign(extent(nv_), 0.0);
  robots_.resize(static_cast<std::size_t>(mechanics.robots()));
  touch_.assign(robots_.size(), 0);
  for (RobotContacts& r : robots_) {
    r.rows_of_pair.assign(extent(robot_.pairs()), 0);
    r.force.assign(extent(nv_), 0.0);
    r.motion.assign(extent(nv_), 0.0);
  }
}

// Where frames turn, of the present linearisation.
void ContactStage::find_input_rates() {
  carried_.assign(robot_.motions.size() * moved_.size(), 0.0);
  if (!carried_.empty()) mechanics_.input_rates(all_points_.point, carried_);
}

std::span<const double> ContactStage::points_of(std::span<const double> y, int b) const {
  return y.subspan(extent(b, ny_) + extent(3, robot_.first_collision_point), extent(3, robot_.collision_points));
}

// `force` in the world, until linearise_row() turns it.
void ContactStage::add_row(int b, int pair, const Vec3d& force) {
  RobotContacts& r = robots_[static_cast<std::size_t>(b)];
  ++r.rows_of_pair[static_cast<std::size_t>(pair)];
  r.pair.push_back(pair);
  r.features.emplace_back();
  r.rows.point.push_back(robot_.first_collision_point + pair / obstacles_);
  r.rows.frame.push_back(Mat3d::identity());
  r.weight.push_back(1);
  r.first.push_back(r.rows.points());
  r.friction.push_back(mechanics_.friction(b, pair % obstacles_));
  r.phi.insert(r.phi.end(), 3, 0.0);
  r.lambda.insert(r.lambda.end(), {force[0], force[1], force[2]});
}

void ContactStage::forget_rows(RobotContacts& r) {
  for (int pair : r.pair)
    if (pair >= 0) r.rows_of_pair[static_cast<std::size_t>(pair)] = 0;
  r.pair.clear();
  r.features.clear();
  r.rows.point.clear();
  r.rows.frame.clear();
  r.weight.clear();
  r.first.assign(1, 0);
  r.single = true;
  r.friction.clear();
  r.phi.clear();
  r.lambda.clear();
  r.known = 0;
}

void ContactStage::begin(const State& state, std::span<const double> y_start) {
  SUPPLE_EXPECT(state.contact_forces.size() == extent(state.robots, robot_.pairs(), 3));
  y_start_.assign(y_start.begin(), y_start.end());
  for (int b = 0; b < mechanics_.robots(); ++b) {
    forget_rows(robots_[static_cast<std::size_t>(b)]);
    robots_[static_cast<std::size_t>(b)].figures = {};
    for (int pair = 0; pair < robot_.pairs(); ++pair) {
      const Vec3d force = point_of(state.contact_forces, b * robot_.pairs() + pair);
      if (!(force == Vec3d{{0, 0, 0}})) add_row(b, pair, force);
    }
  }
  if (search_) begin_surfaces(state);
}

// Frame and values of row k at y_ + moved; its force stays the same vector.
void ContactStage::linearise_row(int b, std::size_t k, const Vec3d& moved) {
  RobotContacts& r = robots_[static_cast<std::size_t>(b)];
  const int point = r.pair[k] / obstacles_;
  const Vec3d here = point_of(points_of(y_, b), point);
  const PlacedObstacle& obstacle = robot_.obstacles[static_cast<std::size_t>(r.pair[k] % obstacles_)];
  const Proximity near = obstacle.obstacle.at(obstacle.pose, here + moved);
  Mat3d& frame = r.rows.frame[extent(r.first[k])];
  const Vec3d force = transpose(frame) * point_of(r.lambda, static_cast<int>(k));
  const PairRows rows =
      rows_of_pair(near, moved, here - point_of(points_of(y_start_, b), point), robot_.contact_distance);
  frame = rows.frame;
  const Vec3d lambda = rows.frame * force;
  for (int i = 0; i < 3; ++i) {
    r.phi[3 * k + extent(i)] = rows.phi[i];
    r.lambda[3 * k + extent(i)] = lambda[i];
  }
  const int at = r.rows.point[extent(r.first[k])];
  if (lambda[0] > 0) stiffness_.push_back({b, at, at, -lambda[0] * near.curvature});
}

void ContactStage::linearise(std::span<const double> y, bool judged) {
  y_.assign(y.begin(), y.end());
  stiffness_.clear();
  if (mechanics_.turns()) find_input_rates();
  for (int b = 0; b < mechanics_.robots(); ++b) {
    RobotContacts& r = robots_[static_cast<std::size_t>(b)];
    // One row for each pair again, with all of its force.
    scratch_.former_pairs = r.pair;
    scratch_.former_features = r.features;
    scratch_.former_forces.clear();
    for (std::size_t k = 0; k < r.pair.size(); ++k)
      scratch_.former_forces.push_back(transpose(r.frame(k)) * point_of(r.lambda, static_cast<int>(k)));
    forget_rows(r);
    for (std::size_t k = 0; k < scratch_.former_pairs.size(); ++k) {
      const int pair = scratch_.former_pairs[k];
      const std::uint64_t key = scratch_.former_features[k].key;
      std::size_t same = 0;
      while (same < r.pair.size() && (r.pair[same] != pair || (pair < 0 && r.features[same].key != key))) ++same;
      if (same == r.pair.size()) {
        if (pair >= 0)
          add_row(b, pair, scratch_.former_forces[k]);
        else
          add_features(r, scratch_.former_features[k], scratch_.former_forces[k]);
        continue;
      }
      for (int i = 0; i < 3; ++i) r.lambda[3 * same + extent(i)] += scratch_.former_forces[k][i];
    }
    touch_[extent(b)] = !r.pair.empty();
    for (std::size_t k = 0; k < r.pair.size(); ++k)
      if (r.pair[k] >= 0) linearise_row(b, k, {{0, 0, 0}});
    if (search_) linearise_surfaces(r);
    std::fill(r.force.begin(), r.force.end(), 0.0);
    add_row_forces(r, r.lambda, r.force);
    r.worst_idle_gap = 0;
    if (!judged) continue;
    const auto here = points_of(y_, b);
    for (int pair = 0; pair < robot_.pairs(); ++pair) {
      if (r.rows_of_pair[static_cast<std::size_t>(pair)] > 0) continue;
      const PlacedObstacle& obstacle = robot_.obstacles[static_cast<std::size_t>(pair % obstacles_)];
      const double gap =
          obstacle.obstacle.at(obstacle.pose, point_of(here, pair / obstacles_), robot_.contact_distance).gap;
      r.worst_idle_gap = std::min(r.worst_idle_gap, gap - robot_.contact_distance);
    }
    if (search_) find_idle_surfaces(r);
  }
}

double ContactStage::violation(int b) const {
  const RobotContacts& r = robots_[extent(b)];
  double worst = std::max(0.0, -r.worst_idle_gap);
  for (std::size_t k = 0; k < r.pair.size(); ++k) {
    const double *phi = r.phi.data() + 3 * k, *lambda = r.lambda.data() + 3 * k;
    worst = std::max(worst, lambda[0] != 0 ? std::abs(phi[0]) : -phi[0]);
    const double grip = r.friction[k] * lambda[0], pull = std::hypot(lambda[1], lambda[2]);
    if (grip <= 0) continue;
    const double slip = std::hypot(phi[1], phi[2]);
    // Within the cone it sticks; at it the slip is against the force.
    worst =
        std::max(worst, pull < at_the_cone * grip
                            ? slip
                            : std::hypot(phi[1] * pull + lambda[1] * slip, phi[2] * pull + lambda[2] * slip) / pull);
  }
  return worst;
}

// Rows for what the motion du and changes dc of the inputs would leave below the distance; how many.
int ContactStage::add_violated(int b, std::span<const double> du, std::span<const double> dc) {
  RobotContacts& r = robots_[static_cast<std::size_t>(b)];
  if (robot_.pairs() == 0) return 0;
  mechanics_.multiply_rows(all_points_, du, 1, moved_);
  for (std::size_t k = 0; k < dc.size(); ++k)
    for (std::size_t i = 0; i < moved_.size(); ++i) moved_[i] += dc[k] * carried_[k * moved_.size() + i];
  const auto here = points_of(y_, b);
  int added = 0;
  for (int pair = 0; pair < robot_.pairs(); ++pair) {
    const PlacedObstacle& obstacle = robot_.obstacles[static_cast<std::size_t>(pair % obstacles_)];
    const Vec3d move = point_of(moved_, pair / obstacles_);
    const PairNeed need = need_of_pair(
        [&](const Vec3d& x, double far) { return obstacle.obstacle.at(obstacle.pose, x, far); },
        obstacle.obstacle.shape() == Obstacle::Shape::plane, r.rows_of_pair[static_cast<std::size_t>(pair)],
        point_of(here, pair / obstacles_), move, robot_.contact_distance);
    if (need.rows == PairNeed::Rows::none) {
      r.figures.violation = std::max(r.figures.violation, need.depth);
      continue;
    }
    add_row(b, pair, {{0, 0, 0}});
    linearise_row(b, r.pair.size() - 1, need.rows == PairNeed::Rows::where_it_ends ? move : Vec3d{{0, 0, 0}});
    ++added;
  }
  return added;
}

// Brings the rows that came since the last call into constraint space: as roots, or H A^-1 H^T.
void ContactStage::extend(int b, const ContactInputs& in) {
  RobotContacts& r = robots_[static_cast<std::size_t>(b)];
  const int first = r.known, all = r.contacts(), size = 3 * all;
  if (first == all) return;
  r.known = all;
  if (first == 0) r.factored = mechanics_.root_solve(b, {}, 0);
  if (r.factored) {
    std::vector<double>& V = r.roots;
    if (first == 0) V.assign(in.H.begin(), in.H.end());
    const std::size_t before = V.size(), begin = first == 0 ? 0 : before;
    V.resize(before + extent(size - 3 * first, nv_), 0.0);
    scratch_.unit.assign(extent(size), 0.0);
    for (int row = 3 * first; row < size; ++row) {
      scratch_.unit[extent(row)] = 1;
      add_row_forces(r, scratch_.unit, std::span(V).subspan(before + extent(row - 3 * first, nv_), extent(nv_)));
      scratch_.unit[extent(row)] = 0;
    }
    const std::span<double> fresh = std::span(V).subspan(begin);
    (void)mechanics_.root_solve(b, fresh, static_cast<int>(fresh.size()) / nv_);
    return;
  }
  scratch_.grown.resize(extent(size, size));
  for (int i = 0; i < 3 * first; ++i)
    std::copy_n(r.compliance.data() + extent(i, 3 * first), 3 * first, scratch_.grown.data() + extent(i, size));
  row_compliance(b, r, 3 * first, scratch_.grown);
  std::swap(r.compliance, scratch_.grown);
}

// The space of the contacts of one robot: scratch_.free, scratch_.W or roots, and how effectors and inputs come in.
ContactSpace ContactStage::project_contacts(int b, const ContactInputs& in) {
  RobotContacts& r = robots_[static_cast<std::size_t>(b)];
  const int n = in.alone.rows, inputs = in.alone.motions, effectors = in.alone.effector_rows;
  const int m = r.contacts(), N = n + 3 * m, columns = 1 + n + inputs;
  extend(b, in);
  scratch_.cross.resize(extent(columns, 3 * m));
  multiply_rows(r, in.free_motion, 1, std::span(scratch_.cross).first(extent(3 * m)));
  multiply_rows(r, in.X.subspan(extent(nv_)), columns - 1, std::span(scratch_.cross).subspan(extent(3 * m)));
  scratch_.free.resize(extent(N));
  std::copy_n(in.alone.free.begin(), n, scratch_.free.begin());
  for (int i = 0; i < 3 * m; ++i) scratch_.free[extent(n + i)] = r.phi[extent(i)] + scratch_.cross[extent(i)];
  scratch_.obstacle.clear();
  for (int pair : r.pair) scratch_.obstacle.push_back(pair < 0 ? -1 : pair % obstacles_);
  ContactSpace space{.rows = n,
                     .contacts = m,
                     .rank = 0,
                     .free = scratch_.free,
                     .W = {},
                     .V = {},
                     .compliance = {},
                     .friction = r.friction,
                     .obstacle = scratch_.obstacle,
                     .alone = in.alone,
                     .B = {},
                     .effector_W = {}};
  if (r.factored) {
    space.rank = nv_;
    space.V = r.roots;
    if (std::any_of(in.compliance.begin(), in.compliance.end(), [](double c) { return c > 0; })) {
      scratch_.compliance.assign(in.compliance.begin(), in.compliance.end());
      scratch_.compliance.resize(extent(N), 0.0);
      space.compliance = scratch_.compliance;
    }
  } else {
    scratch_.W.resize(extent(N, N));
    for (int i = 0; i < n; ++i) std::copy_n(in.alone.W.data() + extent(i, n), n, scratch_.W.data() + extent(i, N));
    for (int i = 0; i < 3 * m; ++i) {
      double* row = scratch_.W.data() + extent(n + i, N);
      for (int j = 0; j < n; ++j) {
        row[j] = scratch_.cross[extent(1 + j, 3 * m) + extent(i)];
        scratch_.W[extent(j, N) + extent(n + i)] = row[j];
      }
      std::copy_n(r.compliance.data() + extent(i, 3 * m), 3 * m, row + n);
    }
    space.W = scratch_.W;
  }
  if (inputs > 0) {
    const std::size_t points = r.rows.point.size();
    scratch_.rates.resize(3 * points * extent(inputs));
    if (search_ || mechanics_.turns()) {
      mechanics_.input_rates(r.rows.point, scratch_.rates);
    } else {
      for (int c = 0; c < inputs; ++c)
        for (int k = 0; k < m; ++k)
          std::copy_n(carried_.data() + extent(3, c * robot_.collision_points + r.pair[extent(k)] / obstacles_), 3,
                      scratch_.rates.data() + extent(3, c * m + k));
    }
    scratch_.B.resize(extent(3 * m, inputs));
    for (int c = 0; c < inputs; ++c)
      for (int k = 0; k < m; ++k) {
        Vec3d moved{{0, 0, 0}};
        for (int e = r.first[extent(k)]; e < r.first[extent(k) + 1]; ++e)
          moved = moved + r.weight[extent(e)] * point_of(scratch_.rates, c * static_cast<int>(points) + e);
        const Vec3d carried = r.frame(extent(k)) * moved;
        for (int i = 0; i < 3; ++i)
          scratch_.B[extent(3 * k + i, inputs) + extent(c)] =
              carried[i] - scratch_.cross[extent(1 + n + c, 3 * m) + extent(3 * k + i)];
      }
    space.B = scratch_.B;
  }
  if (effectors > 0) {
    scratch_.effector_cross.resize(extent(effectors, 3 * m));
    multiply_rows(r, scratch_.effector_X, effectors, scratch_.effector_cross);
    space.effector_W = scratch_.effector_cross;
  }
  return space;
}

bool ContactStage::solve_robot(int b, ConstraintLaw& law, const ContactInputs& in, std::span<double> multipliers,
                               std::span<double> dc) {
  RobotContacts& r = robots_[static_cast<std::size_t>(b)];
  const int n = in.alone.rows;
  SUPPLE_EXPECT(in.X.size() == extent(1 + n + in.alone.motions, nv_));
  std::fill(r.motion.begin(), r.motion.end(), 0.0);
  scratch_.effector_X.clear();
  for (;;) {
    const int m = r.contacts();
    if (m > most_contact_rows) {
      r.figures.too_many = true;
      return false;
    }
    if (m > 0) {
      if (scratch_.effector_X.empty() && in.alone.effector_rows > 0) {
        scratch_.effector_X.assign(in.effector_H.begin(), in.effector_H.end());
        mechanics_.solve_robot(b, scratch_.effector_X, in.alone.effector_rows);
      }
      const ContactSpace space = project_contacts(b, in);
      scratch_.lambda.assign(multipliers.begin(), multipliers.end());
      scratch_.lambda.insert(scratch_.lambda.end(), r.lambda.begin(), r.lambda.end());
      if (!r.figures.take(law.solve_in_contact(b, space, scratch_.lambda, dc))) return false;
      std::copy_n(scratch_.lambda.begin(), n, multipliers.begin());
      std::copy(scratch_.lambda.begin() + n, scratch_.lambda.end(), r.lambda.begin());
      for (std::size_t k = 0; k < r.motion.size(); ++k) r.motion[k] = in.increments ? -r.force[k] : 0.0;
      add_row_forces(r, r.lambda, r.motion);
      mechanics_.solve_robot(b, r.motion, 1);
    }
    for (int k = 0; k < nv_; ++k) scratch_.du[extent(k)] = in.X[extent(k)] + r.motion[extent(k)];
    const auto add_column = [&](int column, double factor) {
      for (int k = 0; k < nv_; ++k) scratch_.du[extent(k)] += in.X[extent(column, nv_) + extent(k)] * factor;
    };
    for (int i = 0; i < n; ++i) add_column(1 + i, multipliers[extent(i)] - in.held[extent(i)]);
    for (std::size_t c = 0; c < dc.size(); ++c) add_column(1 + n + static_cast<int>(c), -dc[c]);
    int added = add_violated(b, scratch_.du, dc);
    if (search_) added += add_violated_surfaces(r, scratch_.du, dc, in);
    if (added == 0) break;
  }
  return true;
}

ContactFigures ContactStage::figures() const {
  ContactFigures figures;
  for (const RobotContacts& r : robots_) {
    figures.add(r.figures);
    figures.rows += r.contacts();
    for (std::size_t k = 0; k < r.pair.size(); ++k) figures.touching += r.lambda[3 * k] > 0 ? 1 : 0;
  }
  return figures;
}

void ContactStage::finish(int b, State& state) const {
  const RobotContacts& r = robots_[extent(b)];
  const std::size_t own = extent(robot_.pairs(), 3);
  std::fill_n(state.contact_forces.data() + extent(b) * own, own, 0.0);
  for (std::size_t k = 0; k < r.pair.size(); ++k) {
    if (r.pair[k] < 0) continue;
    const Vec3d force = transpose(r.frame(k)) * point_of(r.lambda, static_cast<int>(k));
    double* out = state.contact_forces.data() + extent(3, b * robot_.pairs() + r.pair[k]);
    for (int i = 0; i < 3; ++i) out[i] += force[i];
  }
  if (search_) finish_surfaces(r, state);
}

}  // namespace supple
