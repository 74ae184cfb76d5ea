#include "solvers/qpcc/forward_pieces.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "solvers/dense/pack.hpp"

namespace supple::qpcc {
namespace {

constexpr int sweeps = 300;
constexpr double settled = 1e-12;  // change of a force in a sweep, of the largest
constexpr double obeyed = 1e-12;   // violation of a law, of the terms
constexpr double shift = 1e-8;     // added to the diagonal of a contact's block, taken back by a proximal step

// Gaussian elimination with row exchanges, n <= 3. False where singular.
bool solve_small(int n, double a[3][3], double* b) {
  for (int k = 0; k < n; ++k) {
    int pivot = k;
    for (int i = k + 1; i < n; ++i)
      if (std::abs(a[i][k]) > std::abs(a[pivot][k])) pivot = i;
    if (!(std::abs(a[pivot][k]) > 1e-14)) return false;
    std::swap(a[k], a[pivot]);
    std::swap(b[k], b[pivot]);
    for (int i = k + 1; i < n; ++i) {
      const double l = a[i][k] / a[k][k];
      for (int j = k; j < n; ++j) a[i][j] -= l * a[k][j];
      b[i] -= l * b[k];
    }
  }
  for (int i = n - 1; i >= 0; --i) {
    for (int j = i + 1; j < n; ++j) b[i] -= a[i][j] * b[j];
    b[i] /= a[i][i];
  }
  return true;
}

}  // namespace

ForwardPieces::ForwardPieces(const ScaledQpcc& problem, int max_contacts) : q_(problem), workspace_(0, max_contacts) {}

void ForwardPieces::use(Room room) {
  W_ = room.take(extent(9 * q_.m, q_.m));
  d_ = room.take(extent(3 * q_.m));
  lambda_ = room.take(extent(3 * q_.m));
  friction_ = room.take(extent(q_.m));
}

// lambda for W_cc lambda + free = w on a piece; the violation of the law, of |lambda| and |w|.
double ForwardPieces::local_force(int c, int piece, const double* W, const double* free, double* lambda) const {
  const Pyramid& pyramid = q_.pyramid[c];
  const PieceShape shape = pyramid.shape(piece);
  double K[3][3], p[3], w[3];
  std::fill_n(lambda, 3, 0.0);
  for (int e = 0; e < shape.size; ++e) {
    p[e] = -dot3(shape.E[e], free);
    for (int j = 0; j < shape.size; ++j) {
      K[e][j] = 0;
      for (int a = 0; a < 3; ++a) K[e][j] += shape.E[e][a] * dot3(shape.S[j], W + 3 * a);
    }
  }
  if (!solve_small(shape.size, K, p)) return std::numeric_limits<double>::infinity();
  for (int j = 0; j < shape.size; ++j)
    for (int a = 0; a < 3; ++a) lambda[a] += shape.S[j][a] * p[j];
  double size = 0;
  for (int a = 0; a < 3; ++a) {
    w[a] = free[a] + lambda[0] * W[3 * a] + lambda[1] * W[3 * a + 1] + lambda[2] * W[3 * a + 2];
    size = std::max({size, std::abs(free[a]), std::abs(lambda[a])});
  }
  const double worst = std::max(pyramid.force_distance(piece, lambda), pyramid.motion_distance(piece, w));
  return worst > 0 ? worst / size : 0;
}

// False where nothing moved.
bool ForwardPieces::sweep(unsigned char* piece) {
  const int m = q_.m, all = 3 * m;
  double change = 0, largest = 0;
  bool switched = false;
  for (int c = 0; c < m; ++c) {
    double free[3], block[9], best[3] = {}, lambda[3];
    double* mine = lambda_ + 3 * c;
    for (int a = 0; a < 3; ++a) {
      const double* row = W_ + extent(3 * c + a, all);
      free[a] = d_[3 * c + a] + dot(row, lambda_, all);
      for (int b = 0; b < 3; ++b) {
        block[3 * a + b] = row[3 * c + b] + (a == b ? shift : 0);
        free[a] -= block[3 * a + b] * mine[b];
      }
    }
    double least = std::numeric_limits<double>::infinity();
    int chosen = piece[c];
    const auto attempt = [&](int number) {
      const double violation = local_force(c, number, block, free, lambda);
      if (violation >= least) return;
      least = violation;
      chosen = number;
      std::copy_n(lambda, 3, best);
    };
    attempt(chosen);
    for (int number = 0; number < q_.pyramid[c].pieces() && least > obeyed; ++number)
      if (q_.pyramid[c].exists(number)) attempt(number);
    switched = switched || chosen != piece[c];
    piece[c] = static_cast<unsigned char>(chosen);
    for (int a = 0; a < 3; ++a) {
      change = std::max(change, std::abs(best[a] - mine[a]));
      mine[a] = best[a];
      largest = std::max(largest, std::abs(best[a]));
    }
  }
  return switched || change > settled * largest;
}

void ForwardPieces::find(const double* x, unsigned char* piece) {
  const int m = q_.m, n = q_.n;
  for (int i = 0; i < 3 * m; ++i) {
    const double* row = q_.W + extent(i, q_.all);
    d_[i] = q_.d[i] + dot(row, x, n);
    std::copy_n(row + n, 3 * m, W_ + extent(i, 3 * m));
  }
  for (int c = 0; c < m; ++c) friction_[c] = q_.pyramid[c].friction();
  std::fill_n(lambda_, 3 * m, 0.0);
  std::fill_n(piece, m, static_cast<unsigned char>(open_piece));
  const auto span = [](double* v, int size) { return std::span<double>(v, extent(size)); };
  const ContactReport report = solve_contact({.boxes = 0,
                                              .contacts = m,
                                              .rank = 0,
                                              .W = span(W_, 9 * m * m),
                                              .V = {},
                                              .d = span(d_, 3 * m),
                                              .compliance = {},
                                              .lower = {},
                                              .upper = {},
                                              .friction = span(friction_, m)},
                                             span(lambda_, 3 * m), workspace_, {.max_sweeps = 200});
  if (report.status == ContactStatus::not_finite) std::fill_n(lambda_, 3 * m, 0.0);
  for (int i = 0; i < sweeps && sweep(piece); ++i) {
  }
}

}  // namespace supple::qpcc
