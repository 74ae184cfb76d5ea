#pragma once
// Small bodies made in memory for the tests of the mechanics: boxes of tetrahedra or hexahedra in SI, one material.

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "engine/mechanics/full/full_mechanics.hpp"
#include "engine/mesh/generate.hpp"
#include "engine/step/step.hpp"

namespace supple::boxes {

// Uniform in [-1, 1), the same everywhere.
class Random {
 public:
  double operator()() {
    state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL;
    return static_cast<double>(state_ >> 11) / 4503599627370496.0 - 1.0;
  }

 private:
  std::uint64_t state_ = 12345;
};

struct Law {
  std::string name;
  MaterialModel model;
  RotationKind rotation = RotationKind::polar;
  bool exact() const { return rotation == RotationKind::polar; }
};

std::vector<Law> all_laws();

std::vector<Law> exact_laws();

// No gravity, nothing held, 1000 kg/m^3, consistent mass.
Scene scene(const Law& law, double young = 1e5, double poisson = 0.3);

Region box_region(const Vec3d& lower, const Vec3d& upper);
Region group_region(const std::string& group);

// Holds the nodes with x <= 1e-6 m.
FixScene clamp_at_origin();

// Tension along `direction` on a point: a force-controlled cable pulled from `distance` away.
ActuatorScene pull(const std::string& name, const Vec3d& point, const Vec3d& direction, double distance);

// Moves every node by up to `amount` [m] at random.
Mesh distorted(Mesh mesh, double amount);

// Unit cube, n cells along each edge.
Mesh cube(bool hexahedra, int n, double distortion = 0);

// Coordinates at which every free node x is displaced to F x + t.
std::vector<double> affine(const FullModel& model, const Mat3d& F, const Vec3d& t = {{0, 0, 0}});

std::vector<double> random_vector(int n, double size);

Mat3d rotation(const Vec3d& axis, double angle);

double dot(const std::vector<double>& a, const std::vector<double>& b);
double norm(const std::vector<double>& a);
// |a - b| / |b|
double difference(const std::vector<double>& a, const std::vector<double>& b);
// a + s b
std::vector<double> plus(std::vector<double> a, double s, const std::vector<double>& b);

// Elastic energy [J] of the displacements u of all nodes (springs not included).
double elastic_energy(const FullModel& model, const std::vector<double>& u);

}  // namespace supple::boxes
