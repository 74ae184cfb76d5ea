#pragma once
// Scenes of several bodies in the verbs that take them.

#include <string>

#include "engine/cli/verbs/session.hpp"

namespace supple::cli {

int simulate_assembly(Context& context, const SessionArguments& arguments, SessionPlan& plan);
int check_assembly(Context& context, const std::string& file);
// Prints what it holds, unless quiet.
void info_of_assembly(const std::string& file, nlohmann::ordered_json& json, bool quiet);

}  // namespace supple::cli
