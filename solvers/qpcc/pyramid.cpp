#include "solvers/qpcc/pyramid.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "kernels/contact/coulomb.hpp"

namespace supple::qpcc {

Pyramid::Pyramid(int facets, double friction, double angle)
    : facets_(facets), friction_(std::min(friction, sticking_friction)) {
  if (frictionless()) return;
  const double half = std::numbers::pi / facets, size = std::hypot(1, friction_);
  normal_part_ = 1 / size;
  tangent_part_ = friction_ / size;
  inner_ = friction_ * std::cos(half);
  inner_norm_ = std::hypot(1, inner_);
  half_edge_ = friction_ * std::sin(half);
  for (int i = 0; i < facets; ++i) {
    const double to_vertex = angle + 2 * half * i, to_facet = to_vertex + half;
    vertex_[i] = {std::cos(to_vertex), std::sin(to_vertex)};
    normal_[i] = {std::cos(to_facet), std::sin(to_facet)};
  }
}

// lambda_n = (a + b) normal_part, e_i . lambda_t = (b - a) normal_part half_edge.
Vector3 Pyramid::edge_coefficient(int i, bool second) const {
  const double sum = 0.5 / normal_part_, difference = (second ? 0.5 : -0.5) / (normal_part_ * half_edge_);
  return {sum, -difference * normal_[i][1], difference * normal_[i][0]};
}

PieceShape Pyramid::shape(int piece) const {
  PieceShape s;
  const auto along_edge = [&](int i, double sign) { return Vector3{0, -sign * normal_[i][1], sign * normal_[i][0]}; };
  if (piece == open_piece) {
    s.row[s.rows++].motion = {1, 0, 0};
  } else if (piece == stick_piece) {
    s.size = 3;
    for (int j = 0; j < 3; ++j) s.S[j][j] = s.E[j][j] = 1;
    for (int i = 0; i < facets_; ++i)
      s.row[s.rows++].force = {inner_ / inner_norm_, -normal_[i][0] / inner_norm_, -normal_[i][1] / inner_norm_};
  } else if (piece < first_vertex + facets_) {
    const int i = piece - first_vertex;
    s.size = 1;
    s.S[0] = ray(i);
    s.E[0] = {1, 0, 0};
    s.row[s.rows++].force = ray(i);
    if (frictionless()) return s;
    s.row[s.rows++].motion = along_edge(i, 1);
    s.row[s.rows++].motion = along_edge(before(i), -1);
  } else {
    const int i = piece - first_vertex - facets_;
    s.size = 2;
    s.S[0] = ray(i);
    s.S[1] = ray(after(i));
    s.E[0] = {1, 0, 0};
    s.E[1] = along_edge(i, 1);
    s.row[s.rows++].force = edge_coefficient(i, false);
    s.row[s.rows++].force = edge_coefficient(i, true);
    s.row[s.rows++].motion = {0, -normal_[i][0], -normal_[i][1]};
  }
  return s;
}

double Pyramid::force_distance(int piece, const double* lambda) const {
  if (piece == open_piece) return std::max({std::abs(lambda[0]), std::abs(lambda[1]), std::abs(lambda[2])});
  double worst = std::max(-lambda[0], 0.0);
  if (piece == stick_piece) {
    for (int i = 0; i < facets_; ++i) worst = std::max(worst, -slack(i, lambda));
  } else if (piece < first_vertex + facets_) {
    const Vector3 r = ray(piece - first_vertex);
    const double length = std::max(dot3(r, lambda), 0.0);
    for (int j = 0; j < 3; ++j) worst = std::max(worst, std::abs(lambda[j] - length * r[j]));
  } else {
    const int i = piece - first_vertex - facets_;
    const double beyond = (std::abs(along(i, lambda)) - half_edge_ * lambda[0]) / std::hypot(1, half_edge_);
    worst = std::max({worst, std::abs(slack(i, lambda)), beyond});
  }
  return worst;
}

double Pyramid::motion_distance(int piece, const double* w) const {
  if (piece == open_piece) return std::max(-w[0], 0.0);
  double worst = std::abs(w[0]);
  if (piece == stick_piece) {
    worst = std::max({worst, std::abs(w[1]), std::abs(w[2])});
  } else if (frictionless()) {
  } else if (piece < first_vertex + facets_) {
    const int i = piece - first_vertex;
    worst = std::max({worst, -along(i, w), along(before(i), w)});
  } else {
    const int i = piece - first_vertex - facets_;
    worst = std::max({worst, std::abs(along(i, w)), across(i, w)});
  }
  return worst;
}

double Pyramid::wrong_sign(int piece, const double* lambda, const double* w, const double* alpha, const double* beta,
                           double force_tolerance, double motion_tolerance) const {
  double worst = 0;
  // A generator along which the point can move both ways, or only forward.
  const auto look = [&](bool both_ways, double rate) { worst = std::max(worst, both_ways ? std::abs(rate) : -rate); };
  const auto slip = [&](int facet, double amount) {
    look(amount > motion_tolerance, -(normal_[facet][0] * beta[1] + normal_[facet][1] * beta[2]));
  };
  if (piece == open_piece) {
    look(w[0] > motion_tolerance, beta[0]);
    return std::max(worst, std::hypot(beta[1], beta[2]));
  }
  if (piece == stick_piece) {
    std::array<bool, max_contact_facets> touched;
    int count = 0;
    for (int i = 0; i < facets_; ++i) count += touched[i] = slack(i, lambda) <= force_tolerance;
    // Ray i lies in the facets i - 1 and i: in the least face around lambda if those are all that lambda touches.
    for (int i = 0; i < facets_; ++i) look(touched[i] + touched[before(i)] == count, dot3(ray(i), alpha));
  } else if (piece < first_vertex + facets_) {
    const int i = piece - first_vertex;
    look(dot3(ray(i), lambda) > force_tolerance, dot3(ray(i), alpha));
    if (frictionless()) return std::max(worst, std::hypot(beta[1], beta[2]));
    slip(before(i), along(i, w));
    slip(i, -along(before(i), w));
  } else {
    const int i = piece - first_vertex - facets_;
    look(dot3(edge_coefficient(i, false), lambda) > force_tolerance, dot3(ray(i), alpha));
    look(dot3(edge_coefficient(i, true), lambda) > force_tolerance, dot3(ray(after(i)), alpha));
    slip(i, -across(i, w));
  }
  return worst;
}

ContactPiece piece_of(int number, int facets) {
  if (number == open_piece) return {ContactMode::open, 0};
  if (number == stick_piece) return {ContactMode::stick, 0};
  number -= first_vertex;
  const bool vertex = number < facets;
  return {vertex ? ContactMode::vertex : ContactMode::facet,
          static_cast<signed char>(vertex ? number : number - facets)};
}

int number_of(ContactPiece piece, const Pyramid& pyramid) {
  int number = -1;
  if (piece.mode == ContactMode::open) number = open_piece;
  if (piece.mode == ContactMode::stick) number = stick_piece;
  const bool inside = piece.index >= 0 && piece.index < pyramid.facets();
  if (piece.mode == ContactMode::vertex && inside) number = first_vertex + piece.index;
  if (piece.mode == ContactMode::facet && inside) number = first_vertex + pyramid.facets() + piece.index;
  return pyramid.exists(number) ? number : -1;
}

}  // namespace supple::qpcc
