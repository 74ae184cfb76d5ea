// Of full models.
#include <algorithm>

#include "engine/model/stretch.hpp"
#include "kernels/base/extent.hpp"

namespace supple {

std::vector<double> stretch_slopes(const Robot& robot, const std::vector<Vec3d>& X, const ElementField& field) {
  const std::vector<int> stretches = stretches_of(robot);
  const int nodes = field.nodes_per_element;
  std::vector<double> slopes;
  for (int p = 0; p < field.points(); ++p)
    for (const int k : stretches) {
      Vec3d b{{0, 0, 0}};
      for (int a = 0; a < nodes; ++a) {
        const int node = field.node[extent(p / field.points_per_element, nodes) + extent(a)];
        const double* g = field.gradient.data() + extent(p, nodes, 3) + extent(3, a);
        b = b + stretched_along(robot.parameters[extent(k)], X[extent(node)]) * Vec3d{{g[0], g[1], g[2]}};
      }
      slopes.insert(slopes.end(), b.v, b.v + 3);
    }
  return slopes;
}

std::vector<double> stretch_of_points(const FullModel& nominal) {
  std::vector<double> along;
  for (const Interpolation& point : nominal.interpolation)
    for (const int k : stretches_of(nominal.robot)) {
      double sum = 0;
      for (std::size_t n = 0; n < point.node.size(); ++n)
        sum += point.weight[n] *
               stretched_along(nominal.robot.parameters[extent(k)], nominal.mesh.nodes[extent(point.node[n])]);
      along.push_back(sum);
    }
  return along;
}

void set_shape(const FullModel& nominal, const RestShape& shape, FullModel& model) {
  std::ranges::transform(nominal.mesh.nodes, model.mesh.nodes.begin(),
                         [&](const Vec3d& x) { return x + shape.shift(stretched_along(nominal.robot, x).data()); });
  for (std::size_t f = 0; f < nominal.fields.size(); ++f) {
    const ElementField& from = nominal.fields[f];
    ElementField& to = model.fields[f];
    const std::vector<double> slopes = stretch_slopes(nominal.robot, nominal.mesh.nodes, from);
    for (int p = 0; p < from.points(); ++p) {
      const Mat3d A = shape.gradient(slopes.data() + extent(p, 3, shape.stretches()));
      const Mat3d turn = transpose(inverse(A));
      for (int a = 0; a < from.nodes_per_element; ++a) {
        const std::size_t at = extent(p, from.nodes_per_element, 3) + extent(3, a);
        const Vec3d g = turn * Vec3d{{from.gradient[at], from.gradient[at + 1], from.gradient[at + 2]}};
        std::copy_n(g.v, 3, to.gradient.begin() + static_cast<std::ptrdiff_t>(at));
      }
      to.volume[extent(p)] = determinant(A) * from.volume[extent(p)];
      if (!from.edges.empty()) to.edges[extent(p)] = A * from.edges[extent(p)];
    }
  }
  std::vector<const std::vector<double>*> terms;
  for (const std::vector<double>& term : nominal.mass_terms) terms.push_back(&term);
  add_mass_terms(shape, terms, model.mass.value);
  set_shape(nominal.robot, shape, stretch_of_points(nominal), model.robot);
}

}  // namespace supple
