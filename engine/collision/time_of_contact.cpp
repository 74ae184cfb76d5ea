#include "engine/collision/time_of_contact.hpp"

#include <algorithm>
#include <cmath>

namespace supple {
namespace {

constexpr int most_iterations = 200;
constexpr double near_enough = 1e-3;  // of the way to the level
constexpr double at_level = 1e-6;     // of the level: pairs that rest at it need no further look
constexpr double rounding = 1e-15;    // of the largest coordinate, of closest points

// How far points can come apart from their mean motion per unit of time: the sum of the largest of both simplices.
double additive_speed(const MovingSimplex& a, const MovingSimplex& b) {
  Vec3d mean{{0, 0, 0}};
  for (const MovingSimplex* s : {&a, &b})
    for (std::size_t k = 0; k < static_cast<std::size_t>(s->count); ++k) mean = mean + s->step[k];
  mean = (1.0 / (a.count + b.count)) * mean;
  double speed = 0;
  for (const MovingSimplex* s : {&a, &b}) {
    double largest = 0;
    for (std::size_t k = 0; k < static_cast<std::size_t>(s->count); ++k)
      largest = std::max(largest, norm(s->step[k] - mean));
    speed += largest;
  }
  return speed;
}

double largest_coordinate(const Simplex& a, const Simplex& b) {
  double size = 0;
  for (const Simplex* s : {&a, &b})
    for (std::size_t i = 0; i < static_cast<std::size_t>(s->count); ++i)
      for (int k = 0; k < 3; ++k) size = std::max(size, std::abs(s->x[i][k]));
  return size;
}

// For how long the distance surely stays above `aim`, by the planes across the closest direction.
double directional_time(const MovingSimplex& a, const MovingSimplex& b, const Simplex& xa, const Simplex& xb,
                        const ClosestPoints& points, double aim) {
  const Vec3d n = (1 / points.distance) * points.difference;
  const double error = rounding * largest_coordinate(xa, xb) / points.distance;  // of n
  double time = HUGE_VAL;
  for (std::size_t i = 0; i < static_cast<std::size_t>(a.count); ++i)
    for (std::size_t j = 0; j < static_cast<std::size_t>(b.count); ++j) {
      const Vec3d x = xa.x[i] - xb.x[j], v = a.step[i] - b.step[j];
      const double value = dot(n, x) - error * norm(x) - aim, rate = dot(n, v) - error * norm(v);
      if (rate < 0) time = std::min(time, value / -rate);
    }
  return time;
}

}  // namespace

Simplex MovingSimplex::at(double time) const {
  Simplex s{count, {}};
  for (std::size_t k = 0; k < static_cast<std::size_t>(count); ++k) s.x[k] = from[k] + time * step[k];
  return s;
}

ContactTime time_of_contact(const MovingSimplex& a, const MovingSimplex& b, double level, double start) {
  ContactTime result{false, start, {}, {}, 0};
  double stop = level, aim = level;
  for (double speed = -1; result.iterations < most_iterations; ++result.iterations) {
    const Simplex xa = a.at(result.time), xb = b.at(result.time);
    result.points = closest_points(xa, xb);
    const double distance = result.points.distance;
    if (result.iterations == 0) {
      result.first = result.points;
      const double near = std::max(near_enough * (distance - level), at_level * level);
      stop = level + near;
      aim = level + 0.5 * near;
    }
    if (distance <= level || distance <= stop) break;
    double time = directional_time(a, b, xa, xb, result.points, aim);
    if (result.time + time < 1) {
      if (speed < 0) speed = additive_speed(a, b);
      time = std::max(time, (distance - aim) / speed);
    }
    if (result.time + time >= 1) {
      result.time = 1;
      return result;
    }
    result.time += time;
  }
  result.reached = true;
  return result;
}

bool stays_apart(const MovingSimplex& a, const MovingSimplex& b, const Vec3d& n, double distance) {
  // The width between both is concave in time, so that its least value is at one of the ends.
  struct Range {
    double low = HUGE_VAL, high = -HUGE_VAL;
  };
  const auto range = [&](const MovingSimplex& s, double time) {
    Range range;
    for (std::size_t k = 0; k < static_cast<std::size_t>(s.count); ++k) {
      const double along = dot(n, s.from[k] - b.from[0]) + time * dot(n, s.step[k]);
      range.low = std::min(range.low, along);
      range.high = std::max(range.high, along);
    }
    return range;
  };
  const Range a0 = range(a, 0), a1 = range(a, 1), b0 = range(b, 0), b1 = range(b, 1);
  const double width = distance * norm(n);
  return (a0.low - b0.high > width && a1.low - b1.high > width) ||
         (b0.low - a0.high > width && b1.low - a1.high > width);
}

}  // namespace supple
