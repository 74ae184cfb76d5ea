#pragma once
// What a reduced model holds, beside scene_facts.hpp.

#include <nlohmann/json_fwd.hpp>

#include "engine/cli/reports/table.hpp"
#include "engine/model/reduced_model.hpp"

namespace supple::cli {

Facts model_facts(const ReducedModel& model);
nlohmann::ordered_json model_json(const ReducedModel& model);

// {field: {elements, of, points, unit, tolerance, residual}}.
nlohmann::ordered_json rid_json(const ReducedModel& model);
// {states, goal_error_mean, ..., shape_error_max}: fractions.
nlohmann::ordered_json errors_json(const ErrorSummary& errors);
// What the forces of a model are made of, for tables: "91", "58 strains", "142 + 21 strains".
std::string forces_of(int elements, int strain_modes);
// "1.2 % goal, 3.4 % shape on average", or that they were never measured.
std::string errors_text(const ReducedModel& model);

}  // namespace supple::cli
