#include <algorithm>
#include <utility>

#include "engine/mechanics/full/full_mechanics.hpp"
#include "engine/mesh/boundary.hpp"
#include "engine/model/element_fields.hpp"
#include "engine/model/element_stress.hpp"
#include "engine/run/simulated_body.hpp"
#include "kernels/base/extent.hpp"

namespace supple {

namespace {

class FullBody final : public SimulatedBody {
 public:
  explicit FullBody(std::shared_ptr<const FullModel> model) : model_(std::move(model)), mechanics_(*model_) {
    BoundarySurface boundary = boundary_surface(model_->mesh);
    skin_ = std::move(boundary.surface);
    skin_node_ = std::move(boundary.mesh_node);
    u_.resize(3 * model_->mesh.nodes.size());
  }
  const Robot& robot() const override { return model_->robot; }
  Kind kind() const override { return Kind::full; }
  bool exact_tangent() const override {
    return std::ranges::all_of(model_->fields, [](const ElementField& field) { return has_exact_tangent(field.law); });
  }
  std::unique_ptr<MechanicsTeam> make_team(int robots, MechanicsTeam::Members) override {
    return std::make_unique<MechanicsTeam>(mechanics_, robots);
  }
  const Surface& skin() override { return skin_; }
  void skin_displacements(std::span<const double> q, std::span<const double> motions, std::span<double> out) override {
    node_displacements(*model_, q, motions, u_);
    for (std::size_t k = 0; k < skin_node_.size(); ++k)
      std::copy_n(u_.data() + 3 * extent(skin_node_[k]), 3, out.data() + 3 * k);
  }
  std::vector<double> stress(std::span<const double> q, std::span<const double> motions,
                             std::span<const double>) override {
    node_displacements(*model_, q, motions, u_);
    return von_mises(*model_, u_);
  }

 private:
  std::shared_ptr<const FullModel> model_;
  FullMechanics mechanics_;
  Surface skin_;
  std::vector<int> skin_node_;  // numbers of its nodes in the mesh
  std::vector<double> u_;       // [mesh nodes][3]
};

}  // namespace

std::unique_ptr<SimulatedBody> body_of(std::shared_ptr<const FullModel> model) {
  return std::make_unique<FullBody>(std::move(model));
}

}  // namespace supple
