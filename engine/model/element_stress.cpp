#include "engine/model/element_stress.hpp"

#include <algorithm>
#include <cmath>

#include "engine/model/reduced_shape.hpp"
#include "kernels/array/launch.hpp"
#include "kernels/elements/element_ops.hpp"

namespace supple {

namespace {

// Area of the plane of a membrane's frame now, to that at rest.
double area_ratio(const Mat3d& F, const Mat3d& frame) {
  const Mat3d f = F * frame;
  return norm(cross(Vec3d{{f[0], f[3], f[6]}}, Vec3d{{f[1], f[4], f[7]}}));
}

// The laws of the fields' points in whole: the sum of the parts that stand in fields of their own.
template <class Field>
std::vector<MaterialParameters<double>> whole_law(const std::vector<Field>& fields, const Field& field) {
  std::vector<MaterialParameters<double>> sum = field.parameters;
  for (const Field& other : fields)
    if (&other != &field && field.part != LawPart::whole && other.part != field.part && other.part != LawPart::whole &&
        other.law == field.law && other.nodes_per_element == field.nodes_per_element)
      visit_law(field.law, [&](auto law) {
        for (std::size_t region = 0; region < sum.size(); ++region)
          for (int i = 0; i < law.parameters; ++i)
            if ((law.moduli >> i & 1u) != 0) sum[region].p[i] += other.parameters[region].p[i];
      });
  return sum;
}

// F: tiles; unit weights, so that P is the stress itself. One value a point.
std::vector<double> point_stresses(LawId law, int points, const std::vector<int>& region,
                                   const std::vector<MaterialParameters<double>>& parameters,
                                   const std::vector<Mat3d>& edges, const std::vector<double>& F) {
  const auto n = static_cast<std::size_t>(points);
  const std::vector<double> ones(n, 1.0);
  std::vector<double> P(F.size()), stress(n, 0.0);
  std::vector<unsigned char> status(static_cast<std::size_t>(padded(points)));
  visit_law(law, [&](auto type) {
    const PointField<double> field{points, ones.data(), region.data(), parameters.data(),
                                   edges.empty() ? nullptr : edges.data()};
    launch_cpu(padded(points), StressOp<decltype(type), double>{field, F.data(), P.data(), status.data()});
  });
  for (int p = 0; p < points; ++p) {
    const Mat3d f = load_tile<double>(F.data(), p);
    const double J = membrane_law(law) ? area_ratio(f, edges[static_cast<std::size_t>(p)]) : determinant(f);
    if (static_cast<PointStatus>(status[static_cast<std::size_t>(p)]) == PointStatus::undefined || J == 0) continue;
    const Mat3d sigma = (1 / J) * (load_tile<double>(P.data(), p) * transpose(f));
    const Mat3d deviator = sigma - (trace(sigma) / 3) * Mat3d::identity();
    stress[static_cast<std::size_t>(p)] = std::sqrt(1.5 * dot(deviator, deviator));
  }
  return stress;
}

// Means over an element's points.
double mean_of(const std::vector<double>& stress, const std::vector<double>& weight, std::size_t first,
               std::size_t count) {
  double sum = 0, total = 0;
  for (std::size_t p = first; p < first + count; ++p) {
    sum += weight[p] * stress[p];
    total += weight[p];
  }
  return total > 0 ? sum / total : 0;
}

}  // namespace

bool has_stress(LawId law) {
  return solid(law) || law == LawId::corotational_membrane;
}

std::vector<double> von_mises(const FullModel& model, std::span<const double> u) {
  std::size_t total = static_cast<std::size_t>(model.mesh.element_count());
  for (const ElementField& field : model.fields)
    if (membrane_law(field.law)) total += field.element.size();
  std::vector<double> elements(total, 0.0);
  for (const ElementField& field : model.fields) {
    if (field.part == LawPart::mean || !has_stress(field.law)) continue;
    std::vector<double> F(9 * static_cast<std::size_t>(padded(field.points())));
    launch_cpu(padded(field.points()),
               GatherGradientOp<double>{field.points(), field.nodes_per_element, field.points_per_element,
                                        field.node.data(), field.gradient.data(), u.data(), F.data()});
    const std::vector<double> stress =
        point_stresses(field.law, field.points(), field.region, whole_law(model.fields, field), field.edges, F);
    const auto count = static_cast<std::size_t>(field.points_per_element);
    for (std::size_t e = 0; e < field.element.size(); ++e)
      elements[static_cast<std::size_t>(field.element[e])] = mean_of(stress, field.volume, e * count, count);
  }
  return elements;
}

std::vector<double> von_mises(const ReducedModel& model, std::span<const double> q, std::span<const double> motions,
                              std::span<const double> scale) {
  std::vector<double> elements, x(q.begin(), q.begin() + model.modes);
  if (model.columns() > model.modes) x.insert(x.end(), motions.begin(), motions.end());
  for (const ReducedField& field : model.fields) {
    if (field.part == LawPart::mean || field.law == LawId::rod) continue;
    const KeptElements kept = kept_elements(field);
    if (!has_stress(field.law)) {
      elements.insert(elements.end(), kept.first.size(), 0.0);
      continue;
    }
    std::vector<double> F(9 * static_cast<std::size_t>(padded(field.points())), 0.0);
    for (int t = 0; t < tile_count(field.points()); ++t)
      for (int row = 0; row < tile_rows; ++row) {
        const int component = row / tile_size;
        double sum = component % 4 == 0 ? 1 : 0;  // the identity: components 0, 4, 8
        for (std::size_t c = 0; c < x.size(); ++c)
          sum +=
              field.G[(static_cast<std::size_t>(t) * x.size() + c) * tile_rows + static_cast<std::size_t>(row)] * x[c];
        F[static_cast<std::size_t>(t) * tile_rows + static_cast<std::size_t>(row)] = sum;
      }
    const std::vector<double> stress =
        point_stresses(field.law, field.points(), field.region, whole_law(model.fields, field), field.edges, F);
    std::vector<double> sum(kept.first.size(), 0.0), total(kept.first.size(), 0.0);
    for (std::size_t p = 0; p < stress.size(); ++p) {
      const auto e = static_cast<std::size_t>(kept.of_unit[p / static_cast<std::size_t>(field.points_per_element)]);
      const auto region = static_cast<std::size_t>(model.first_region(field) + field.region[p]);
      sum[e] += field.weight[p] * stress[p] * (scale.empty() ? 1 : scale[region]);
      total[e] += field.weight[p];
    }
    for (std::size_t e = 0; e < sum.size(); ++e) elements.push_back(total[e] > 0 ? sum[e] / total[e] : 0);
  }
  return elements;
}

}  // namespace supple
