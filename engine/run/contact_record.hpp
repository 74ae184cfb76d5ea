#pragma once
// Contact over a run: with obstacles, and of bodies with each other.

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "engine/collision/surface_trees.hpp"
#include "engine/reduction/basis/contact_compliance.hpp"
#include "engine/step/contact_stage.hpp"

namespace supple {

/// Positions of the nodes of the skin of robot 0 [m].
using SkinOf = std::function<std::vector<Vec3d>(const State&)>;

/// An obstacle that pushes harder than what a model was trained under; of one with other obstacles than its scene's any
/// that pushes.
struct HarderThanTrained {
  double force = 0;   // the largest sum of the forces of one obstacle on a robot [N]
  double pushes = 0;  // Robot::pushes [N]
};

struct ContactRecord {
  ContactFigures figures;                   // rows and pressing ones at most, softened in all, largest residuals
  std::optional<OutsideModes> outside;      // the most of each
  std::optional<HarderThanTrained> harder;  // where it was so
  std::optional<double> least_gap;          // of the skin [m], where it was looked at
  std::optional<double> least_body_gap;     // between bodies: at their vertices, edges and faces [m]
  std::shared_ptr<SurfaceTrees> trees;      // with which it is found
  /// Adds a step; `model` is null for a full model.
  void add(const ContactFigures& step, const ReducedModel* model, const State& state);
  /// Adds the smallest gap [m] of the present skin.
  void add_gap(const Robot& robot, const std::vector<Vec3d>& skin);
  /// The same between bodies; y: mapped points.
  void add_body_gap(const Robot& robot, std::span<const double> y);
};

}  // namespace supple
