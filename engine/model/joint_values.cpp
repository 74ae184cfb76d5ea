#include "engine/model/joint_values.hpp"

#include <cmath>

#include "kernels/base/contract.hpp"

namespace supple {

namespace {

// sine = u . (a x b), cosine = a . b, and their gradients.
struct AngleParts {
  double sine, cosine;
  std::array<Vec3d, 3> of_sine, of_cosine;
  AngleParts(const Vec3d& u, const Vec3d& a, const Vec3d& b)
      : sine(dot(u, cross(a, b))),
        cosine(dot(a, b)),
        of_sine{cross(a, b), cross(b, u), cross(u, a)},
        of_cosine{Vec3d{{0, 0, 0}}, b, a} {}
  double square() const { return sine * sine + cosine * cosine; }
};

void put(const Vec3d& x, double* out) {
  for (int k = 0; k < 3; ++k) out[k] = x[k];
}

}  // namespace

double joint_value(const ConstraintRow& row, std::span<const double> y, double* gradient) {
  const auto at = [&](int i) { return point_at(y.data(), row.first_point + i); };
  const Vec3d u = at(0);
  if (row.value == ConstraintRow::Value::slide) {
    const Vec3d d = at(2) - at(1);
    put(row.side * d, gradient);
    put(-row.side * u, gradient + 3);
    put(row.side * u, gradient + 6);
    return row.side * (dot(u, d) - row.origin);
  }
  if (row.value == ConstraintRow::Value::aligned) {
    const double factor = row.point_count == 4 ? 0.5 : 1;
    put(factor * at(1), gradient);
    put(factor * u, gradient + 3);
    if (row.point_count == 2) return dot(u, at(1));
    put(-factor * at(3), gradient + 6);
    put(-factor * at(2), gradient + 9);
    return factor * (dot(u, at(1)) - dot(at(2), at(3)));
  }
  SUPPLE_EXPECT(row.value == ConstraintRow::Value::angle);
  const AngleParts parts(u, at(1), at(2));
  const double square = parts.square();
  for (std::size_t i = 0; i < 3; ++i)
    put(row.side / square * (parts.cosine * parts.of_sine[i] - parts.sine * parts.of_cosine[i]), gradient + 3 * i);
  return row.side * (std::atan2(parts.sine, parts.cosine) - row.origin);
}

// With s and c of sine and cosine, D = s^2 + c^2:
//   H = (c H_s - s H_c)/D + ((s^2 - c^2)(g_s g_c^T + g_c g_s^T) + 2 s c (g_c g_c^T - g_s g_s^T))/D^2
std::array<std::array<Mat3d, 3>, 3> angle_curvature(const Vec3d& u, const Vec3d& a, const Vec3d& b) {
  const AngleParts parts(u, a, b);
  const double s = parts.sine, c = parts.cosine, D = parts.square();
  std::array<std::array<Mat3d, 3>, 3> H;
  for (std::size_t j = 0; j < 3; ++j)
    for (std::size_t k = 0; k < 3; ++k) {
      const Vec3d &sj = parts.of_sine[j], &sk = parts.of_sine[k], &cj = parts.of_cosine[j], &ck = parts.of_cosine[k];
      H[j][k] = (1 / (D * D)) *
                ((s * s - c * c) * (outer(sj, ck) + outer(cj, sk)) + (2 * s * c) * (outer(cj, ck) - outer(sj, sk)));
    }
  // The triple product u . (a x b): d^2/du da v = v-th column of u . (v x b), and so on around.
  const auto add = [&](std::size_t j, std::size_t k, const Mat3d& B) {
    H[j][k] = H[j][k] + B;
    H[k][j] = H[k][j] + transpose(B);
  };
  add(0, 1, (-c / D) * skew(b));
  add(1, 2, (-c / D) * skew(u));
  add(2, 0, (-c / D) * skew(a));
  add(1, 2, (-s / D) * Mat3d::identity());
  return H;
}

}  // namespace supple
