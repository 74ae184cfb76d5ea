#pragma once
// Declares the options of a verb, parses them (CLI11 behind it) and writes their help. Every function binds a variable,
// which must outlive parse(); its value before is the default. Wrong values throw InputError that names the option.

#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/scene/units.hpp"

namespace supple::cli {

struct CommonOptions;

class Options {
 public:
  Options();
  ~Options();
  Options(const Options&) = delete;
  Options& operator=(const Options&) = delete;

  void positional(const std::string& name, std::string& value, const std::string& help, bool required = true);
  // flags: "-o,--output" or "--steps".
  void text(const std::string& flags, std::string& value, const std::string& placeholder, const std::string& help);
  // May be given several times.
  void texts(const std::string& flags, std::vector<std::string>& values, const std::string& placeholder,
             const std::string& help);
  void choice(const std::string& flags, std::string& value, const std::vector<std::string>& choices,
              const std::string& help);
  // From `least` to `most`.
  void whole(const std::string& flags, std::optional<long>& value, long least, long most,
             const std::string& placeholder, const std::string& help);
  // "1,64,1024": at least one, each from `least` to `most`.
  void wholes(const std::string& flags, std::vector<long>& values, long least, long most,
              const std::string& placeholder, const std::string& help);
  // With a unit, into SI; above 0.
  void quantity(const std::string& flags, std::optional<double>& value, Dimension dimension,
                const std::string& placeholder, const std::string& help);
  void flag(const std::string& flags, bool& value, const std::string& help);
  // The options that every verb has; they come last in the help.
  void common(CommonOptions& options);

  // Arguments after the verb. Throws InputError for an unknown option (did you mean), a missing or a surplus argument.
  void parse(const std::string& verb, const std::vector<std::string>& arguments);
  // "usage", arguments, options: wrapped at 100 columns.
  std::string help(const std::string& verb) const;

 private:
  struct Parser;
  std::unique_ptr<Parser> parser_;
};

// Throws InputError for the first of these options that was given: "--steps does not go with --stdin", what: "--stdin".
struct Given {
  bool given = false;
  const char* option = "";
};
void refuse_with(const std::string& what, std::initializer_list<Given> options, const std::string& remedy);

// `left` in a column of `width`, then `right`, wrapped at 100 columns and indented.
std::string two_columns(const std::string& left, const std::string& right, std::size_t width);

}  // namespace supple::cli
