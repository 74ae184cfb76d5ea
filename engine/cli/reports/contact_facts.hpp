#pragma once
// What a run in contact with obstacles met on its way, for its report.

#include <nlohmann/json_fwd.hpp>

#include "engine/cli/reports/table.hpp"
#include "engine/run/contact_record.hpp"

namespace supple::cli {

// Pressing pairs, the sum of the forces on robot 0, how exactly the laws hold; nothing without obstacles.
void add_contact_facts(Facts& facts, const ContactRecord& record, const Robot& robot, const State& state);
// {"solves", "residual", "loose", "softened"}: solves for the forces of a robot's contacts, the largest residual that
// was accepted, how many were accepted above tight_residual, how many had no answer for hard contacts.
nlohmann::ordered_json contact_solves_json(const ContactFigures& figures);
nlohmann::ordered_json contact_figures_json(const ContactRecord& record, const State& state);
void print_contact_notes(const ContactRecord& record);

}  // namespace supple::cli
