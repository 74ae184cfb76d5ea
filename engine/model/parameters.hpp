#pragma once
// A model as a function of its parameters ([[parameter]], Robot::parameters): factors that are 1 as the scene stands.
//   stiffness  all moduli of a material, a membrane or the whole body: stress and tangent are proportional to it
//   density    the mass of the body: inertia and weight
//   stretch    lengths along a direction: the shape at rest, with what is placed on the body (stretch.hpp)
// Modes, elements and their weights are the same for all values.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/model/full_model.hpp"
#include "engine/model/reduced_model.hpp"

namespace supple {

/// Into the robot of the model, from its scene. Throws InputError.
void place_parameters(const Scene& scene, FullModel& model);

/// All 1.
std::vector<double> nominal_parameters(const Robot& robot);
/// The values that the model has.
std::vector<double> present_parameters(const Robot& robot);
/// Values by name, the others as they are. Throws InputError for names that the robot has not, values outside their
/// range, a name given twice.
struct NamedValue {
  std::string name;
  double value = 1;
};
std::vector<double> parameters_by_name(const Robot& robot, std::span<const NamedValue> values);

/// The model at other values [Robot::parameters], which lie in their ranges. nominal: with all values 1.
FullModel at_parameters(const FullModel& nominal, std::span<const double> values);
ReducedModel at_parameters(const ReducedModel& nominal, std::span<const double> values);
/// The same into a copy of `nominal`, or what this function has made of one: lists keep their places in memory.
void set_parameters(const FullModel& nominal, std::span<const double> values, FullModel& model);
void set_parameters(const ReducedModel& nominal, std::span<const double> values, ReducedModel& model);

/// The same of words "NAME=FACTOR", as they are typed.
std::vector<double> parameters_of_words(const Robot& robot, std::span<const std::string> words);
/// The model at such words; as it is without any.
template <class Model>
void take_parameters(std::span<const std::string> words, Model& model) {
  if (!words.empty()) model = at_parameters(model, parameters_of_words(model.robot, words));
}
/// A hash of the model with that of its parameters, where they are not as the scene has them.
std::uint64_t with_parameters(std::uint64_t hash, const Robot& robot);

/// A model with parameters that change in place, for mechanics made of model(); of a robot without any the model
/// itself, which must outlive this object.
template <class Model>
class ChangingModel {
 public:
  explicit ChangingModel(const Model& nominal) : nominal_(nominal) {
    if (nominal.robot.parameters.empty()) return;
    copy_ = std::make_unique<Model>(nominal);
    values_ = nominal_parameters(nominal.robot);
  }
  const Model& model() const { return copy_ ? *copy_ : nominal_; }
  /// Whether it has changed: mechanics are to be told (Mechanics::model_changed).
  bool set(std::span<const double> values) {
    if (std::ranges::equal(values, values_)) return false;
    set_parameters(nominal_, values, *copy_);
    values_.assign(values.begin(), values.end());
    return true;
  }

 private:
  const Model& nominal_;
  std::unique_ptr<Model> copy_;
  std::vector<double> values_;
};

/// Parts of set_parameters(): the values into the robot; the moduli of a field's regions; the factor on all masses.
void take_values(std::span<const double> values, Robot& robot);
void scale_moduli(const Robot& robot, std::span<const double> values, LawId law,
                  const std::vector<MaterialParameters<double>>& nominal,
                  std::vector<MaterialParameters<double>>& parameters);
double density_factor(const Robot& robot, std::span<const double> values);

/// What the stiffnesses are to the regions of the body (ReducedModel::regions()): factors [regions] on their moduli
/// from the model's present values to these, as Variations::material_scale has them.
std::vector<double> region_factors(const ReducedModel& model, std::span<const double> values);

}  // namespace supple
