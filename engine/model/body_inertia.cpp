#include "engine/model/body_inertia.hpp"

#include "engine/model/full_model.hpp"
#include "engine/model/reduced_model.hpp"
#include "kernels/base/extent.hpp"

namespace supple {

BodyInertia body_inertia(const FullModel& model) {
  BodyInertia out;
  const auto nv = extent(model.coordinates.nv);
  out.translation.assign(3 * nv, 0.0);
  out.rotation.assign(3 * nv, 0.0);
  Vec3d moment{{0, 0, 0}};
  Mat3d second = Mat3d::zero();  // sum m X X^T
  const auto add = [&](int node, int other, double mass) {
    const Vec3d &x = model.mesh.nodes[extent(node)], &X = model.mesh.nodes[extent(other)];
    out.rest.mass += mass;
    moment = moment + mass * X;
    second = second + mass * outer(x, X);
    const int unknown = model.node_unknown[extent(node)];
    if (unknown < 0) return;
    for (int k = 0; k < 3; ++k) {
      Vec3d e{{0, 0, 0}};
      e[k] = 1;
      const Vec3d turned = cross(e, X);
      for (int i = 0; i < 3; ++i) {
        const std::size_t at = 3 * extent(3 * unknown + i) + extent(k);
        out.rotation[at] += mass * turned[i];
        if (i == k) out.translation[at] += mass;
      }
    }
  };
  for (int column = 0; column < static_cast<int>(model.mesh.nodes.size()); ++column)
    for (int k = model.mass.column_start[extent(column)]; k < model.mass.column_start[extent(column) + 1]; ++k) {
      const int row = model.mass.row[extent(k)];
      add(row, column, model.mass.value[extent(k)]);
      if (row != column) add(column, row, model.mass.value[extent(k)]);
    }
  if (out.rest.mass > 0) out.rest.centre = (1 / out.rest.mass) * moment;
  out.rest.inertia = trace(second) * Mat3d::identity() - second - point_inertia(out.rest.mass, out.rest.centre);
  return out;
}

BodyInertia body_inertia(const ReducedModel& model) {
  return {.translation = model.gravity, .rotation = model.turning, .rest = model.rest_inertia};
}

BodyInertia project_inertia(const BodyInertia& full, std::span<const double> basis, int modes) {
  BodyInertia out;
  out.rest = full.rest;
  const std::size_t nv = full.translation.size() / 3;
  const auto project = [&](const std::vector<double>& columns) {
    std::vector<double> product(extent(modes, 3), 0.0);
    for (int j = 0; j < modes; ++j)
      for (std::size_t i = 0; i < nv; ++i)
        for (std::size_t k = 0; k < 3; ++k) product[extent(j, 3) + k] += basis[extent(j) * nv + i] * columns[3 * i + k];
    return product;
  };
  out.translation = project(full.translation);
  if (!full.rotation.empty()) out.rotation = project(full.rotation);
  return out;
}

}  // namespace supple
