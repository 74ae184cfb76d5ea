#include <utility>

#include "engine/model/element_stress.hpp"
#include "engine/model/reduced_shape.hpp"
#include "engine/run/simulated_body.hpp"

namespace supple {

namespace {

class ReducedBody final : public SimulatedBody {
 public:
  explicit ReducedBody(std::shared_ptr<const ReducedModel> model) : model_(std::move(model)) {
    skin_.nodes = model_->skin.rest;
    skin_.triangles = model_->skin.triangles;
  }
  const Robot& robot() const override { return model_->robot; }
  Kind kind() const override { return Kind::reduced; }
  const ReducedModel* reduced() const override { return model_.get(); }
  std::unique_ptr<MechanicsTeam> make_team(int robots, MechanicsTeam::Members members) override {
    return std::make_unique<MechanicsTeam>(*model_, robots, members);
  }
  const Surface& skin() override { return skin_; }
  void skin_displacements(std::span<const double> q, std::span<const double> motions, std::span<double> out) override {
    displacements(*model_, model_->skin, q, motions, out);
  }
  std::vector<double> stress(std::span<const double> q, std::span<const double> motions,
                             std::span<const double> scale) override {
    return von_mises(*model_, q, motions, scale);
  }

 private:
  std::shared_ptr<const ReducedModel> model_;
  Surface skin_;
};

}  // namespace

std::unique_ptr<SimulatedBody> body_of(std::shared_ptr<const ReducedModel> model) {
  return std::make_unique<ReducedBody>(std::move(model));
}

}  // namespace supple
