#pragma once
// The file of --json: what a verb measured, beside what it ran on.

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace supple::cli {

struct Context;

// Checks the file before any work is done. Throws InputError if it exists (unless --force) or could not be written.
void check_json_target(const Context& context);

// {machine, isa, build, commit, version, threads, device}; `device` as really used.
nlohmann::ordered_json machine_facts(const Context& context, const std::string& device);

// Writes `report` to --json if it was given; aside, then renamed. Numbers that are not finite become null.
void write_json(const Context& context, const nlohmann::ordered_json& report);

// A file of the user's that must not be replaced without --force.
void refuse_existing(const std::string& path, bool force);
// Before the work: can `path`, given with `option`, be written in the end? Throws InputError if it is a folder, or its
// folder is missing or cannot be written to.
void check_target(const std::string& option, const std::string& path);
// The same of a folder for several files, which is made; `first` among them must not be replaced without --force.
void make_target_folder(const std::string& option, const std::string& folder, const std::string& first, bool force);

}  // namespace supple::cli
