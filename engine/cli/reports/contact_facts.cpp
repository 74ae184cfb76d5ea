#include "engine/cli/reports/contact_facts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "engine/cli/shell/terminal.hpp"
#include "engine/model/touches.hpp"
#include "engine/scene/units.hpp"

namespace supple::cli {

namespace {

// Of all obstacles on robot 0 [N].
std::array<double, 3> total_force(const State& state) {
  std::array<double, 3> sum{};
  for (std::size_t i = 0; i < state.contact_forces.size() / static_cast<std::size_t>(state.robots); ++i)
    sum[i % 3] += state.contact_forces[i];
  return sum;
}

std::string length(double metres) {
  return format_quantity(metres, Dimension::length);
}

}  // namespace

void add_contact_facts(Facts& facts, const ContactRecord& record, const Robot& robot, const State& state) {
  const auto force = [](double newton) { return format_quantity(newton, Dimension::force); };
  const ContactFigures& found = record.figures;
  const std::string laws = fmt::format("laws of contact to {:.1e}; of {} solves {} accepted above {:.0e}, {} softened",
                                       found.residual, found.solves, found.loose, tight_residual, found.softened);
  if (robot.surfaces) {
    const std::vector<BodyTouch> touches = body_touches(robot, state);
    for (const BodyTouch& touch : touches)
      facts.emplace_back(&touch == touches.data() ? "bodies touch" : "",
                         fmt::format("{} and {} at {} places: {}, {}, {} on {}",
                                     robot.surface_names[static_cast<std::size_t>(touch.first)],
                                     robot.surface_names[static_cast<std::size_t>(touch.second)], touch.contacts,
                                     force(touch.force[0]), force(touch.force[1]), force(touch.force[2]),
                                     robot.surface_names[static_cast<std::size_t>(touch.first)]));
    if (touches.empty()) facts.emplace_back("bodies touch", "none at the end");
    if (record.least_body_gap)
      facts.emplace_back("", fmt::format("they come as near as {} (they are held {} apart)",
                                         length(*record.least_body_gap), length(robot.contact_distance)));
    if (robot.pairs() == 0) facts.emplace_back("", laws);
  }
  if (robot.pairs() == 0) return;
  const std::array<double, 3> sum = total_force(state);
  facts.emplace_back(
      "contact",
      fmt::format("{} of {} pairs of point and obstacle press at most, at the end with {}, {}, {} in all",
                  record.figures.touching, robot.pairs() * state.robots, force(sum[0]), force(sum[1]), force(sum[2])));
  if (record.least_gap)
    facts.emplace_back("", fmt::format("the skin comes as near as {} (points are held {} off)",
                                       length(*record.least_gap), length(robot.contact_distance)));
  facts.emplace_back("", laws);
  if (record.outside)
    facts.emplace_back("",
                       fmt::format("where obstacles push, the modes lack up to {} ({:.2g} % of the work of contact), "
                                   "by the compliance at rest",
                                   length(record.outside->depth), 100 * record.outside->share));
}

nlohmann::ordered_json contact_solves_json(const ContactFigures& figures) {
  return {{"solves", figures.solves},
          {"residual", figures.residual},
          {"loose", figures.loose},
          {"softened", figures.softened}};
}

nlohmann::ordered_json body_touches_json(const Robot& robot, const State& state) {
  auto json = nlohmann::ordered_json::array();
  for (const BodyTouch& touch : body_touches(robot, state))
    json.push_back({{"first", robot.surface_names[static_cast<std::size_t>(touch.first)]},
                    {"second", robot.surface_names[static_cast<std::size_t>(touch.second)]},
                    {"force", std::array{touch.force[0], touch.force[1], touch.force[2]}},
                    {"contacts", touch.contacts}});
  return json;
}

nlohmann::ordered_json contact_figures_json(const ContactRecord& record, const State& state) {
  const ContactFigures& contact = record.figures;
  nlohmann::ordered_json json = {{"most_touching", contact.touching}};
  json.update(contact_solves_json(contact));
  json["violation"] = contact.violation;
  json["force"] = total_force(state);
  if (record.least_gap) json["least_gap"] = *record.least_gap;
  if (record.least_body_gap) json["least_body_gap"] = *record.least_body_gap;
  if (record.harder) json["harder_than_trained"] = {{"force", record.harder->force}, {"pushes", record.harder->pushes}};
  if (record.outside) json["outside_modes"] = {{"depth", record.outside->depth}, {"share", record.outside->share}};
  return json;
}

void print_contact_notes(const ContactRecord& record) {
  const ContactFigures& contact = record.figures;
  if (contact.softened > 0)
    print_note(
        fmt::format("in {} of {} contact solves no forces could hold all points off: contacts were slightly soft there",
                    contact.softened, contact.solves));
  if (contact.loose > 0)
    print_note(fmt::format("{} of {} contact solves were accepted with a residual above {:.0e}, the largest {:.1e}",
                           contact.loose, contact.solves, tight_residual, contact.residual));
  if (record.harder && record.harder->pushes > 0)
    print_note(
        fmt::format("an obstacle pushes with up to {}, and the model was trained under pushes of up to {}: errors "
                    "may be larger than those of the model; larger pushes in [reduce] of its scene, and reduce it "
                    "again",
                    format_quantity(record.harder->force, Dimension::force),
                    format_quantity(record.harder->pushes, Dimension::force)));
  else if (record.harder)
    print_note(
        fmt::format("obstacles that the model was not trained with push with up to {}: errors may be far larger "
                    "than those of the model; pushes in [reduce] of its scene, and reduce it again",
                    format_quantity(record.harder->force, Dimension::force)));
  if (record.outside && record.outside->share > outside_modes_warning)
    print_note(fmt::format(
        "{:.2g} % of what contact does to the body lies outside the modes (up to {} at a point): "
        "errors may be larger than those of the model; reduce it in contact with its obstacles with contact_modes, "
        "or more states and modes, and look at --compare or --replay SCENE",
        100 * record.outside->share, length(record.outside->depth)));
}

}  // namespace supple::cli
