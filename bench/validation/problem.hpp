#pragma once
// What the cases share: a body of one material that is held, loaded by dead forces, driven by actuators and in contact
// with obstacles; in static equilibrium and in time.

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
  std::vector<PronyTerm> prony{};
  double retardation = 0;  // s
};

using Chosen = std::function<bool(const Vec3d&)>;
const auto everywhere = [](const Vec3d&) { return true; };
const auto nowhere = [](const Vec3d&) { return false; };

class Problem {
 public:
  // held: which nodes do not move; with: adds to the body what it has besides.
  Problem(const Element& element, Mesh mesh, const Material& material, const Vec3d& gravity, const Chosen& held,
          const std::function<void(BodyScene&)>& with = {});
  FullModel& model() { return *model_; }
  const FullModel& model() const { return *model_; }
  // Springs along an axis at the nodes that are free and `chosen`, a plane of symmetry or plane strain; `give` times as
  // compliant as an element, about. Stiffer ones have more rounding in their forces.
  void hold_along(int axis, double give, const Chosen& chosen);
  // Force [N] spread evenly over the faces of the boundary with all their nodes `chosen`.
  void load_faces(const Vec3d& force, const Chosen& chosen);
  const std::vector<double>& load() const { return load_; }  // [unknowns, N]
  // An actuator, by its volume: the chosen faces are walls of a cavity that straight lines from their rim to a fixed
  // centre close, as where planes of symmetry through the centre cut a hollow body.
  void add_cavity(const Vec3d& centre, const Chosen& chosen);
  // The free nodes that are `chosen` touch the obstacle.
  void touch(const PlacedObstacle& obstacle, const Chosen& chosen);
  // Displacements of the mesh's nodes [nodes][3] in equilibrium, the load applied in so many parts. Throws RunError where
  // there is none.
  std::vector<double> solve(int parts = 1);
  // From its rest shape with this velocity [m/s], under its load, by the trapezoidal rule with Newton's method, of viscous
  // materials by implicit Euler; after every step `seen`
  // gets the time [s] and the displacements. Throws RunError where a step fails.
  using Seen = std::function<void(double, const std::vector<double>&)>;
  void swing(double time_step, int steps, const Seen& seen, const std::function<Vec3d(const Vec3d&)>& velocity = {});
  // From rest under its load: steps of implicit Euler with one linearisation in a second of wall time.
  double steps_per_second(double time_step) const;
  // Of the node nearest to x.
  Vec3d displacement(const std::vector<double>& u, const Vec3d& x) const;
  // Mean over the faces of the boundary with all their nodes `chosen`.
  Vec3d mean_displacement(const std::vector<double>& u, const Chosen& chosen) const;
  // Nodes of the chosen faces and the integrals of their shape functions [m^2].
  std::vector<std::pair<int, double>> face_shares(const Chosen& chosen) const;
  int unknowns() const { return model_->coordinates.nv; }

 private:
  double young_;
  std::shared_ptr<FullModel> model_;
  std::vector<double> load_;
};

// A problem in equilibrium under one load after the other, each found from the one before.
class Statics {
 public:
  explicit Statics(const Problem& problem);
  // Displacements of the mesh's nodes [nodes][3] under this load [unknowns, N] and these commands of the actuators.
  // Throws RunError where there is no equilibrium.
  std::vector<double> solve(std::span<const double> load, const std::vector<double>& commands = {});
  const State& state() const { return state_; }
  Mechanics& mechanics() { return mechanics_; }

 private:
  const FullModel& model_;
  FullMechanics mechanics_;
  State state_;
  Equilibrium equilibrium_;
};

}  // namespace supple::validation
