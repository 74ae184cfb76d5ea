#pragma once
// What a run in contact with obstacles met on its way.

#include <functional>
#include <optional>
#include <vector>

#include "engine/reduction/basis/contact_compliance.hpp"
#include "engine/step/contact_stage.hpp"

namespace supple {

// Where the nodes of the skin of robot 0 are [m].
using SkinOf = std::function<std::vector<Vec3d>(const State&)>;

struct ContactRecord {
  ContactFigures figures;               // rows and pressing ones at most, softened in all, largest residuals
  std::optional<OutsideModes> outside;  // the most of each
  std::optional<double> least_gap;      // of the skin [m], where it was looked at
  // One step more; `model` is null for a full model.
  void add(const ContactFigures& step, const ReducedModel* model, const State& state);
  // Where the skin is now.
  void add_gap(const Robot& robot, const std::vector<Vec3d>& skin);
};

}  // namespace supple
