#include "engine/cli/reports/json_report.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "engine/cli/shell/build_facts.hpp"
#include "engine/cli/shell/command.hpp"
#include "engine/cli/shell/terminal.hpp"
#include "kernels/base/atomic_file.hpp"
#include "kernels/base/error.hpp"

namespace supple::cli {

void refuse_existing(const std::string& path, bool force) {
  std::error_code error;
  if (!force && std::filesystem::exists(path, error))
    throw InputError(fmt::format("'{}' exists already", path), "another name, or --force to replace it");
}

void check_target(const std::string& option, const std::string& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error))
    throw InputError(fmt::format("{}: '{}' is a folder", option, path), "the name of a file in it");
  const std::string parent = std::filesystem::path(path).parent_path().string();
  const std::string folder = parent.empty() ? std::string(".") : parent;
  if (!std::filesystem::is_directory(folder, error))
    throw InputError(fmt::format("{}: there is no folder '{}'", option, folder),
                     fmt::format("mkdir -p {}", shell_quoted(folder)));
  if (access(folder.c_str(), W_OK | X_OK) != 0)
    throw InputError(fmt::format("{}: the folder '{}' cannot be written to", option, folder), "another folder");
}

void check_json_target(const Context& context) {
  if (context.common.json.empty()) return;
  check_target("--json", context.common.json);
  refuse_existing(context.common.json, context.common.force);
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

void make_target_folder(const std::string& option, const std::string& folder, const std::string& first, bool force) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (!std::filesystem::is_directory(folder, error))
    throw InputError(fmt::format("{} '{}' is no folder and cannot be made one", option, folder), "another folder");
  refuse_existing((std::filesystem::path(folder) / first).string(), force);
}

}  // namespace supple::cli
