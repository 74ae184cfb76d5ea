#pragma once
// What the cases share: a body of one material, held and loaded by dead forces, in static equilibrium.

#include <array>
#include <functional>

#include "bench/validation/cases.hpp"
#include "engine/mechanics/full/full_mechanics.hpp"
#include "engine/step/equilibrium.hpp"

namespace supple::validation {

// Box [0, size] of so many cells, tetrahedra (six a cell) or hexahedra, of the element's order; then every node is
// moved to map(x), those of edges too, so that curved sides are curved.
Mesh box_mesh(const Element& element, const Vec3d& size, const std::array<int, 3>& cells,
              const std::function<Vec3d(const Vec3d&)>& map);
std::string cells_text(const std::array<int, 3>& cells);

struct Material {
  MaterialModel model = MaterialModel::st_venant_kirchhoff;
  double young = 0, poisson = 0, density = 1000;
  std::vector<double> constants{};  // MaterialScene's; young is then what springs are measured by
};

class Problem {
 public:
  // held: which nodes do not move.
  Problem(const Element& element, Mesh mesh, const Material& material, const Vec3d& gravity,
          const std::function<bool(const Vec3d&)>& held);
  const FullModel& model() const { return *model_; }
  // Springs along an axis at the nodes that are free and `chosen`, a plane of symmetry or plane strain; `give` times as
  // compliant as an element, about. Stiffer ones have more rounding in their forces.
  void hold_along(int axis, double give, const std::function<bool(const Vec3d&)>& chosen);
  // Force [N] spread evenly over the faces of the boundary with all their nodes `chosen`.
  void load_faces(const Vec3d& force, const std::function<bool(const Vec3d&)>& chosen);
  // Displacements of the mesh's nodes [nodes][3] in equilibrium, the load applied in so many parts. Throws RunError where
  // there is none.
  std::vector<double> solve(int parts = 1);
  // From rest, by the trapezoidal rule with Newton's method; after every step `seen` gets the time [s] and the
  // displacements. Throws RunError where a step fails.
  void swing(double time_step, int steps, const std::function<void(double, const std::vector<double>&)>& seen);
  // Of the node nearest to x.
  Vec3d displacement(const std::vector<double>& u, const Vec3d& x) const;
  // Mean over the faces of the boundary with all their nodes `chosen`.
  Vec3d mean_displacement(const std::vector<double>& u, const std::function<bool(const Vec3d&)>& chosen) const;
  int unknowns() const { return model_->coordinates.nv; }

 private:
  std::vector<std::pair<int, double>> face_shares(const std::function<bool(const Vec3d&)>& chosen) const;

  double young_;
  std::shared_ptr<FullModel> model_;
  std::vector<double> load_;
};

}  // namespace supple::validation
