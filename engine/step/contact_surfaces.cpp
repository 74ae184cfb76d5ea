// Contact between surfaces of bodies in a step (contact_stage.hpp).

#include <algorithm>
#include <array>
#include <cmath>

#include "engine/step/contact_stage.hpp"
#include "kernels/base/contract.hpp"
#include "kernels/base/extent.hpp"
#include "kernels/contact/contact_rows.hpp"

namespace supple {

namespace {

// Of the distance, by which a pair that is too near when a step begins moves apart in it.
constexpr double recovery = 0.1;
constexpr int most_features_of_a_key = 40;
// Normals whose product is above this are those of one side.
constexpr double same_side = 0.5;
constexpr int columns_at_once = 48;

Vec3d vertex_at(std::span<const double> x, int vertex) {
  const std::size_t k = extent(3, vertex);
  return {{x[k], x[k + 1], x[k + 2]}};
}

// sum w_k x_k
Vec3d difference(const FeaturePair& pair, std::span<const double> x) {
  Vec3d sum{{0, 0, 0}};
  for (std::size_t i = 0; i < 4 && pair.vertices[i] >= 0; ++i)
    sum = sum + pair.weights[i] * vertex_at(x, pair.vertices[i]);
  return sum;
}

}  // namespace

std::span<const double> ContactStage::vertices_of(std::span<const double> y) const {
  return y.subspan(extent(3, robot_.first_surface_point), extent(3, robot_.surfaces->vertices()));
}

void ContactStage::multiply_rows(const RobotContacts& r, std::span<const double> X, int count,
                                 std::span<double> out) const {
  if (r.single) {
    mechanics_.multiply_rows(r.rows, X, count, out);
    return;
  }
  std::vector<double>& points = scratch_.by_point;
  const int m = r.contacts();
  points.resize(extent(count, r.rows.rows()));
  mechanics_.multiply_rows(r.rows, X, count, points);
  for (int j = 0; j < count; ++j)
    for (int k = 0; k < m; ++k) {
      double* to = out.data() + extent(j, 3 * m) + extent(3 * k);
      std::fill_n(to, 3, 0.0);
      for (int e = r.first[extent(k)]; e < r.first[extent(k) + 1]; ++e)
        for (int i = 0; i < 3; ++i) to[i] += r.weight[extent(e)] * points[extent(j, r.rows.rows()) + extent(3 * e + i)];
    }
}

void ContactStage::add_row_forces(const RobotContacts& r, std::span<const double> lambda, std::span<double> f) const {
  if (r.single) {
    mechanics_.add_row_forces(r.rows, lambda, f);
    return;
  }
  std::vector<double>& points = scratch_.by_point;
  points.resize(extent(r.rows.rows()));
  for (int k = 0; k < r.contacts(); ++k)
    for (int e = r.first[extent(k)]; e < r.first[extent(k) + 1]; ++e)
      for (int i = 0; i < 3; ++i) points[extent(3 * e + i)] = r.weight[extent(e)] * lambda[extent(3 * k + i)];
  mechanics_.add_row_forces(r.rows, points, f);
}

void ContactStage::row_compliance(int b, const RobotContacts& r, int known, std::span<double> C) {
  if (r.single) {
    mechanics_.row_compliance(b, r.rows, known, C);
    return;
  }
  const int size = 3 * r.contacts();
  std::vector<double> X, values, unit(extent(size), 0.0);
  for (int begin = known; begin < size; begin += columns_at_once) {
    const int count = std::min(columns_at_once, size - begin);
    X.assign(extent(count, nv_), 0.0);
    for (int j = 0; j < count; ++j) {
      unit[extent(begin + j)] = 1;
      add_row_forces(r, unit, std::span(X).subspan(extent(j, nv_), extent(nv_)));
      unit[extent(begin + j)] = 0;
    }
    mechanics_.solve_robot(b, X, count);
    values.resize(extent(count, size));
    multiply_rows(r, X, count, values);
    for (int j = 0; j < count; ++j)
      for (int i = 0; i < size; ++i) {
        const double value = values[extent(j, size) + extent(i)];
        C[extent(begin + j, size) + extent(i)] = value;
        if (i < begin) C[extent(i, size) + extent(begin + j)] = value;
      }
  }
  // Symmetric to the last bit.
  for (int i = known; i < size; ++i)
    for (int j = known; j < i; ++j) C[extent(i, size) + extent(j)] = C[extent(j, size) + extent(i)];
}

// `force` on the first feature, in the world.
void ContactStage::add_features(RobotContacts& r, const FeaturePair& pair, const Vec3d& force) {
  r.single = false;
  r.pair.push_back(-1);
  r.features.push_back(pair);
  for (std::size_t i = 0; i < 4 && pair.vertices[i] >= 0; ++i) {
    r.rows.point.push_back(robot_.first_surface_point + pair.vertices[i]);
    r.rows.frame.push_back(Mat3d::identity());
    r.weight.push_back(pair.weights[i]);
  }
  r.first.push_back(r.rows.points());
  r.friction.push_back(
      std::sqrt(robot_.surface_friction[extent(pair.a.surface)] * robot_.surface_friction[extent(pair.b.surface)]));
  r.phi.insert(r.phi.end(), 3, 0.0);
  r.lambda.insert(r.lambda.end(), force.v, force.v + 3);
}

// What the gap of a pair has to be at the end of the step.
double ContactStage::gap_wanted(const FeaturePair& pair) const {
  const FeaturePair* at = find_pair(near_at_start_, pair.key);
  if (at == nullptr) return robot_.contact_distance;
  return std::min(robot_.contact_distance, at->gap + recovery * robot_.contact_distance);
}

// Frame and values of row k at y_; its force stays the same vector. bend: what the motion found so far adds to the gap
// beside its linear part.
void ContactStage::linearise_features(RobotContacts& r, std::size_t k, double bend) {
  const FeaturePair& pair = r.features[k];
  const Vec3d force = transpose(r.frame(k)) * Vec3d{{r.lambda[3 * k], r.lambda[3 * k + 1], r.lambda[3 * k + 2]}};
  const Mat3d frame = frame_on(pair.normal);
  for (int e = r.first[k]; e < r.first[k + 1]; ++e) r.rows.frame[extent(e)] = frame;
  const Vec3d lambda = frame * force,
              slip = frame * (difference(pair, vertices_of(y_)) - difference(pair, vertices_of(y_start_)));
  r.phi[3 * k] = linear_gap(pair, vertices_of(y_)) + bend - gap_wanted(pair);
  for (std::size_t i = 0; i < 3; ++i) {
    if (i > 0) r.phi[3 * k + i] = slip[static_cast<int>(i)];
    r.lambda[3 * k + i] = lambda[static_cast<int>(i)];
  }
}

// Pairs that carried a force when the last step ended.
void ContactStage::begin_surfaces(const State& state) {
  RobotContacts& r = robots_.front();
  const std::span<const double> x = vertices_of(y_start_);
  near_at_start_ = search_->pairs(x, x, 2 * robot_.contact_distance);
  SUPPLE_EXPECT(state.surface_forces.size() <= 1);
  // None in a state from elsewhere: nothing is known of the last step.
  const std::vector<SurfaceForce> none;
  for (const SurfaceForce& of : state.surface_forces.empty() ? none : state.surface_forces.front()) {
    const std::uint64_t key = (std::uint64_t{of.first} << 32) | of.second;
    if (const FeaturePair* at = find_pair(near_at_start_, key))
      add_features(r, *at, {{of.force[0], of.force[1], of.force[2]}});
  }
  if (!foresees_) return;
  for (const FeaturePair& pair : near_at_start_)
    if (!std::ranges::any_of(r.features, [&](const FeaturePair& of) { return of.key == pair.key; }))
      add_features(r, pair, {{0, 0, 0}});
}

// Pairs of features as they are at y_.
void ContactStage::linearise_surfaces(RobotContacts& r) {
  if (!std::ranges::any_of(r.pair, [](int pair) { return pair < 0; })) return;
  const std::span<const double> x = vertices_of(y_);
  const bool at_start = std::ranges::equal(x, vertices_of(y_start_));
  const std::vector<FeaturePair>& near = at_start ? near_at_start_ : search_->pairs(x, x, 2 * robot_.contact_distance);
  for (std::size_t k = 0; k < r.pair.size(); ++k) {
    if (r.pair[k] >= 0) continue;
    // One that is not the nearest any more keeps its geometry.
    if (const FeaturePair* at = find_pair(near, r.features[k].key)) {
      r.features[k] = *at;
      for (int e = r.first[k]; e < r.first[k + 1]; ++e) r.weight[extent(e)] = at->weights[extent(e - r.first[k])];
    }
    linearise_features(r, k, 0);
  }
}

void ContactStage::find_idle_surfaces(RobotContacts& r) {
  const std::span<const double> x0 = vertices_of(y_start_), x = vertices_of(y_);
  for (const FeaturePair& pair : search_->violations(x0, x, robot_.contact_distance)) {
    const bool has_rows = std::ranges::any_of(r.features, [&](const FeaturePair& of) { return of.key == pair.key; });
    if (!has_rows) r.worst_idle_gap = std::min(r.worst_idle_gap, linear_gap(pair, x) - gap_wanted(pair));
  }
}

// Rows for what the motion du would leave too near; how many.
int ContactStage::add_violated_surfaces(RobotContacts& r, std::span<const double> du, std::span<const double> dc,
                                        const ContactInputs& in) {
  std::vector<double>& y = scratch_.y;
  y.resize(extent(ny_));
  in.points_after(du, dc, y);
  const std::span<const double> x0 = vertices_of(y_start_), x1 = vertices_of(y), x = vertices_of(y_);
  scratch_.violated = search_->violations(x0, x1, robot_.contact_distance);
  const double tolerance = search_->settings().tolerance;
  int added = 0;
  std::vector<double> values, force(extent(nv_));
  bool ends_known = false;
  for (FeaturePair pair : scratch_.violated) {
    if (linear_gap(pair, x1) - gap_wanted(pair) >= -tolerance) continue;
    // Where a row of the pair holds, and keeps it on the same side, the plane at which they first met counts no more:
    // how near they end does.
    const bool held = std::ranges::any_of(r.features, [&](const FeaturePair& of) {
      return of.key == pair.key && dot(of.normal, pair.normal) > same_side &&
             linear_gap(of, x1) - gap_wanted(of) >= -tolerance;
    });
    if (held) {
      if (!ends_known) scratch_.at_end = search_->pairs(x1, x1, 2 * robot_.contact_distance);
      ends_known = true;
      if (const FeaturePair* at = find_pair(scratch_.at_end, pair.key)) {
        if (at->gap - gap_wanted(*at) >= -tolerance) continue;
        pair = *at;
      }
    }
    const auto same = std::ranges::count_if(r.features, [&](const FeaturePair& of) { return of.key == pair.key; });
    if (same >= most_features_of_a_key) {
      r.figures.violation = std::max(r.figures.violation, gap_wanted(pair) - linear_gap(pair, x1));
      continue;
    }
    RobotContacts alone;
    add_features(alone, pair, {{0, 0, 0}});
    const Mat3d frame = frame_on(pair.normal);
    for (Mat3d& of : alone.rows.frame) of = frame;
    // Where neither can move there is nothing to do.
    std::ranges::fill(force, 0.0);
    add_row_forces(alone, std::array{1.0, 0.0, 0.0}, force);
    if (std::ranges::all_of(force, [](double f) { return f == 0; })) continue;
    values.resize(3);
    multiply_rows(alone, du, 1, values);
    add_features(r, pair, {{0, 0, 0}});
    linearise_features(r, r.pair.size() - 1, linear_gap(pair, x1) - linear_gap(pair, x) - values[0]);
    ++added;
  }
  return added;
}

void ContactStage::finish_surfaces(const RobotContacts& r, State& state) const {
  struct Force {
    std::uint64_t key;
    Vec3d force;
  };
  std::vector<Force> forces;
  for (std::size_t k = 0; k < r.pair.size(); ++k) {
    if (r.pair[k] >= 0) continue;
    const Vec3d force = transpose(r.frame(k)) * Vec3d{{r.lambda[3 * k], r.lambda[3 * k + 1], r.lambda[3 * k + 2]}};
    if (force == Vec3d{{0, 0, 0}}) continue;
    const auto same = std::ranges::find(forces, r.features[k].key, &Force::key);
    if (same == forces.end())
      forces.push_back({r.features[k].key, force});
    else
      same->force = same->force + force;
  }
  std::ranges::sort(forces, {}, &Force::key);
  state.surface_forces.resize(1);
  std::vector<SurfaceForce>& own = state.surface_forces.front();
  own.clear();
  for (const Force& of : forces)
    own.push_back({static_cast<std::uint32_t>(of.key >> 32),
                   static_cast<std::uint32_t>(of.key & 0xffffffffULL),
                   {of.force[0], of.force[1], of.force[2]}});
}

}  // namespace supple
