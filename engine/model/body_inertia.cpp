#include "engine/model/body_inertia.hpp"

#include <algorithm>

#include "engine/model/full_model.hpp"
#include "engine/model/reduced_model.hpp"
#include "kernels/base/contract.hpp"
#include "kernels/base/extent.hpp"

namespace supple {

namespace {

// visit(row, column, mass) for all entries of the symmetric matrix, both triangles.
template <class Visit>
void visit_masses(const NodeMatrix& M, const Visit& visit) {
  for (int column = 0; column + 1 < static_cast<int>(M.column_start.size()); ++column)
    for (int k = M.column_start[extent(column)]; k < M.column_start[extent(column) + 1]; ++k) {
      const int row = M.row[extent(k)];
      visit(row, column, M.value[extent(k)]);
      if (row != column) visit(column, row, M.value[extent(k)]);
    }
}

Vec3d vector_at(std::span<const double> x, std::size_t i) {
  return {{x[3 * i], x[3 * i + 1], x[3 * i + 2]}};
}

Mat3d matrix_at(std::span<const double> x, std::size_t i) {
  Mat3d out;
  std::copy_n(x.data() + 9 * i, 9, out.m);
  return out;
}

void put(const Vec3d& v, std::vector<double>& out, std::size_t i) {
  std::copy_n(v.v, 3, out.data() + 3 * i);
}

// a x b of the product a b^T.
Vec3d axial(const Mat3d& B) {
  return {{B(1, 2) - B(2, 1), B(2, 0) - B(0, 2), B(0, 1) - B(1, 0)}};
}

// Column j of a basis over the nodes: rows of its free nodes; sums over nodes of `nodes` . phi_j^T, 3 x 3.
template <class Node>
Mat3d product_with(const FullModel& model, const double* column, const Node& node) {
  Mat3d sum = Mat3d::zero();
  for (std::size_t i = 0; i < model.free_nodes.size(); ++i)
    sum = sum + outer(node(model.free_nodes[i]), vector_at({column, 3 * model.free_nodes.size()}, i));
  return sum;
}

}  // namespace

BodyInertia body_inertia(const FullModel& model) {
  BodyInertia out;
  out.full = &model;
  out.translation.assign(3 * extent(model.coordinates.nv), 0.0);
  Vec3d moment{{0, 0, 0}};
  Mat3d second = Mat3d::zero();  // sum m X X^T
  visit_masses(model.mass, [&](int node, int other, double mass) {
    const Vec3d &x = model.mesh.nodes[extent(node)], &X = model.mesh.nodes[extent(other)];
    out.rest.mass += mass;
    moment = moment + mass * X;
    second = second + mass * outer(x, X);
    const int unknown = model.node_unknown[extent(node)];
    if (unknown < 0) return;
    for (int k = 0; k < 3; ++k) out.translation[3 * extent(3 * unknown + k) + extent(k)] += mass;
  });
  if (out.rest.mass > 0) out.rest.centre = (1 / out.rest.mass) * moment;
  out.rest.inertia = trace(second) * Mat3d::identity() - second - point_inertia(out.rest.mass, out.rest.centre);
  return out;
}

BodyInertia body_inertia(const ReducedModel& model) {
  return {.rest = model.rest_inertia,
          .translation = model.gravity,
          .first = model.first_moments,
          .second = model.second_moments};
}

BodyInertia project_inertia(const FullModel& full, std::span<const double> basis, int modes) {
  BodyInertia out;
  const BodyInertia of_nodes = body_inertia(full);
  out.rest = of_nodes.rest;
  const std::size_t nv = extent(full.coordinates.nv), nodes = full.mesh.nodes.size(), r = extent(modes);
  out.translation.assign(3 * r, 0.0);
  out.first.assign(9 * r, 0.0);
  out.second.assign(9 * r * r, 0.0);
  std::vector<Vec3d> products(nodes);
  const auto multiply = [&](const auto& field) {
    std::fill(products.begin(), products.end(), Vec3d{{0, 0, 0}});
    visit_masses(full.mass, [&](int node, int other, double mass) {
      products[extent(node)] = products[extent(node)] + mass * field(other);
    });
  };
  const auto product = [&](int node) { return products[extent(node)]; };
  multiply([&](int node) { return full.mesh.nodes[extent(node)]; });
  for (std::size_t j = 0; j < r; ++j) {
    const double* column = basis.data() + j * nv;
    for (std::size_t i = 0; i < nv; ++i)
      for (std::size_t k = 0; k < 3; ++k) out.translation[3 * j + k] += column[i] * of_nodes.translation[3 * i + k];
    const Mat3d first = product_with(full, column, product);
    std::copy_n(first.m, 9, out.first.data() + 9 * j);
  }
  for (std::size_t k = 0; k < r; ++k) {
    multiply([&](int node) {
      const int unknown = full.node_unknown[extent(node)];
      return unknown < 0 ? Vec3d{{0, 0, 0}} : vector_at(basis.subspan(k * nv, nv), extent(unknown));
    });
    for (std::size_t j = k; j < r; ++j) {
      Mat3d sum = product_with(full, basis.data() + j * nv, product);
      if (j == k) sum = 0.5 * (sum + transpose(sum));  // to the last bit
      const Mat3d other = transpose(sum);
      std::copy_n(other.m, 9, out.second.data() + 9 * (j * r + k));
      std::copy_n(sum.m, 9, out.second.data() + 9 * (k * r + j));
    }
  }
  return out;
}

CarriedInertia::CarriedInertia(const BodyInertia& inertia, const Pose& place)
    : nv_(static_cast<int>(inertia.translation.size() / 3)),
      turns_(inertia.turns()),
      translation_(inertia.translation.size()),
      axes_(place.rotation) {
  const std::size_t nv = extent(nv_);
  const Mat3d &S = place.rotation, St = transpose(S);
  for (std::size_t j = 0; j < nv; ++j) put(S * vector_at(inertia.translation, j), translation_, j);
  if (!turns_) return;
  if (inertia.full != nullptr) {
    full_ = inertia.full;
    for (const Vec3d& node : full_->mesh.nodes) places_.push_back(place(node));
    rest_products_.assign(places_.size(), {{0, 0, 0}});
    visit_masses(full_->mass, [&](int node, int other, double mass) {
      rest_products_[extent(node)] = rest_products_[extent(node)] + mass * places_[extent(other)];
    });
    return;
  }
  // X' = S X + s, phi' = S phi.
  first_.resize(9 * nv);
  second_.resize(9 * nv * nv);
  twist_.resize(3 * nv * nv);
  for (std::size_t j = 0; j < nv; ++j) {
    const Mat3d turned = S * matrix_at(inertia.first, j) * St + outer(place.position, vector_at(translation_, j));
    std::copy_n(turned.m, 9, first_.data() + 9 * j);
  }
  for (std::size_t k = 0; k < nv * nv; ++k) {
    const Mat3d turned = S * matrix_at(inertia.second, k) * St;
    std::copy_n(turned.m, 9, second_.data() + 9 * k);
    put(axial(turned), twist_, k);
  }
}

void CarriedInertia::evaluate(std::span<const double> alpha, At& at) const {
  const std::size_t nv = extent(nv_);
  SUPPLE_EXPECT(alpha.size() == nv);
  at.moment = {{0, 0, 0}};
  for (std::size_t j = 0; j < nv; ++j) at.moment = at.moment + alpha[j] * vector_at(translation_, j);
  at.second = Mat3d::zero();
  at.rotation.assign(3 * nv, 0.0);
  if (!turns_) return;
  if (full_ != nullptr) {
    std::vector<Vec3d> u(places_.size(), {{0, 0, 0}}), product(places_.size(), {{0, 0, 0}});
    for (std::size_t i = 0; i < full_->free_nodes.size(); ++i)
      u[extent(full_->free_nodes[i])] = axes_ * vector_at(alpha, i);
    visit_masses(full_->mass, [&](int node, int other, double mass) {
      product[extent(node)] = product[extent(node)] + mass * u[extent(other)];
    });
    at.products.resize(3 * places_.size());
    Mat3d cross_terms = Mat3d::zero();
    for (std::size_t i = 0; i < places_.size(); ++i) {
      put(product[i], at.products, i);
      cross_terms = cross_terms + outer(places_[i], product[i]);
      at.second = at.second + outer(u[i], product[i]);
    }
    at.second = at.second + cross_terms + transpose(cross_terms);
    for (std::size_t i = 0; i < full_->free_nodes.size(); ++i) {
      const std::size_t node = extent(full_->free_nodes[i]);
      const Vec3d moment = rest_products_[node] + product[node];
      // phi of component k is column k of the body's axes.
      for (std::size_t k = 0; k < 3; ++k) {
        const Vec3d phi{{axes_(0, static_cast<int>(k)), axes_(1, static_cast<int>(k)), axes_(2, static_cast<int>(k))}};
        put(cross(moment, phi), at.rotation, 3 * i + k);
      }
    }
    return;
  }
  at.products = first_;
  for (std::size_t k = 0; k < nv; ++k) {
    const double a = alpha[k];
    const double* row = second_.data() + 9 * nv * k;
    for (std::size_t i = 0; i < 9 * nv; ++i) at.products[i] += a * row[i];
  }
  for (std::size_t j = 0; j < nv; ++j) {
    const Mat3d product = matrix_at(at.products, j);
    put(axial(product), at.rotation, j);
    at.second = at.second + alpha[j] * (product + transpose(matrix_at(first_, j)));
  }
}

void CarriedInertia::add_apparent_forces(const At& at, const Vec3d& turn, std::span<const double> rates, double scale,
                                         std::span<double> out) const {
  SUPPLE_EXPECT(turns_);
  const std::size_t nv = extent(nv_);
  if (full_ != nullptr) {
    std::vector<Vec3d> rate(places_.size(), {{0, 0, 0}}), momentum(places_.size());
    for (std::size_t i = 0; i < full_->free_nodes.size(); ++i)
      rate[extent(full_->free_nodes[i])] = axes_ * vector_at(rates, i);
    for (std::size_t i = 0; i < places_.size(); ++i)
      momentum[i] = cross(turn, rest_products_[i] + vector_at(at.products, i));
    visit_masses(full_->mass, [&](int node, int other, double mass) {
      momentum[extent(node)] = momentum[extent(node)] + mass * rate[extent(other)];
    });
    const Mat3d back = transpose(axes_);
    for (std::size_t i = 0; i < full_->free_nodes.size(); ++i) {
      const Vec3d force = back * cross(turn, momentum[extent(full_->free_nodes[i])]);
      for (std::size_t k = 0; k < 3; ++k) out[3 * i + k] -= scale * force[static_cast<int>(k)];
    }
    return;
  }
  // phi . (Omega x (Omega x r)) = (Omega . phi)(Omega . r) - |Omega|^2 phi . r
  const Mat3d square = outer(turn, turn) - dot(turn, turn) * Mat3d::identity();
  for (std::size_t j = 0; j < nv; ++j) out[j] -= scale * dot(square, matrix_at(at.products, j));
  // phi_j . (Omega x phi_k) = Omega . (phi_k x phi_j)
  for (std::size_t k = 0; k < nv; ++k) {
    const double a = scale * rates[k];
    const double* row = twist_.data() + 3 * nv * k;
    for (std::size_t j = 0; j < nv; ++j)
      out[j] -= a * (turn[0] * row[3 * j] + turn[1] * row[3 * j + 1] + turn[2] * row[3 * j + 2]);
  }
}

}  // namespace supple
