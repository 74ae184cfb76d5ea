#pragma once
// Contact with obstacles over a run, for its report.

#include <nlohmann/json_fwd.hpp>

#include "engine/cli/reports/table.hpp"
#include "engine/run/contact_record.hpp"

namespace supple::cli {

// Active contacts, the sum of the contact forces on robot 0 [N], residuals of the contact laws; nothing without
// obstacles.
void add_contact_facts(Facts& facts, const ContactRecord& record, const Robot& robot, const State& state);
// Bodies of an assembly that touch each other at the end: names, force on the first [N], number of contacts.
nlohmann::ordered_json body_touches_json(const Robot& robot, const State& state);
// {"solves", "residual", "loose", "softened"}: solves for the contact forces of a robot, the largest residual that was
// accepted, how many were accepted above tight_residual, how many had no solution with rigid contacts.
nlohmann::ordered_json contact_solves_json(const ContactFigures& figures);
nlohmann::ordered_json contact_figures_json(const ContactRecord& record, const State& state);
void print_contact_notes(const ContactRecord& record);

}  // namespace supple::cli
