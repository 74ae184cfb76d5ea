#include "engine/cli/shell/options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <cstdint>
#include <limits>
#include <sstream>

#include "engine/cli/shell/command.hpp"

namespace supple::cli {

namespace {

constexpr std::size_t line_length = 100;

template <class Number>
Number parse_number(const std::string& option, const std::string& text, Number least,
                    Number most = std::numeric_limits<Number>::max()) {
  Number value{};
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool overflow = status == std::errc::result_out_of_range && !text.starts_with('-');
  if ((overflow && end == text.data() + text.size()) || (status == std::errc() && value > most))
    throw InputError(fmt::format("{}: '{}' is too large, at most {} is possible", option, text, most), "a smaller one");
  if (status != std::errc() || end != text.data() + text.size() || value < least)
    throw InputError(fmt::format("{}: '{}' is not a whole number of at least {}", option, text, least),
                     fmt::format("{} {}", option, std::max<Number>(least, 1)));
  return value;
}

// "-o,--output" -> "--output".
std::string long_name(const std::string& flags) {
  return flags.substr(flags.find("--"));
}

}  // namespace

struct Options::Parser {
  struct Entry {
    std::string left, help;
    bool common = false;
  };
  CLI::App app;
  std::vector<Entry> positionals, entries;
  std::string usage;
  std::vector<std::pair<std::string, const std::string*>> required;
  bool common = false;

  void describe(const std::string& flags, const std::string& placeholder, const std::string& help) {
    std::string left = flags;
    const auto comma = left.find(',');
    left = comma == std::string::npos ? "    " + left : left.insert(comma + 1, " ");
    entries.push_back({placeholder.empty() ? left : left + " " + placeholder, help, common});
  }
};

Options::Options() : parser_(std::make_unique<Parser>()) {
  parser_->app.set_help_flag();
}
Options::~Options() = default;

void Options::positional(const std::string& name, std::string& value, const std::string& help, bool required) {
  parser_->app.add_option(name, value);
  parser_->positionals.push_back({name, help, false});
  parser_->usage += required ? " " + name : " [" + name + "]";
  if (required) parser_->required.emplace_back(name, &value);
}

void Options::text(const std::string& flags, std::string& value, const std::string& placeholder,
                   const std::string& help) {
  parser_->app.add_option(flags, value);
  parser_->describe(flags, placeholder, help);
}

void Options::texts(const std::string& flags, std::vector<std::string>& values, const std::string& placeholder,
                    const std::string& help) {
  // One value for each time the option is given, so that a positional argument may follow.
  parser_->app.add_option(flags, values)
      ->type_size(1)
      ->expected(1)
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  parser_->describe(flags, placeholder, help + " (may be repeated)");
}

void Options::choice(const std::string& flags, std::string& value, const std::vector<std::string>& choices,
                     const std::string& help) {
  const auto check = [&value, choices, name = long_name(flags)](const std::string& text) {
    if (std::find(choices.begin(), choices.end(), text) == choices.end()) {
      const std::string near = nearest_word(text, choices);
      throw InputError(fmt::format("{}: '{}' is none of {}", name, text, fmt::join(choices, ", ")),
                       near.empty() ? "" : fmt::format("{} {}", name, near));
    }
    value = text;
  };
  parser_->app.add_option_function<std::string>(flags, check);
  parser_->describe(flags, "WORD", fmt::format("{}: {}", help, fmt::join(choices, ", ")));
}

void Options::whole(const std::string& flags, std::optional<long>& value, long least, long most,
                    const std::string& placeholder, const std::string& help) {
  const auto read = [&value, least, most, name = long_name(flags)](const std::string& text) {
    value = parse_number<long>(name, text, least, most);
  };
  parser_->app.add_option_function<std::string>(flags, read);
  parser_->describe(flags, placeholder, help);
}

void Options::wholes(const std::string& flags, std::vector<long>& values, long least, long most,
                     const std::string& placeholder, const std::string& help) {
  const auto read = [&values, least, most, name = long_name(flags)](const std::string& text) {
    values.clear();
    for (std::size_t begin = 0; begin <= text.size();) {
      const std::size_t end = std::min(text.find(',', begin), text.size());
      values.push_back(parse_number<long>(name, text.substr(begin, end - begin), least, most));
      begin = end + 1;
    }
  };
  parser_->app.add_option_function<std::string>(flags, read);
  parser_->describe(flags, placeholder, help);
}

void Options::quantity(const std::string& flags, std::optional<double>& value, Dimension dimension,
                       const std::string& placeholder, const std::string& help) {
  const auto read = [&value, dimension, name = long_name(flags)](const std::string& text) {
    value = parse_quantity(text, dimension, {name, 0, 0, ""});
    if (!(*value > 0)) throw InputError(fmt::format("'{}' is not above 0", text), "", {name, 0, 0, ""});
  };
  parser_->app.add_option_function<std::string>(flags, read);
  parser_->describe(flags, placeholder, help);
}

void Options::flag(const std::string& flags, bool& value, const std::string& help) {
  parser_->app.add_flag(flags, value);
  parser_->describe(flags, "", help);
}

void Options::common(CommonOptions& options) {
  parser_->common = true;
  text("--json", options.json, "FILE", "write what was measured here");
  parser_->app.add_option_function<std::string>(
      "--threads", [&options](const std::string& text) { options.threads = parse_number<int>("--threads", text, 1); });
  parser_->describe("--threads", "N", "processor threads; without it all of them");
  text("--device", options.device, "NAME", "cpu, cuda:0, cuda:1, ... or auto (the default)");
  parser_->app.add_option_function<std::string>("--seed", [&options](const std::string& text) {
    constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();  // what a scene file can hold
    options.seed = static_cast<std::uint64_t>(parse_number<std::int64_t>("--seed", text, 0, most));
  });
  parser_->describe("--seed", "N",
                    "seed of random numbers and of the noise of sensors; without it the scene's, and 1 for sensors");
  flag("--force", options.force, "replace files that exist");
  flag("--quiet", options.quiet, "print errors only");
  bool ignored = false;
  flag("-h,--help", ignored, "print this help");
}

void Options::parse(const std::string& verb, const std::vector<std::string>& arguments) {
  const std::string help = fmt::format("supple {} --help", verb);
  std::vector<std::string> names;
  for (const CLI::Option* option : parser_->app.get_options())
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  for (const std::string& argument : arguments) {
    if (argument == "--") break;
    const bool is_long = argument.starts_with("--");
    const bool is_short = !is_long && argument.size() > 1 && argument[0] == '-' && std::isalpha(argument[1]) != 0;
    if (!is_long && !is_short) continue;
    const std::string name = is_long ? argument.substr(0, argument.find('=')) : argument.substr(0, 2);
    if (parser_->app.get_option_no_throw(name) != nullptr) continue;
    const std::string near = is_long ? nearest_word(name, names) : "";
    throw InputError(fmt::format("there is no option '{}' in `supple {}`", name, verb),
                     near.empty() ? help : fmt::format("{} (did you mean it?)", near));
  }
  try {
    // CLI11 takes them in reverse.
    std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());
    parser_->app.parse(reversed);
  } catch (const CLI::ExtrasError&) {
    throw InputError(fmt::format("too many arguments for `supple {}`", verb), help);
  } catch (const CLI::ParseError& error) {
    throw InputError(error.what(), help);
  }
  for (const auto& [name, value] : parser_->required)
    if (value->empty()) throw InputError(fmt::format("`supple {}` needs {}", verb, name), help);
}

std::string Options::help(const std::string& verb) const {
  std::string text = fmt::format("Usage: supple {}{} [options]\n\n", verb, parser_->usage);
  std::size_t width = 0;
  for (const auto* list : {&parser_->positionals, &parser_->entries})
    for (const Parser::Entry& entry : *list) width = std::max(width, entry.left.size() + 2);
  for (const Parser::Entry& entry : parser_->positionals) text += two_columns(entry.left, entry.help, width);
  if (!parser_->positionals.empty()) text += "\n";
  for (const bool common : {false, true}) {
    std::string lines;
    for (const Parser::Entry& entry : parser_->entries)
      if (entry.common == common) lines += two_columns(entry.left, entry.help, width);
    if (!lines.empty()) text += fmt::format("{}:\n{}\n", common ? "Options of every verb" : "Options", lines);
  }
  return text;
}

std::string two_columns(const std::string& left, const std::string& right, std::size_t width) {
  std::string text = fmt::format("  {:<{}}", left, width);
  std::size_t column = text.size();
  const std::size_t indent = column;
  std::istringstream words(right);
  bool first = true;
  for (std::string word; words >> word; first = false) {
    if (!first && column + 1 + word.size() > line_length) {
      text += "\n" + std::string(indent, ' ');
      column = indent;
    } else if (!first) {
      text += " ";
      ++column;
    }
    text += word;
    column += word.size();
  }
  return text + "\n";
}

void refuse_with(const std::string& what, std::initializer_list<Given> options, const std::string& remedy) {
  for (const auto& [given, option] : options)
    if (given) throw InputError(fmt::format("{} does not go with {}", option, what), remedy);
}

}  // namespace supple::cli
