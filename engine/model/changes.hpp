#pragma once
// What of a model is changed where it is opened, not in its scene: --parameter and --obstacles, with_obstacles() of the
// Python package.

#include <cstdint>
#include <string>
#include <vector>

namespace supple {

struct FullModel;
struct ReducedModel;
struct Robot;

struct ModelChanges {
  std::vector<std::string> parameters;  // "softness=0.8"
  std::string obstacles;                // a file with [[obstacle]] tables; empty: the scene's own
  bool none() const { return parameters.empty() && obstacles.empty(); }
};

/// Throws InputError where the model does not have what is changed.
void take_changes(const ModelChanges& changes, ReducedModel& model);
void take_changes(const ModelChanges& changes, FullModel& model);
/// Of several bodies: throws InputError unless there are none.
void refuse_changes(const ModelChanges& changes, const std::string& file);

/// A hash of the model with that of its parameters and obstacles, where they are not those of its scene.
std::uint64_t with_changes(std::uint64_t hash, const Robot& robot);

/// Puts the obstacles of a TOML file, a scene or one that has [[obstacle]] tables alone, in the place of the model's.
/// Throws InputError where it has no collision points, its steps do not go with contact, or it is a model of a
/// free-floating body, which is trained in contact with its own.
void take_obstacles(const std::string& file, ReducedModel& model);

}  // namespace supple
