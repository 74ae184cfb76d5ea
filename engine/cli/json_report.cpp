#include "engine/cli/json_report.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "engine/cli/build_facts.hpp"
#include "engine/cli/command.hpp"
#include "engine/mesh/output_file.hpp"
#include "kernels/base/error.hpp"

namespace supple::cli {

void refuse_existing(const std::string& path, bool force) {
  std::error_code error;
  if (!force && std::filesystem::exists(path, error))
    throw InputError(fmt::format("'{}' exists already", path), "another name, or --force to replace it");
}

void check_json_target(const Context& context) {
  if (!context.common.json.empty()) refuse_existing(context.common.json, context.common.force);
}

nlohmann::ordered_json machine_facts(const Context& context, const std::string& device) {
  return {{"device", device},       {"threads", context.common.threads},
          {"machine", processor()}, {"isa", isa()},
          {"build", build_type()},  {"commit", commit()},
          {"version", version()}};
}

void write_json(const Context& context, const nlohmann::ordered_json& report) {
  if (context.common.json.empty()) return;
  write_file(context.common.json, report.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n");
}

}  // namespace supple::cli
