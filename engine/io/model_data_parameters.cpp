// The groups /robot/parameters and /stretches of a model file.
#include <algorithm>
#include <cmath>

#include "engine/io/model_data_parts.hpp"
#include "engine/model/stretch.hpp"
#include "kernels/base/extent.hpp"

namespace supple {

namespace {

constexpr std::string_view parameter_words[] = {"stiffness", "density", "stretch"};
constexpr int most_parameters_of_robot = 1000, most_owners = 1'000'000;

void write_stretches(DataSink& file, const ReducedModel& model, std::size_t stretches) {
  const std::size_t r = extent(model.modes), m = extent(model.motions());
  const StretchedPlaces& places = model.stretched;
  file.write("/stretches/points", places.points, {model.robot.rest_points.size(), stretches});
  file.write("/stretches/skin", places.skin, {model.skin.rest.size(), stretches});
  file.write("/stretches/interior", places.interior, {model.interior.rest.size(), stretches});
  for (std::size_t f = 0; f < model.fields.size(); ++f)
    file.write("/stretches/slopes/" + entry_name(f), model.fields[f].slopes,
               {extent(model.fields[f].points()), stretches, 3});
  for (std::size_t k = 0; k < model.mass_terms.size(); ++k) {
    const std::string at = "/stretches/masses/" + entry_name(k);
    file.write(at + "/mass", model.mass_terms[k].mass, {r, r});
    file.write(at + "/gravity", model.mass_terms[k].gravity, {r, 3});
    if (m > 0) file.write(at + "/input_mass", model.mass_terms[k].input_mass, {m, r});
  }
}

void read_stretches(const Checked& checked, ReducedModel& model, std::size_t stretches) {
  const std::size_t r = extent(model.modes), m = extent(model.motions());
  StretchedPlaces& places = model.stretched;
  places.points = checked.doubles("/stretches/points", {model.robot.rest_points.size(), stretches});
  places.skin = checked.doubles("/stretches/skin", {model.skin.rest.size(), stretches});
  places.interior = checked.doubles("/stretches/interior", {model.interior.rest.size(), stretches});
  for (std::size_t f = 0; f < model.fields.size(); ++f)
    model.fields[f].slopes =
        checked.doubles("/stretches/slopes/" + entry_name(f), {extent(model.fields[f].points()), stretches, 3});
  for (std::size_t k = 0; k + 1 < std::size_t{1} << stretches; ++k) {
    const std::string at = "/stretches/masses/" + entry_name(k);
    MassTerm& term = model.mass_terms.emplace_back();
    term.mass = checked.doubles(at + "/mass", {r, r});
    term.gravity = checked.doubles(at + "/gravity", {r, 3});
    if (m > 0) term.input_mass = checked.doubles(at + "/input_mass", {m, r});
  }
}

}  // namespace

void write_parameters(DataSink& file, const ReducedModel& model) {
  const Robot& robot = model.robot;
  if (!has_open_parameters(robot)) return;
  file.write("/robot/parameters/count", static_cast<std::int64_t>(robot.parameters.size()));
  for (std::size_t i = 0; i < robot.parameters.size(); ++i) {
    const Parameter& parameter = robot.parameters[i];
    const std::string at = "/robot/parameters/" + entry_name(i);
    file.write(at + "/name", parameter.name);
    file.write(at + "/kind", std::string(parameter_words[static_cast<int>(parameter.kind)]));
    file.write(at + "/range", Numbers{parameter.range.lower, parameter.range.upper}, {2});
    if (parameter.kind == ParameterKind::stiffness)
      file.write(at + "/owner", std::vector<int>{parameter.material, parameter.membrane}, {2});
    if (parameter.kind != ParameterKind::stretch) continue;
    file.write(at + "/direction", Numbers(parameter.direction.v, parameter.direction.v + 3), {3});
    file.write(at + "/planes", Numbers{parameter.begin, parameter.end, parameter.about}, {3});
  }
  if (const std::size_t stretches = stretches_of(robot).size(); stretches > 0) write_stretches(file, model, stretches);
}

void read_parameters(const DataSource& file, const Checked& checked, ReducedModel& model) {
  if (!file.has("/robot/parameters/count")) return;
  const int count = checked.count("/robot/parameters/count", 1, most_parameters_of_robot);
  for (int i = 0; i < count; ++i) {
    const std::string at = "/robot/parameters/" + entry_name(static_cast<std::size_t>(i));
    Parameter& parameter = model.robot.parameters.emplace_back();
    parameter.name = file.read_text(at + "/name");
    checked.require(
        !parameter.name.empty() && std::ranges::count(model.robot.parameters, parameter.name, &Parameter::name) == 1,
        at + "/name", "is empty or that of another one");
    parameter.kind = static_cast<ParameterKind>(checked.word(at + "/kind", parameter_words));
    const std::vector<double> range = checked.doubles(at + "/range", {2});
    checked.require(range[0] > 0 && range[0] <= 1 && range[1] >= 1 && std::isfinite(range[1]), at + "/range",
                    "is not one of factors about 1");
    parameter.range = {range[0], range[1]};
    if (parameter.kind == ParameterKind::stiffness) {
      const std::vector<int> owner = file.read_ints(at + "/owner", {2});
      checked.require(std::ranges::all_of(owner, [](int of) { return of >= -1 && of < most_owners; }) &&
                          owner[0] < model.materials() && owner[1] < model.regions() - model.materials() &&
                          (owner[0] < 0 || owner[1] < 0),
                      at + "/owner", "is not a material or a membrane");
      parameter.material = owner[0];
      parameter.membrane = owner[1];
    }
    if (parameter.kind != ParameterKind::stretch) continue;
    const std::vector<double> direction = checked.doubles(at + "/direction", {3});
    parameter.direction = {{direction[0], direction[1], direction[2]}};
    checked.require(std::abs(norm(parameter.direction) - 1) < 1e-9, at + "/direction", "is not of length one");
    const std::vector<double> planes = checked.doubles(at + "/planes", {3});
    parameter.begin = planes[0];
    parameter.end = planes[1];
    parameter.about = planes[2];
    checked.require(parameter.begin < parameter.end, at + "/planes", "are reversed");
  }
  const std::size_t stretches = stretches_of(model.robot).size();
  checked.require(stretches <= most_stretches, "/robot/parameters", "has too many stretches");
  checked.require(std::ranges::all_of(model.fields, [](const ReducedField& field) { return field.strains.count == 0; }),
                  "/robot/parameters", "stands beside strain modes");
  if (stretches == 0) return;
  checked.require(!model.robot.floating &&
                      std::ranges::all_of(model.fields, [](const ReducedField& field) { return solid(field.law); }) &&
                      std::ranges::all_of(
                          model.robot.actuators,
                          [](const ActuatorRow& row) { return row.kind != ActuatorKind::cavity && row.friction == 0; }),
                  "/robot/parameters", "has a stretch, which is not for such a robot");
  read_stretches(checked, model, stretches);
  for (std::size_t f = 0; f < model.fields.size(); ++f)
    checked.require(stays_upright(model.robot, model.fields[f].slopes), "/stretches/slopes/" + entry_name(f),
                    "turn points inside out");
}

}  // namespace supple
