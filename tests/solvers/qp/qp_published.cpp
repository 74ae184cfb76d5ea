#include "tests/solvers/qp/qp_published.hpp"

#include <algorithm>
#include <initializer_list>

namespace supple::test {
namespace {

void fill(auto&& v, std::initializer_list<double> values) {
  std::copy(values.begin(), values.end(), v.data());
}

// sum_k (f_k^T x - t_k)^2
void sum_of_squares(PublishedQp& p, const RowMatrix& f, const VectorXd& t) {
  p.qp.P = 2 * f.transpose() * f;
  p.qp.g = -2 * f.transpose() * t;
  p.constant = t.squaredNorm();
}

PublishedQp hs21() {
  PublishedQp p{"HS21", Qp(2, 1), -100, -99.96};
  fill(p.qp.P, {0.02, 0, 0, 2});
  fill(p.qp.C, {10, -1});
  p.qp.row_lower[0] = 10;
  fill(p.qp.lower, {2, -50});
  fill(p.qp.upper, {50, 50});
  return p;
}

PublishedQp hs35() {
  PublishedQp p{"HS35", Qp(3, 1), 9, 1.0 / 9};
  fill(p.qp.P, {4, 2, 2, 2, 4, 0, 2, 0, 2});
  fill(p.qp.g, {-8, -6, -4});
  fill(p.qp.C, {1, 1, 2});
  p.qp.row_upper[0] = 3;
  p.qp.lower.setZero();
  return p;
}

PublishedQp hs76() {
  PublishedQp p{"HS76", Qp(4, 3), 0, -4.681818181818182};
  fill(p.qp.P, {2, 0, -1, 0, 0, 1, 0, 0, -1, 0, 2, 1, 0, 0, 1, 1});
  fill(p.qp.g, {-1, -3, 1, -1});
  fill(p.qp.C, {1, 2, 1, 1, 3, 1, 2, -1, 0, 1, 4, 0});
  fill(p.qp.row_upper, {5, 4, infinity});
  p.qp.row_lower[2] = 1.5;
  p.qp.lower.setZero();
  return p;
}

// Numbers 51 (right side 4), 52 (first square 4 x1 - x2) and 53 (bounds).
PublishedQp hs51_to_53(const char* name, double first, double right, double bound, double optimum) {
  PublishedQp p{name, Qp(5, 3), 0, optimum};
  RowMatrix f(4, 5);
  fill(f, {first, -1, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1});
  VectorXd t(4);
  fill(t, {0, 2, 1, 1});
  sum_of_squares(p, f, t);
  fill(p.qp.C, {1, 3, 0, 0, 0, 0, 0, 1, 1, -2, 0, 1, 0, 0, -1});
  fill(p.qp.row_lower, {right, 0, 0});
  p.qp.row_upper = p.qp.row_lower;
  p.qp.lower.setConstant(-bound);
  p.qp.upper.setConstant(bound);
  return p;
}

PublishedQp hs118() {
  PublishedQp p{"HS118", Qp(15, 17), 0, 664.82045};
  const double slope[] = {2.3, 1.7, 2.2}, curvature[] = {0.0002, 0.0002, 0.0003}, top[] = {90, 120, 60};
  const double rise[] = {6, 7, 6}, demand[] = {60, 50, 70, 85, 100};
  for (int i = 0; i < 15; ++i) {
    p.qp.P(i, i) = curvature[i % 3];
    p.qp.g[i] = slope[i % 3];
    p.qp.lower[i] = 0;
    p.qp.upper[i] = top[i % 3];
    if (i < 12) {  // -7 <= x_{i + 3} - x_i <= rise
      p.qp.C(i, i + 3) = 1;
      p.qp.C(i, i) = -1;
      p.qp.row_lower[i] = -7;
      p.qp.row_upper[i] = rise[i % 3];
    }
    p.qp.C(12 + i / 3, i) = 1;
  }
  for (int k = 0; k < 5; ++k) p.qp.row_lower[12 + k] = demand[k];
  for (int i = 0; i < 3; ++i)
    p.qp.lower[i] = i == 0 ? 8 : i == 1 ? 43 : 3, p.qp.upper[i] = i == 0 ? 21 : i == 1 ? 57 : 16;
  return p;
}

PublishedQp hs268() {
  PublishedQp p{"HS268", Qp(5, 5), 14463, 0};
  fill(p.qp.P, {10197, -12454, -1013, 1948,  329,  -12454, 20909, -1733, -4914, -186, -1013, -1733, 1755,
                1089,  -174,   1948,  -4914, 1089, 1515,   -22,   329,   -186,  -174, -22,   27});
  p.qp.P *= 2;
  fill(p.qp.g, {18340, -34198, 4542, 8672, 86});
  fill(p.qp.C, {-1, -1, -1, -1, -1, 10, 10, -3, 5, 4, -8, 1, -2, -5, 3, 8, -1, 2, 5, -3, -4, -2, 3, -5, 1});
  fill(p.qp.row_lower, {-5, 20, -40, 11, -30});
  return p;
}

}  // namespace

std::vector<PublishedQp> published_problems() {
  return {hs21(),
          hs35(),
          hs76(),
          hs51_to_53("HS51", 1, 4, infinity, 0),
          hs51_to_53("HS52", 4, 0, infinity, 1859.0 / 349),
          hs51_to_53("HS53", 1, 0, 10, 176.0 / 43),
          hs118(),
          hs268()};
}

}  // namespace supple::test
