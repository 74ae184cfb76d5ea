#pragma once
// A free-floating reduced body: the modes of its shape on a frame that moves freely (ReducedModel::on_frame), as an
// assembly of one body whose mapped points keep their numbers.

#include <memory>
#include <utility>

#include "engine/mechanics/assembly/assembly.hpp"
#include "engine/mechanics/reduced/reduced_mechanics.hpp"

namespace supple {

/// The body in its frame, which is held: a model whose coordinates are the modes of its shape. Without obstacles.
std::shared_ptr<const ReducedModel> shape_model(const ReducedModel& model);

class FloatingMechanics final : public AssemblyMechanics {
 public:
  /// shape: shape_model(model). The model must outlive this object.
  FloatingMechanics(const ReducedModel& model, std::shared_ptr<const ReducedModel> shape);
  /// Throws as check_variations().
  void set_variations(Variations variations) override;

 private:
  struct Body {
    explicit Body(std::shared_ptr<const ReducedModel> shape) : model(std::move(shape)), mechanics(*model) {}
    std::shared_ptr<const ReducedModel> model;
    ReducedMechanics mechanics;
  };
  FloatingMechanics(const ReducedModel& model, std::unique_ptr<Body> body);

  const ReducedModel& model_;
  std::unique_ptr<Body> body_;
};

/// Mechanics of one robot, on a frame or not. The model must outlive it.
std::unique_ptr<Mechanics> reduced_mechanics(const ReducedModel& model);

}  // namespace supple
