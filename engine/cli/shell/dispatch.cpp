#include "engine/cli/shell/dispatch.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <cstdio>

#include "engine/cli/shell/build_facts.hpp"
#include "engine/cli/shell/command.hpp"
#include "engine/cli/shell/options.hpp"
#include "kernels/array/device.hpp"
#include "kernels/base/error.hpp"

namespace supple::cli {

namespace {

std::string program_help(const std::vector<Command>& commands) {
  std::string text =
      "Reduced-order soft robots: simulate, reduce, control.\n\nUsage: supple VERB [arguments]\n\nVerbs:\n";
  for (const Command& command : commands) text += two_columns(command.name, command.description, 14);
  text += "\nOptions:\n" + two_columns("--version", "print the version", 14);
  text += two_columns("-h, --help", "print this help; after a verb, its own", 14);
  text +=
      "\nExit codes: 0 done; 1 the run failed; 2 bad input or usage; 3 this machine or build lacks something;\n130 "
      "interrupted, state saved.\n";
  return text;
}

bool asks_for_help(const std::vector<std::string>& arguments) {
  for (const std::string& argument : arguments) {
    if (argument == "--") return false;
    if (argument == "-h" || argument == "--help") return true;
  }
  return false;
}

int run(const Command& command, const std::vector<std::string>& arguments) {
  Context context{{}, arguments, {}};
  Options options;
  const Run body = command.declare(options);
  options.common(context.common);
  const std::vector<std::string> rest(arguments.begin() + 1, arguments.end());
  if (asks_for_help(rest)) {
    fmt::print("supple {}: {}\n\n{}Examples:\n{}", command.name, command.description, options.help(command.name),
               command.examples);
    return 0;
  }
  options.parse(command.name, rest);
  if (context.common.threads == 0) context.common.threads = omp_get_max_threads();
  omp_set_num_threads(context.common.threads);
  parse_device(context.common.device);  // a wrong name is an error for every verb
  return body(context);
}

}  // namespace

int dispatch(const std::vector<std::string>& arguments, const std::vector<Command>& commands) {
  if (arguments.empty() || arguments[0] == "-h" || arguments[0] == "--help" ||
      (arguments[0] == "help" && arguments.size() == 1)) {
    fmt::print(arguments.empty() ? stderr : stdout, "{}", program_help(commands));
    return arguments.empty() ? 2 : 0;
  }
  if (arguments[0] == "--version") {
    fmt::print("supple {}\n", version());
    return 0;
  }
  // "supple help verb" is "supple verb --help".
  if (arguments[0] == "help") return dispatch({arguments[1], "--help"}, commands);
  const auto found = std::find_if(commands.begin(), commands.end(),
                                  [&](const Command& command) { return command.name == arguments[0]; });
  if (found != commands.end()) return run(*found, arguments);
  std::vector<std::string> names;
  for (const Command& command : commands) names.push_back(command.name);
  const std::string near = nearest_word(arguments[0], names);
  const bool option = arguments[0].starts_with('-');
  throw InputError(fmt::format("there is no {} '{}'", option ? "option" : "verb", arguments[0]),
                   near.empty() || option ? "supple --help" : fmt::format("supple {} (did you mean it?)", near));
}

}  // namespace supple::cli
