#pragma once
// What a simulation asks of its model beside steps: a full model, a reduced one, or a scene of several bodies.

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/mesh/mesh.hpp"
#include "engine/model/reduced_model.hpp"
#include "engine/run/mechanics_team.hpp"

namespace supple {

struct FullModel;
struct AssemblyScene;

/// Where the own axes of a part or a rigid body are.
struct NamedPose {
  std::string name;
  Pose pose;
};

class SimulatedBody {
 public:
  enum class Kind { full, reduced, several };
  virtual ~SimulatedBody() = default;
  virtual const Robot& robot() const = 0;
  virtual Kind kind() const = 0;
  virtual const ReducedModel* reduced() const { return nullptr; }  // of that kind
  /// Whether it can be stepped by Newton's method and brought to equilibrium.
  virtual bool exact_tangent() const { return true; }
  virtual std::unique_ptr<MechanicsTeam> make_team(int robots, MechanicsTeam::Members members) = 0;
  /// At rest; of several bodies those of the parts, then those of the rigid bodies.
  virtual const Surface& skin() = 0;
  /// Displacements of its nodes for coordinates and prescribed inputs of one robot [3 nodes, m].
  virtual void skin_displacements(std::span<const double> q, std::span<const double> motions,
                                  std::span<double> out) = 0;
  /// Von Mises stress of elements [Pa] (engine/model/element_stress.hpp). scale: factors on the moduli of the regions of a
  /// reduced model, or empty.
  virtual std::vector<double> stress(std::span<const double> q, std::span<const double> motions,
                                     std::span<const double> scale) = 0;
  /// Of several bodies: of parts, then of rigid bodies, for coordinates and prescribed inputs of one robot.
  virtual std::vector<NamedPose> poses(std::span<const double> /*q*/, std::span<const double> /*motions*/) {
    return {};
  }
};

std::unique_ptr<SimulatedBody> body_of(std::shared_ptr<const ReducedModel> model);  // simulated_reduced.cpp
std::unique_ptr<SimulatedBody> body_of(std::shared_ptr<const FullModel> model);     // simulated_full.cpp
std::unique_ptr<SimulatedBody> body_of(AssemblyScene scene);                        // simulated_assembly.cpp

}  // namespace supple
