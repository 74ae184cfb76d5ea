#include "engine/reduction/basis/lifting.hpp"

#include <algorithm>

#include "engine/mechanics/full/full_mechanics.hpp"
#include "engine/model/element_fields.hpp"
#include "engine/model/on_frame.hpp"
#include "engine/reduction/basis/rigid_motion.hpp"
#include "kernels/base/contract.hpp"
#include "kernels/base/error.hpp"
#include "kernels/base/extent.hpp"

namespace supple {

namespace {

// -K_ff^-1 K_fc, [motions][nv].
std::vector<double> static_response(const FullModel& model) {
  FullMechanics mechanics(model);
  const Robot& robot = model.robot;
  const std::vector<double> q(extent(model.coordinates.nv), 0.0), c(robot.motions.size(), 0.0),
      multipliers(extent(robot.rows()), 0.0);
  std::vector<double> f(q.size()), y(extent(robot.outputs())),
      X(extent(static_cast<int>(c.size()), model.coordinates.nv));
  bool exact = true;
  for (const ElementField& field : model.fields) exact = exact && has_exact_tangent(field.law);
  const SystemCoefficients stiffness{.mass = 0, .stiffness = 1};
  mechanics.evaluate_outputs(q, c, y);
  (void)mechanics.evaluate_forces(q, c, exact ? TangentKind::exact : TangentKind::safe, f);
  if (mechanics.factor(stiffness, y, multipliers).status != SystemStatus::ok)
    throw InputError(
        "how the body follows its prescribed motions is not determined (its stiffness at rest is singular)",
        "hold every part of it: [[fix]]");
  mechanics.input_columns(stiffness, X);
  mechanics.solve(X, static_cast<int>(c.size()));
  for (double& x : X) x = -x;
  return X;
}

}  // namespace

Lifting lifting_of(const FullModel& model) {
  const std::vector<MotionInput>& motions = model.robot.motions;
  const int nv = model.coordinates.nv, nodes = static_cast<int>(model.mesh.nodes.size());
  Lifting lifting;
  lifting.motions = static_cast<int>(motions.size());
  lifting.nodes.assign(extent(lifting.motions, 3 * nodes), 0.0);
  lifting.free.assign(extent(lifting.motions, nv), 0.0);
  if (model.robot.straining_motions() > 0) lifting.free = static_response(model);
  for (int m = 0; m < lifting.motions; ++m) {
    const MotionInput& motion = motions[extent(m)];
    double* free = lifting.free.data() + extent(m, nv);
    if (motion.rigid)
      for (int i = 0; i < nv; ++i) free[i] = motion.direction[i % 3];
    for (int node = 0; node < nodes; ++node) {
      const int unknown = model.node_unknown[extent(node)];
      const bool driven = model.node_motion[extent(node)] == m;
      for (int k = 0; k < 3; ++k)
        lifting.nodes[extent(m, 3 * nodes) + extent(3 * node + k)] = unknown >= 0 ? free[3 * unknown + k]
                                                                     : driven     ? motion.direction[k]
                                                                                  : 0.0;
    }
  }
  return lifting;
}

void remove_lifting(const Lifting& lifting, std::span<const double> c, std::span<double> q) {
  SUPPLE_EXPECT(c.size() == extent(lifting.motions) && lifting.free.size() == c.size() * q.size());
  for (std::size_t m = 0; m < c.size(); ++m)
    for (std::size_t i = 0; i < q.size(); ++i) q[i] -= lifting.free[m * q.size() + i] * c[m];
}

ColumnBlocks basis_columns(const FullModel& model, const std::string& folder, const SnapshotSet& set,
                           RigidMotionForm form, int parts) {
  const ColumnBlocks whole = displacement_blocks(folder, set, model.coordinates.nv, parts);
  const bool on_frame = form == RigidMotionForm::frame && can_be_on_frame(model.robot);
  if (model.robot.floating && (on_frame || !shaken_in_time(model.robot)))
    return {whole.rows, whole.counts,
            [read = whole.read, rows = extent(whole.rows), fit = RigidFit(model)](int k, std::vector<double>& storage) {
              (void)read(k, storage);  // displacement_blocks reads into storage
              for (std::span<double> left(storage); !left.empty(); left = left.subspan(rows))
                (void)fit.remove(left.first(rows));
              return std::span<const double>(storage);
            }};
  if (model.robot.motions.empty()) return whole;
  std::vector<int> first{0};  // column of each block
  for (const int count : whole.counts) first.push_back(first.back() + count);
  ColumnBlocks blocks{whole.rows, whole.counts, {}};
  blocks.read = [read = whole.read, first, rows = extent(whole.rows), lifting = lifting_of(model), robot = model.robot,
                 &set](int k, std::vector<double>& storage) {
    (void)read(k, storage);  // displacement_blocks reads into storage
    std::span<double> column(storage);
    for (int s = first[extent(k)]; s < first[extent(k) + 1]; ++s, column = column.subspan(rows))
      remove_lifting(lifting, control_of(robot, set.commands[extent(s)]).motions, column.first(rows));
    return std::span<const double>(storage);
  };
  return blocks;
}

}  // namespace supple
