#include "engine/cli/verbs/bench_cases.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "engine/io/model_file.hpp"
#include "kernels/base/error.hpp"

namespace supple::cli {

namespace {

namespace fs = std::filesystem;

constexpr int program_sizes[] = {4, 9};  // the diamond's cables; a tentacle's and its base

}  // namespace

std::vector<BenchCase> find_cases(const BenchArguments& arguments) {
  std::vector<BenchCase> cases;
  for (const std::string& file : arguments.models)
    for (const auto& [kind, direction] :
         {std::pair{BenchCase::Kind::forward_of_file, "forward/"}, {BenchCase::Kind::inverse_of_file, "inverse/"}})
      cases.push_back({direction + read_model(file).robot.name, file, kind});
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(arguments.assets, error)) {
    const fs::path scene = entry.path() / "scene.toml";
    if (!fs::exists(scene, error)) continue;
    const std::string robot = entry.path().filename().string();
    cases.push_back({"full/" + robot, scene.string(), BenchCase::Kind::full});
    cases.push_back({"full-inverse/" + robot, scene.string(), BenchCase::Kind::full_inverse});
    // A model that is given stands for the one that would be made.
    for (const auto& [kind, direction] :
         {std::pair{BenchCase::Kind::forward, "forward/"}, {BenchCase::Kind::inverse, "inverse/"}}) {
      const std::string name = direction + robot;
      if (std::ranges::none_of(cases, [&](const BenchCase& other) { return other.name == name; }))
        cases.push_back({name, scene.string(), kind});
    }
  }
  for (const int unknowns : program_sizes)
    cases.push_back({fmt::format("qp/{}", unknowns), "", BenchCase::Kind::program, unknowns});
  std::ranges::stable_sort(cases, {}, &BenchCase::name);
  if (cases.empty())
    throw InputError(fmt::format("there is nothing to measure (no scenes in '{}', no --model)", arguments.assets),
                     "--assets DIR, the folder of the robots");
  std::vector<std::string> names;
  for (const BenchCase& entry : cases) names.push_back(entry.name);
  // From the beginning of the name or of its robot on: "inverse/" is no part of "full-inverse/".
  const auto wanted = [&](const BenchCase& entry) {
    return arguments.wanted.empty() || std::ranges::any_of(arguments.wanted, [&](const std::string& text) {
             return entry.name.starts_with(text) || entry.name.find("/" + text) != std::string::npos ||
                    (text.starts_with("/") && entry.name.find(text) != std::string::npos);
           });
  };
  std::erase_if(cases, [&](const BenchCase& entry) { return !wanted(entry); });
  if (cases.empty())
    throw InputError(fmt::format("no case is called '{}'", fmt::join(arguments.wanted, "', '")),
                     fmt::format("{}", fmt::join(names, ", ")));
  return cases;
}

}  // namespace supple::cli
