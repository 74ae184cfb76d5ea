// supple_validation: cases with known answers, solved with every kind of element.
//   supple_validation                       all of them, a line for each run
//   supple_validation --case TEXT           those with TEXT in their name
//   supple_validation --element NAME        with this kind of element alone, "hexahedra, order 2"
//   supple_validation --write FILE          the page (docs/validation.md)
//   supple_validation --check               only the default element on each case's practical mesh; exit code 1 where an
//                                           error is above the case's bar, but for misses that the page explains

#include <fmt/format.h>

#include <cstring>

#include "bench/validation/report.hpp"
#include "kernels/base/atomic_file.hpp"
#include "kernels/base/error.hpp"

namespace supple::validation {

const std::vector<Element>& elements() {
  static const std::vector<Element> all{{"tetrahedra", false, 1, Dilatation::points},
                                        {"tetrahedra, order 2", false, 2, Dilatation::mean},
                                        {"tetrahedra, order 2, points", false, 2, Dilatation::points},
                                        {"hexahedra", true, 1, Dilatation::mean},
                                        {"hexahedra, points", true, 1, Dilatation::points},
                                        {"hexahedra, order 2", true, 2, Dilatation::mean},
                                        {"hexahedra, order 2, points", true, 2, Dilatation::points}};
  return all;
}

const Element& default_element() {
  return elements()[1];
}

std::vector<Case> all_cases() {
  std::vector<Case> cases = law_cases();
  for (const auto& more : {beam_cases(), composite_cases(), cavity_cases(), column_cases(), viscous_cases(),
                           plane_cases(), contact_cases(), robot_cases()})
    cases.insert(cases.end(), more.begin(), more.end());
  return cases;
}

namespace {

struct Options {
  std::string only, element, page;
  bool check = false;
};

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const auto value = [&]() -> std::string {
      if (i + 1 == argc) throw InputError(fmt::format("{} needs a value", argv[i]), "see the file's first lines");
      return argv[++i];
    };
    if (std::strcmp(argv[i], "--case") == 0)
      options.only = value();
    else if (std::strcmp(argv[i], "--element") == 0)
      options.element = value();
    else if (std::strcmp(argv[i], "--write") == 0)
      options.page = value();
    else if (std::strcmp(argv[i], "--check") == 0)
      options.check = true;
    else
      throw InputError(fmt::format("unknown option '{}'", argv[i]), "--case, --element, --write or --check");
  }
  return options;
}

Run run_and_print(const Case& each, const Element& element, int refinement) {
  Run run = each.run(element, 1 << refinement);
  fmt::print("{}\n", line(element, run));
  std::fflush(stdout);
  return run;
}

int run(const Options& options) {
  const std::vector<Case> cases = all_cases();
  std::vector<CaseRuns> done;
  int missed = 0, found = 0;
  for (const Case& each : cases) {
    if (each.name.find(options.only) == std::string::npos) continue;
    ++found;
    fmt::print("\n{} ({})\n", each.title, each.name);
    if (options.check) {
      if (meets_bar(each, run_and_print(each, default_element(), each.practical))) continue;
      fmt::print("missed: an error is above {:.2g} %\n", 100 * each.bar);
      missed += each.known_miss ? 0 : 1;
      continue;
    }
    CaseRuns& runs = done.emplace_back(&each);
    for (const Element& element : elements()) {
      runs.runs.emplace_back();
      if (!each.of(element) || (!options.element.empty() && element.name != options.element)) continue;
      for (int k = 0; k < each.meshes_of(element); ++k) runs.runs.back().push_back(run_and_print(each, element, k));
    }
  }
  if (found == 0) throw InputError(fmt::format("no case has '{}' in its name", options.only), "run without --case");
  if (!options.page.empty()) write_file(options.page, page(done));
  return missed > 0 ? 1 : 0;
}

}  // namespace

}  // namespace supple::validation

int main(int argc, char** argv) {
  try {
    return supple::validation::run(supple::validation::parse(argc, argv));
  } catch (const supple::Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 2;
  }
}
