#include "engine/model/parameters.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "engine/model/stretch.hpp"
#include "kernels/base/contract.hpp"
#include "kernels/base/error.hpp"
#include "kernels/base/extent.hpp"
#include "kernels/base/hash.hpp"

namespace supple {

namespace {

// Factor on the moduli of a region of a field.
double stiffness_of(const Robot& robot, std::span<const double> values, LawId law, int region) {
  double factor = 1;
  for (std::size_t k = 0; k < values.size(); ++k) {
    const Parameter& parameter = robot.parameters[k];
    if (parameter.kind != ParameterKind::stiffness) continue;
    const bool whole = parameter.material < 0 && parameter.membrane < 0;
    if (whole || (solid(law) && region == parameter.material) || (membrane_law(law) && region == parameter.membrane))
      factor *= values[k];
  }
  return factor;
}

MaterialParameters<double> scaled(LawId law, MaterialParameters<double> parameters, double factor) {
  visit_law(law, [&](auto type) {
    for (int i = 0; i < type.parameters; ++i)
      if ((type.moduli >> i & 1u) != 0) parameters.p[i] *= factor;
  });
  return parameters;
}

void scale(double factor, std::vector<double>& values) {
  for (double& value : values) value *= factor;
}

}  // namespace

double density_factor(const Robot& robot, std::span<const double> values) {
  double factor = 1;
  for (std::size_t k = 0; k < values.size(); ++k)
    if (robot.parameters[k].kind == ParameterKind::density) factor *= values[k];
  return factor;
}

void take_values(std::span<const double> values, Robot& robot) {
  SUPPLE_EXPECT(values.size() == robot.parameters.size());
  for (std::size_t k = 0; k < values.size(); ++k) {
    SUPPLE_EXPECT(values[k] > 0);
    robot.parameters[k].value = values[k];
  }
}

void scale_moduli(const Robot& robot, std::span<const double> values, LawId law,
                  const std::vector<MaterialParameters<double>>& nominal,
                  std::vector<MaterialParameters<double>>& parameters) {
  for (std::size_t region = 0; region < nominal.size(); ++region)
    parameters[region] = scaled(law, nominal[region], stiffness_of(robot, values, law, static_cast<int>(region)));
}

bool has_open_parameters(const Robot& robot) {
  return !robot.parameters.empty() &&
         std::ranges::all_of(robot.parameters, [](const Parameter& parameter) { return parameter.value == 1; });
}

std::vector<double> nominal_parameters(const Robot& robot) {
  return std::vector<double>(robot.parameters.size(), 1.0);
}

std::vector<double> present_parameters(const Robot& robot) {
  std::vector<double> values;
  for (const Parameter& parameter : robot.parameters) values.push_back(parameter.value);
  return values;
}

std::vector<double> parameters_by_name(const Robot& robot, std::span<const NamedValue> values) {
  std::vector<double> all = present_parameters(robot);
  if (!values.empty() && std::ranges::any_of(all, [](double value) { return value != 1; }))
    throw InputError(fmt::format("the parameters of '{}' are set already", robot.name),
                     "the model as its scene stands, and all values at once");
  std::vector<char> given(all.size(), 0);
  for (const NamedValue& one : values) {
    const auto found = std::ranges::find(robot.parameters, one.name, &Parameter::name);
    if (found == robot.parameters.end()) {
      std::vector<std::string> names;
      for (const Parameter& parameter : robot.parameters) names.push_back(parameter.name);
      const std::string near = nearest_word(one.name, names);
      throw InputError(fmt::format("'{}' has no parameter '{}'{}", robot.name, one.name,
                                   near.empty() ? "" : fmt::format(" (did you mean '{}'?)", near)),
                       names.empty() ? "[[parameter]] in its scene, and `supple reduce` again"
                                     : fmt::format("{}", fmt::join(names, ", ")));
    }
    const auto k = static_cast<std::size_t>(found - robot.parameters.begin());
    if (given[k]) throw InputError(fmt::format("parameter '{}' is given twice", one.name), "one value for it");
    if (!(one.value >= found->range.lower && one.value <= found->range.upper))
      throw InputError(fmt::format("parameter '{}' is {:g} (its range is {:g} to {:g})", one.name, one.value,
                                   found->range.lower, found->range.upper),
                       "a factor in that range; the model was not trained beyond");
    given[k] = 1;
    all[k] = one.value;
  }
  return all;
}

std::uint64_t with_parameters(std::uint64_t hash, const Robot& robot) {
  const std::vector<double> values = present_parameters(robot);
  if (std::ranges::all_of(values, [](double value) { return value == 1; })) return hash;
  return hash_bytes(values.data(), values.size() * sizeof(double), hash);
}

void set_parameters(const ReducedModel& nominal, std::span<const double> values, ReducedModel& model) {
  take_values(values, model.robot);
  for (std::size_t f = 0; f < nominal.fields.size(); ++f)
    scale_moduli(nominal.robot, values, nominal.fields[f].law, nominal.fields[f].parameters,
                 model.fields[f].parameters);
  model.mass = nominal.mass;
  model.input_mass = nominal.input_mass;
  model.gravity = nominal.gravity;
  model.first_moments = nominal.first_moments;
  model.second_moments = nominal.second_moments;
  if (const RestShape shape(nominal.robot, values); shape.stretches() > 0) set_shape(nominal, shape, model);
  // Of the model as its scene stands: not known elsewhere.
  const bool as_it_stands = std::ranges::all_of(values, [](double value) { return value == 1; });
  model.full_compliance = as_it_stands ? nominal.full_compliance : std::vector<double>();
  model.own_compliance = as_it_stands ? nominal.own_compliance : std::vector<double>();
  const double density = density_factor(nominal.robot, values);
  for (std::vector<double>* masses :
       {&model.mass, &model.input_mass, &model.gravity, &model.first_moments, &model.second_moments})
    scale(density, *masses);
  const RigidInertia& rest = nominal.rest_inertia;
  model.rest_inertia = {density * rest.mass, rest.centre, density * rest.inertia};
  // What a body carried by a frame needs is not known of a stretched one.
  for (const int k : stretches_of(nominal.robot))
    if (values[extent(k)] != 1) {
      model.rest_inertia = {};
      model.first_moments.clear();
      model.second_moments.clear();
    }
}

ReducedModel at_parameters(const ReducedModel& nominal, std::span<const double> values) {
  ReducedModel model = nominal;
  set_parameters(nominal, values, model);
  std::string words;
  for (std::size_t k = 0; k < values.size(); ++k)
    if (values[k] != 1)
      words += fmt::format("{}{} = {:g}", words.empty() ? "" : ", ", model.robot.parameters[k].name, values[k]);
  if (!words.empty()) model.provenance.scene_text = "# at " + words + "\n" + model.provenance.scene_text;
  return model;
}

std::vector<double> region_factors(const ReducedModel& model, std::span<const double> values) {
  std::vector<double> factors(extent(model.regions()), 1.0);
  const std::vector<double> present = present_parameters(model.robot);
  for (const ReducedField& field : model.fields)
    for (std::size_t region = 0; region < field.parameters.size(); ++region)
      factors[extent(model.first_region(field)) + region] =
          stiffness_of(model.robot, values, field.law, static_cast<int>(region)) /
          stiffness_of(model.robot, present, field.law, static_cast<int>(region));
  return factors;
}

}  // namespace supple
