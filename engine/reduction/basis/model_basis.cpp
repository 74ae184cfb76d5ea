#include "engine/reduction/basis/model_basis.hpp"

#include <fmt/format.h>

#include <utility>

#include "engine/reduction/basis/basis.hpp"
#include "engine/reduction/basis/contact_modes.hpp"
#include "engine/reduction/basis/rigid_motion.hpp"
#include "engine/reduction/snapshots/plans.hpp"

namespace supple {

TrainingSet read_training(const FullModel& full, const Scene& scene, const std::string& folder) {
  const SceneIdentity identity = identify(scene);
  const SamplingPlans plans = make_plans(full.robot, scene.reduction);
  TrainingSet training;
  training.folder = sets_of(plans, folder).front().folder;
  training.plan = grown_plan(training.folder, identity, plans.training);
  training.snapshots = read_snapshots(training.folder, identity, training.plan, full.coordinates.nv, full.robot.rows(),
                                      /*with_q=*/false);
  return training;
}

ModelBasis model_basis(const FullModel& full, const TrainingSet& training, const ColumnBlocks& displacements,
                       const ReductionScene& recipe, const Ranks& ranks, const std::optional<DeviceRoom>& device,
                       const Progress& progress) {
  SnapshotBasis snapshots = snapshot_basis(full, displacements, recipe, ranks, device);
  if (ranks.rank > 0) return {snapshots.modes, std::move(snapshots.vectors), std::move(snapshots.pod), {}};
  return model_basis(full, training, std::move(snapshots), recipe, progress);
}

ModelBasis model_basis(const FullModel& full, const TrainingSet& training, SnapshotBasis snapshots,
                       const ReductionScene& recipe, const Progress& progress) {
  ModelBasis basis{snapshots.modes, std::move(snapshots.vectors), std::move(snapshots.pod), {}};
  if (full.robot.floating)
    basis.notes.push_back(
        fmt::format("the body is free-floating: {} rigid modes stand before {} of its shapes, and errors are those of "
                    "the shape, the "
                    "rigid motion between both models taken out",
                    rigid_mode_count, basis.pod.modes));
  if (recipe.contact_modes > 0) {
    progress("contact modes", 0, 1);
    const PointWeights weights = point_weights(full, full.robot, training.folder, training.snapshots);
    ContactModes joined =
        join_contact_modes(full, std::move(basis.vectors), basis.modes, weights, recipe.contact_modes);
    basis.vectors = std::move(joined.basis);
    basis.modes += joined.count;
    basis.notes.push_back(fmt::format(
        "{} contact modes: of the compliance of the skin where {} of {} collision points touched in training, the "
        "other "
        "modes lack {:.3g} %, with them {:.3g} %",
        joined.count, weights.touching, full.robot.collision_points, 100 * joined.lacked, 100 * joined.lacks));
  }
  return basis;
}

}  // namespace supple
