// Rows of joints against finite differences.

#include "engine/model/joint_values.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "engine/model/rows.hpp"
#include "kernels/base/extent.hpp"
#include "tests/engine/bodies/boxes.hpp"

namespace supple {
namespace {

ConstraintRow row_of(ConstraintRow::Value value, int points, double side) {
  ConstraintRow row;
  row.value = value;
  row.first_point = 1;
  row.point_count = points;
  row.side = side;
  row.origin = 0.3;
  return row;
}

const std::vector<ConstraintRow> rows{
    row_of(ConstraintRow::Value::slide, 3, 1),   row_of(ConstraintRow::Value::slide, 3, -1),
    row_of(ConstraintRow::Value::aligned, 2, 1), row_of(ConstraintRow::Value::aligned, 4, 1),
    row_of(ConstraintRow::Value::angle, 3, 1),   row_of(ConstraintRow::Value::angle, 3, -1)};

TEST(JointValues, GradientsAndCurvaturesAreThoseOfFiniteDifferences) {
  for (const ConstraintRow& row : rows) {
    std::vector<double> y = boxes::random_vector(15, 1);
    const std::size_t n = extent(3, row.point_count);
    std::vector<double> gradient(n), high(n), low(n);
    (void)evaluate_constraint(row, y, gradient.data());
    std::vector<double> curvature(n * n, 0.0);
    const double lambda = -1;  // visits -lambda d^2 phi
    visit_constraint_curvature(row, y, lambda, [&](int j, int k, const Mat3d& block) {
      for (int a = 0; a < 3; ++a)
        for (int b = 0; b < 3; ++b) curvature[(extent(3, j) + extent(a)) * n + extent(3, k) + extent(b)] += block(a, b);
    });
    const double step = 1e-6;
    for (std::size_t i = 0; i < n; ++i) {
      std::vector<double> plus = y, minus = y;
      plus[3 + i] += step;
      minus[3 + i] -= step;
      const double up = evaluate_constraint(row, plus, high.data()), down = evaluate_constraint(row, minus, low.data());
      // Central differences of values and gradients of size 1 to 10: step^2 and rounding over step.
      EXPECT_NEAR((up - down) / (2 * step), gradient[i], 1e-7);
      for (std::size_t j = 0; j < n; ++j)
        EXPECT_NEAR((high[j] - low[j]) / (2 * step), curvature[j * n + i], 1e-6)
            << static_cast<int>(row.value) << " " << i << " " << j;
    }
  }
}

TEST(JointValues, AngleIsThatOfTheTurn) {
  const ConstraintRow row = row_of(ConstraintRow::Value::angle, 3, 1);
  double gradient[9];
  for (const double angle : {-3.0, -0.4, 0.0, 1.0, 3.1}) {
    const Vec3d u = normalized(Vec3d{{1, 2, -0.5}}), a = normalized(cross(u, Vec3d{{0, 0, 1}}));
    const Vec3d b = rotation_exp(angle * u) * a;
    const std::vector<double> y{0, 0, 0, u[0], u[1], u[2], a[0], a[1], a[2], b[0], b[1], b[2]};
    EXPECT_NEAR(joint_value(row, y, gradient), angle - row.origin, 1e-14);
  }
}

}  // namespace
}  // namespace supple
