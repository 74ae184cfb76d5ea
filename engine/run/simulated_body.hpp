#pragma once
// What a simulation asks of its model beside steps: a full model, or a reduced one.

#include <memory>
#include <span>
#include <vector>

#include "engine/mesh/mesh.hpp"
#include "engine/model/reduced_model.hpp"
#include "engine/run/mechanics_team.hpp"

namespace supple {

struct FullModel;

class SimulatedBody {
 public:
  virtual ~SimulatedBody() = default;
  virtual const Robot& robot() const = 0;
  virtual const ReducedModel* reduced() const { return nullptr; }  // null: full
  virtual std::unique_ptr<MechanicsTeam> make_team(int robots, MechanicsTeam::Members members) = 0;
  /// At rest.
  virtual const Surface& skin() = 0;
  /// Displacements of its nodes for coordinates and prescribed inputs of one robot [3 nodes, m].
  virtual void skin_displacements(std::span<const double> q, std::span<const double> motions,
                                  std::span<double> out) = 0;
  /// Von Mises stress of elements [Pa] (engine/model/element_stress.hpp). scale: factors on the moduli of the regions of a
  /// reduced model, or empty.
  virtual std::vector<double> stress(std::span<const double> q, std::span<const double> motions,
                                     std::span<const double> scale) = 0;
};

std::unique_ptr<SimulatedBody> body_of(std::shared_ptr<const ReducedModel> model);  // simulated_reduced.cpp
std::unique_ptr<SimulatedBody> body_of(std::shared_ptr<const FullModel> model);     // simulated_full.cpp

}  // namespace supple
