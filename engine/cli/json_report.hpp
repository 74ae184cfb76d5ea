#pragma once
// The file of --json: what a verb measured, beside what it ran on.

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace supple::cli {

struct Context;

// Refuses, before any work is done, to replace a file that exists. Throws InputError (unless --force).
void check_json_target(const Context& context);

// {machine, isa, build, commit, version, threads, device}; `device` as really used.
nlohmann::ordered_json machine_facts(const Context& context, const std::string& device);

// Writes `report` to --json if it was given; aside, then renamed. Numbers that are not finite become null.
void write_json(const Context& context, const nlohmann::ordered_json& report);

// A file of the user's that must not be replaced without --force. `kind`: "a file", "the results of a run".
void refuse_existing(const std::string& path, bool force);

}  // namespace supple::cli
