#include "tests/engine/bodies/boxes.hpp"

#include <cmath>

namespace supple::boxes {

std::vector<Law> all_laws() {
  return {{"corotational", MaterialModel::corotational},
          {"edge_frame", MaterialModel::corotational, RotationKind::edge_frame},
          {"edge_polar", MaterialModel::corotational, RotationKind::edge_polar},
          {"st_venant_kirchhoff", MaterialModel::st_venant_kirchhoff},
          {"stable_neo_hookean", MaterialModel::stable_neo_hookean},
          {"mooney_rivlin", MaterialModel::mooney_rivlin},
          {"yeoh", MaterialModel::yeoh},
          {"gent", MaterialModel::gent},
          {"ogden", MaterialModel::ogden}};
}

std::vector<Law> exact_laws() {
  std::vector<Law> laws;
  for (const Law& law : all_laws())
    if (law.exact()) laws.push_back(law);
  return laws;
}

Scene scene(const Law& law, double young, double poisson) {
  Scene scene;
  scene.name = "box";
  scene.gravity = {{0, 0, 0}};
  BodyScene body;
  body.density = 1000;
  body.dilatation = Dilatation::points;  // one field
  MaterialScene material;
  material.model = law.model;
  material.rotation = law.rotation;
  material.young = young;
  material.poisson = poisson;
  const double mu = young / (2 * (1 + poisson)), d = mu * (1 + poisson) / (3 * (1 - 2 * poisson));
  if (law.model == MaterialModel::yeoh) material.constants = {mu / 2, 0.05 * mu, 0.01 * mu, d};
  if (law.model == MaterialModel::gent) material.constants = {mu, 10, d};
  // Sum of mu alpha = 2 mu: 1.2 + 0.5 + 0.3.
  if (law.model == MaterialModel::ogden) material.constants = {0.8 * mu, 1.5, 0.1 * mu, 5, -0.15 * mu, -2, d};
  body.materials = {material};
  scene.bodies = {body};
  return scene;
}

Region box_region(const Vec3d& lower, const Vec3d& upper) {
  Region region;
  region.kind = Region::Kind::box;
  region.lower = lower;
  region.upper = upper;
  return region;
}

Region group_region(const std::string& group) {
  Region region;
  region.kind = Region::Kind::group;
  region.group = group;
  return region;
}

FixScene clamp_at_origin() {
  FixScene fix;
  fix.region = box_region({{-1e-6, -10, -10}}, {{1e-6, 10, 10}});
  return fix;
}

ActuatorScene pull(const std::string& name, const Vec3d& point, const Vec3d& direction, double distance) {
  ActuatorScene cable;
  cable.name = name;
  cable.points = {point};
  cable.pull_point = point + distance * direction;
  cable.control = ActuatorControl::force;
  cable.range = {0, 1e9};
  return cable;
}

Mesh distorted(Mesh mesh, double amount) {
  Random random;
  for (Vec3d& x : mesh.nodes)
    for (int k = 0; k < 3; ++k) x[k] += amount * random();
  return mesh;
}

Mesh cube(bool hexahedra, int n, double distortion) {
  const Vec3d lower{{0, 0, 0}}, upper{{1, 1, 1}};
  return distorted(hexahedra ? box_hexahedra(lower, upper, n, n, n) : box_tetrahedra(lower, upper, n, n, n),
                   distortion);
}

std::vector<double> affine(const FullModel& model, const Mat3d& F, const Vec3d& t) {
  std::vector<double> q;
  for (int node : model.free_nodes) {
    const Vec3d x = model.mesh.nodes[static_cast<std::size_t>(node)], u = F * x + t - x;
    q.insert(q.end(), {u[0], u[1], u[2]});
  }
  return q;
}

std::vector<double> random_vector(int n, double size) {
  Random random;
  std::vector<double> v(static_cast<std::size_t>(n));
  for (double& x : v) x = size * random();
  return v;
}

Mat3d rotation(const Vec3d& axis, double angle) {
  const Vec3d n = normalized(axis);
  const Mat3d K{{0, -n[2], n[1], n[2], 0, -n[0], -n[1], n[0], 0}};
  return Mat3d::identity() + std::sin(angle) * K + (1 - std::cos(angle)) * (K * K);
}

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

double norm(const std::vector<double>& a) {
  return std::sqrt(dot(a, a));
}

double difference(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return std::sqrt(sum) / norm(b);
}

std::vector<double> plus(std::vector<double> a, double s, const std::vector<double>& b) {
  for (std::size_t i = 0; i < a.size(); ++i) a[i] += s * b[i];
  return a;
}

double elastic_energy(const FullModel& model, const std::vector<double>& u) {
  double energy = 0;
  for (const ElementField& field : model.fields)
    for (int p = 0; p < field.points(); ++p) {
      const auto point = static_cast<std::size_t>(p);
      const int e = p / field.points_per_element, n = field.nodes_per_element;
      Mat3d F = Mat3d::identity();
      for (int a = 0; a < n; ++a) {
        const int node = field.node[static_cast<std::size_t>(e * n + a)];
        for (int i = 0; i < 3; ++i)
          for (int j = 0; j < 3; ++j)
            F(i, j) += u[static_cast<std::size_t>(3 * node + i)] *
                       field.gradient[3 * (point * static_cast<std::size_t>(n) + static_cast<std::size_t>(a)) +
                                      static_cast<std::size_t>(j)];
      }
      const Mat3d edges = field.edges.empty() ? Mat3d::identity() : field.edges[point];
      energy +=
          field.volume[point] * visit_law(field.law, [&](auto law) {
            return decltype(law)::energy(F, field.parameters[static_cast<std::size_t>(field.region[point])], edges);
          });
    }
  return energy;
}

}  // namespace supple::boxes
