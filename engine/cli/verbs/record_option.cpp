#include "engine/cli/verbs/record_option.hpp"

#include <filesystem>

#include "engine/cli/reports/json_report.hpp"
#include "engine/cli/shell/command.hpp"
#include "engine/cli/shell/options.hpp"
#include "kernels/base/error.hpp"

namespace supple::cli {

void declare_record(Options& options, std::string& file) {
  options.text("--record", file, "FILE", "record every step in a .rec.h5, for `supple view` and `supple render`");
}

void check_record(const Context& context, const std::string& file, const std::string& robot) {
  if (file.empty()) return;
  std::error_code error;
  if (std::filesystem::equivalent(file, robot, error))
    throw InputError("--record would replace the robot that is to be recorded", "another name, such as run.rec.h5");
  check_target("--record", file);
  refuse_existing(file, context.common.force);
}

}  // namespace supple::cli
