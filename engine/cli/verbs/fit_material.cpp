// supple fit-material: constants of hyperelastic laws from tests of a material.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "engine/calibration/material_fit.hpp"
#include "engine/cli/reports/json_report.hpp"
#include "engine/cli/reports/table.hpp"
#include "engine/cli/shell/command.hpp"
#include "engine/cli/shell/options.hpp"
#include "engine/cli/shell/terminal.hpp"
#include "engine/io/gnuplot.hpp"
#include "kernels/base/atomic_file.hpp"

namespace supple::cli {

namespace {

namespace fs = std::filesystem;

struct Arguments {
  std::string data, shore, report, loss = "squares", poisson = "0.49";
};

std::string format_range(const Interval& range) {
  return range.upper <= range.lower ? "nowhere" : fmt::format("{:.2f} to {:.2f}", range.lower, range.upper);
}

// Of the tests that were made: the stretches of their points.
struct Tested {
  std::array<Interval, 3> stretches;
  std::array<int, 3> points{};
};

Tested tested(const std::vector<TestPoint>& points) {
  Tested result;
  result.stretches.fill({INFINITY, -INFINITY});
  for (const TestPoint& point : points) {
    const auto test = static_cast<std::size_t>(point.test);
    Interval& range = result.stretches[test];
    range = {std::min(range.lower, point.stretch), std::max(range.upper, point.stretch)};
    ++result.points[test];
  }
  return result;
}

bool stable_where_tested(const MaterialFit& fit, const Tested& made) {
  for (std::size_t test = 0; test < 3; ++test) {
    if (made.points[test] == 0) continue;
    const Interval &range = made.stretches[test], &stable = fit.stable[test];
    if (std::min(range.lower, 1.0) < stable.lower || std::max(range.upper, 1.0) > stable.upper) return false;
  }
  return true;
}

void write_report(const std::string& folder, const std::vector<TestPoint>& points,
                  const std::vector<MaterialFit>& fits) {
  std::string text = "test,stretch,measured_kPa";
  for (const MaterialFit& fit : fits) {
    std::string name = fit.name;
    std::ranges::replace(name, ',', ' ');
    text += "," + name;
  }
  text += "\n";
  for (const TestPoint& point : points) {
    text += fmt::format("{},{:.6g},{:.6g}", material_test_names[static_cast<std::size_t>(point.test)], point.stretch,
                        1e-3 * point.stress);
    for (const MaterialFit& fit : fits)
      text += fmt::format(",{:.6g}", 1e-3 * nominal_stress(fit.law, fit.parameters, point.test, point.stretch));
    text += "\n";
  }
  write_file((fs::path(folder) / "material.csv").string(), text);
  std::string plot =
      "set key top left\nset xlabel 'stretch'\nset ylabel 'nominal stress [kPa]'\n"
      "plot 'material.csv' using 2:3 skip 1 with points pt 6 lc 'black' title 'measured'";
  for (std::size_t k = 0; k < std::min<std::size_t>(fits.size(), 3); ++k)
    plot += fmt::format(", '' using 2:{} skip 1 with points pt 7 ps 0.4 lc {} title '{}'", 4 + k, k + 1, fits[k].name);
  write_file((fs::path(folder) / "material.gp").string(), gnuplot_script("material", "tests and laws", plot + "\n"));
  if (!run_gnuplot(folder, "material")) print_note(no_gnuplot);
}

int estimate_hardness(Context& context, const Arguments& arguments) {
  const HardnessEstimate found = young_of_hardness(arguments.shore);
  const auto text = [](double value) { return format_quantity(value, Dimension::stress); };
  nlohmann::ordered_json json = machine_facts(context, "cpu");
  json["young_Pa"] = found.young;
  json["lower_Pa"] = found.lower;
  json["upper_Pa"] = found.upper;
  write_json(context, json);
  if (!context.common.quiet)
    print_facts(
        {{"Young", fmt::format("about {}", text(found.young))},
         {"spread", fmt::format("{} to {}: five points of hardness more or less, which is how well it is measured",
                                text(found.lower), text(found.upper))},
         {"use", "small strains; a test of the material tells more (supple fit-material DATA.csv)"}});
  return 0;
}

int run_fit(Context& context, const Arguments& arguments) {
  check_json_target(context);
  if (arguments.data.empty() == arguments.shore.empty())
    throw InputError(
        arguments.data.empty() ? "neither tests nor a hardness are given" : "tests and a hardness are given",
        "supple fit-material DATA.csv, or --shore \"A 30\"");
  if (!arguments.shore.empty()) return estimate_hardness(context, arguments);
  const double poisson = parse_quantity(arguments.poisson, Dimension::number);
  if (!(poisson > 0 && poisson < 0.5))
    throw InputError(fmt::format("--poisson {} is not between 0 and 0.5", arguments.poisson), "--poisson 0.49");
  if (!arguments.report.empty()) make_target_folder("--report", arguments.report, "material.csv", context.common.force);
  const std::vector<TestPoint> points = read_material_tests(arguments.data);
  const std::vector<MaterialFit> fits = fit_materials(points, arguments.loss == "huber" ? Loss::huber : Loss::squares);
  const Tested made = tested(points);
  // The best of those that are stable where the material was tested.
  const auto best = std::ranges::find_if(
      fits, [&](const MaterialFit& fit) { return fit.converged && stable_where_tested(fit, made); });
  const int code = best == fits.end() ? 1 : 0;

  nlohmann::ordered_json json = machine_facts(context, "cpu");
  json["data"] = arguments.data;
  std::vector<std::vector<std::string>> rows{
      {"law", "constants", "rms", "largest", "criterion", "stable: uniaxial", "planar", "biaxial", "shear modulus"}};
  for (const MaterialFit& fit : fits) {
    double shear = 0;
    visit_law(fit.law, [&](auto law) {
      if constexpr (requires { law.shear_modulus(fit.parameters); }) shear = law.shear_modulus(fit.parameters);
    });
    rows.push_back({fit.name, fmt::format("{}", fit.constants), percent(fit.rms), percent(fit.largest),
                    fmt::format("{:.1f}", fit.criterion), format_range(fit.stable[0]), format_range(fit.stable[1]),
                    format_range(fit.stable[2]), format_quantity(shear, Dimension::stress)});
    nlohmann::ordered_json each = {{"law", fit.name},
                                   {"constants", fit.constants},
                                   {"parameters", fit.parameters.p},
                                   {"rms", fit.rms},
                                   {"largest", fit.largest},
                                   {"criterion", fit.criterion},
                                   {"converged", fit.converged},
                                   {"shear_modulus_Pa", shear}};
    for (std::size_t test = 0; test < 3; ++test)
      each["stable"][material_test_names[test]] = {fit.stable[test].lower, fit.stable[test].upper};
    json["fits"].push_back(std::move(each));
  }
  if (best != fits.end()) json["best"] = best->name;
  if (!arguments.report.empty()) write_report(arguments.report, points, fits);
  write_json(context, json);
  if (context.common.quiet) return code;
  for (std::size_t test = 0; test < 3; ++test)
    if (made.points[test] > 0)
      print_facts({{fmt::format("{:8}", material_test_names[test]),
                    fmt::format("{} points, stretches {:.3g} to {:.3g}", made.points[test], made.stretches[test].lower,
                                made.stretches[test].upper)}});
  fmt::print("\n{}\n", format_table(rows, {1, 2, 3, 4}));
  for (const MaterialFit& fit : fits)
    if (!fit.converged) print_warning(fmt::format("{}: {}", fit.name, fit.stopped));
  if (best == fits.end()) {
    print_warning(
        "no law was found that is stable wherever the material was tested: fewer or smaller stretches, or better data");
    return code;
  }
  fmt::print("{}, the best of those that are stable wherever the material was tested:\n\n{}", best->name,
             material_lines(*best, poisson));
  if (std::ranges::count_if(made.points, [](int count) { return count > 0; }) == 1)
    print_note("one kind of test tells little of others: compare the laws there before you rely on one (--report)");
  return code;
}

}  // namespace

Command fit_material_command() {
  Command command;
  command.name = "fit-material";
  command.description = "find the constants of hyperelastic laws from tests of a material";
  command.examples =
      "  supple fit-material silicone.csv --report fit\n"
      "  supple fit-material --shore \"A 30\"\n"
      "\n"
      "A file of tests begins with a line like `test,stretch,stress [kPa]`; `test` is uniaxial, planar or biaxial,\n"
      "`strain [%]` may stand for `stretch`, and the stress is nominal: force over area at rest. Bodies are taken as\n"
      "incompressible. Residuals are relative to the largest stress of their test; the criterion is Akaike's, "
      "corrected\n"
      "for few points: the least is best.\n";
  command.declare = [](Options& options) -> Run {
    const auto arguments = std::make_shared<Arguments>();
    options.positional("DATA", arguments->data, "CSV of tests", false);
    options.text("--shore", arguments->shore, "\"SCALE N\"",
                 "Young's modulus from a hardness instead: \"A 30\", \"D 40\"");
    options.choice("--loss", arguments->loss, {"squares", "huber"},
                   "squares: all points count alike; huber: what is far off counts less");
    options.text("--poisson", arguments->poisson, "NUMBER", "of the material's lines (0.49)");
    options.text("--report", arguments->report, "DIR", "tests and laws as a table and a picture");
    return [arguments](Context& context) { return run_fit(context, *arguments); };
  };
  return command;
}

}  // namespace supple::cli
