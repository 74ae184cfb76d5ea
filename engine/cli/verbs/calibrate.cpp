// supple calibrate: parameters of a scene from measurements of the real robot.
#include "engine/calibration/calibrate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "engine/cli/reports/json_report.hpp"
#include "engine/cli/reports/table.hpp"
#include "engine/cli/shell/command.hpp"
#include "engine/cli/shell/interrupt.hpp"
#include "engine/cli/shell/options.hpp"
#include "engine/cli/shell/progress_bar.hpp"
#include "engine/cli/shell/terminal.hpp"
#include "engine/commands/actuation.hpp"
#include "engine/io/gnuplot.hpp"
#include "engine/scene/assembly_scene.hpp"
#include "engine/scene/csv.hpp"
#include "kernels/base/atomic_file.hpp"

namespace supple::cli {

namespace {

namespace fs = std::filesystem;

struct Arguments {
  std::string scene, data, output, report;
  std::string alignment = "none", loss = "huber";
  std::vector<std::string> parameters, noise;
  std::optional<long> iterations;
};

// Above it a change of one parameter is nearly that of another.
constexpr double close_correlation = 0.99;
// Of a value: with a larger standard error the measurements hardly tell it.
constexpr double loose = 0.5;

// "body.material.young = 100 kPa .. 1 MPa"; without bounds from a tenth of the scene's value to ten times as much.
Interval add_parameter(const std::string& text, SceneNumbers& scene) {
  const auto equals = text.find('=');
  const std::size_t k = scene.add(trimmed(text.substr(0, equals)));
  const SceneNumber& number = scene.numbers()[k];
  if (equals == std::string::npos) {
    if (number.value == 0)
      throw InputError(fmt::format("'{}' is 0 in the scene and has no bounds", number.keys),
                       fmt::format("--parameters \"{} = LOWER .. UPPER\"", number.keys), number.place);
    const double a = 0.1 * number.value, b = 10 * number.value;
    return {std::min(a, b), std::max(a, b)};
  }
  const std::string bounds = text.substr(equals + 1);
  const auto dots = bounds.find("..");
  if (dots == std::string::npos) throw InputError(fmt::format("'{}' has no two bounds", text), "KEYS = LOWER .. UPPER");
  return {scene.in_unit(k, trimmed(bounds.substr(0, dots))), scene.in_unit(k, trimmed(bounds.substr(dots + 2)))};
}

// "2 mm": of all values with that dimension. A plain number would be one of any.
void add_noise(const std::string& text, CalibrationSettings& settings) {
  const auto last_digit = text.find_last_of("0123456789.");
  const bool unit =
      last_digit != std::string::npos && std::any_of(text.begin() + static_cast<long>(last_digit), text.end(),
                                                     [](unsigned char c) { return std::isalpha(c) != 0; });
  for (const Dimension dimension : {Dimension::length, Dimension::angle, Dimension::force, Dimension::stress,
                                    Dimension::volume, Dimension::torque}) {
    double value = 0;
    try {
      value = parse_quantity(text, dimension);
    } catch (const InputError&) {
      continue;
    }
    if (!unit || !(value > 0)) break;
    settings.noise[static_cast<std::size_t>(dimension)] = value;
    return;
  }
  throw InputError(fmt::format("--noise '{}' is no length, angle, force, pressure or volume above 0", text),
                   "--noise \"1 mm\"");
}

std::string in_unit(double value, const SceneNumber& number) {
  return trimmed(fmt::format("{:.5g} {}", value, number.unit));
}

// Of a place: what its columns have in common.
std::string place_name(const Measurements& measurements, int place) {
  const auto column = std::ranges::find(measurements.columns, place, &MeasuredColumn::place);
  return column->kind == MeasuredColumn::Kind::coordinate ? column->name.substr(0, column->name.rfind(' '))
                                                          : column->name;
}

std::string millimetres(double length) {
  return std::isnan(length) ? "-" : fmt::format("{:.2f}", 1e3 * length);
}

nlohmann::ordered_json to_json(const SceneNumbers& scene, const std::vector<Interval>& bounds,
                               const Measurements& measurements, const Calibration& found) {
  nlohmann::ordered_json json;
  for (std::size_t k = 0; k < found.values.size(); ++k) {
    const SceneNumber& number = scene.numbers()[k];
    json["parameters"].push_back({{"keys", number.keys},
                                  {"unit", number.unit},
                                  {"start", number.value},
                                  {"lower", bounds[k].lower},
                                  {"upper", bounds[k].upper},
                                  {"value", found.values[k]},
                                  {"standard_error", found.standard_error[k]},
                                  {"at_bound", static_cast<bool>(found.at_bound[k])}});
  }
  json["registration"] = {{"turn_rad", found.registration.turn.v}, {"shift_m", found.registration.shift.v}};
  for (Eigen::Index i = 0; i < found.covariance.rows(); ++i) {
    std::vector<double> row;
    for (Eigen::Index j = 0; j < found.covariance.cols(); ++j) row.push_back(found.covariance(i, j));
    json["covariance"].push_back(row);
  }
  json["condition"] = found.condition;
  json["spread"] = found.spread;
  json["iterations"] = found.iterations;
  json["equilibria"] = found.equilibria;
  json["converged"] = found.converged;
  json["rms_m"] = distance_rms(measurements, found.predicted, -1, -1);
  json["rms_start_m"] = distance_rms(measurements, found.start, -1, -1);
  for (int place = 0; place < measurements.places; ++place)
    json["rms_of_places_m"][place_name(measurements, place)] = distance_rms(measurements, found.predicted, -1, place);
  for (std::size_t load = 0; load < measurements.loads.size(); ++load)
    json["rms_of_loads_m"][measurements.loads[load]] =
        distance_rms(measurements, found.predicted, static_cast<int>(load), -1);
  return json;
}

// residuals.csv and a picture of measured against predicted values.
void write_report(const std::string& folder, const std::string& title, const Measurements& measurements,
                  const Calibration& found) {
  std::string text = "load,name,unit,measured,start,calibrated,residual,size,weight\n";
  for (std::size_t load = 0; load < measurements.loads.size(); ++load)
    for (std::size_t c = 0; c < measurements.columns.size(); ++c) {
      const MeasuredColumn& column = measurements.columns[c];
      const double unit = display_scale(column.dimension), measured = measurements.value(load, c);
      if (std::isnan(measured)) continue;
      const std::size_t at = load * measurements.columns.size() + c,
                        place = load * static_cast<std::size_t>(measurements.places) +
                                static_cast<std::size_t>(column.place);
      text += fmt::format("\"{}\",{},{},{:.8g},{:.8g},{:.8g},{:.4g},{:.4g},{:.4g}\n", measurements.loads[load],
                          column.name, display_unit(column.dimension), measured / unit, found.start[at] / unit,
                          found.predicted[at] / unit, (measured - found.predicted[at]) / unit, found.size[place],
                          found.weight[place]);
    }
  write_file((fs::path(folder) / "residuals.csv").string(), text);
  write_file((fs::path(folder) / "residuals.gp").string(),
             gnuplot_script("residuals", title + ": measured against predicted",
                            "set key top left\nset xlabel 'measured'\nset ylabel 'predicted'\nset size ratio -1\n"
                            "plot 'residuals.csv' using 4:5 skip 1 with points pt 6 lc 'grey' title 'before', '' using "
                            "4:6 skip 1 with points pt 7 ps 0.6 lc 1 title 'calibrated', x with lines lc 'black' "
                            "notitle\n"));
  if (!run_gnuplot(folder, "residuals")) print_note(no_gnuplot);
}

void print_result(const SceneNumbers& scene, const Measurements& measurements, const CalibrationSettings& settings,
                  const Calibration& found, double seconds) {
  Facts facts;
  facts.emplace_back("loads", fmt::format("{}, {} equilibria in {}", measurements.loads.size(), found.equilibria,
                                          format_duration(seconds)));
  if (found.values.empty())
    facts.emplace_back("search", "none, the scene as it is");
  else
    facts.emplace_back("search", found.converged ? fmt::format("converged in {} iterations", found.iterations)
                                                 : fmt::format("not converged: {}", found.stopped));
  for (std::size_t k = 0; k < found.values.size(); ++k) {
    const SceneNumber& number = scene.numbers()[k];
    facts.emplace_back(number.keys, found.at_bound[k]
                                        ? fmt::format("{}, at its bound (was {})", in_unit(found.values[k], number),
                                                      in_unit(number.value, number))
                                        : fmt::format("{} +- {:.2g} (was {})", in_unit(found.values[k], number),
                                                      found.standard_error[k], in_unit(number.value, number)));
  }
  if (settings.alignment != Alignment::none) {
    const Vec3d &turn = found.registration.turn, &shift = found.registration.shift;
    std::string text = fmt::format("measured places moved by ({:.2f}, {:.2f}, {:.2f}) mm", 1e3 * shift[0],
                                   1e3 * shift[1], 1e3 * shift[2]);
    if (settings.alignment == Alignment::rigid) {
      const double degrees = 1 / display_scale(Dimension::angle);
      text += fmt::format(" after a turn by ({:.2f}, {:.2f}, {:.2f}) deg", degrees * turn[0], degrees * turn[1],
                          degrees * turn[2]);
    }
    facts.emplace_back("alignment", text);
  }
  print_facts(facts);

  const bool compared = found.values.empty() && settings.alignment == Alignment::none;
  std::vector<std::vector<std::string>> rows{{"distance, rms [mm]", "before", "calibrated"}};
  if (compared) rows = {{"distance, rms [mm]", "scene"}};
  const auto add = [&](const std::string& name, int load, int place) {
    const double after = distance_rms(measurements, found.predicted, load, place);
    if (std::isnan(after)) return;
    rows.push_back({name, millimetres(distance_rms(measurements, found.start, load, place))});
    if (!compared) rows.back().push_back(millimetres(after));
  };
  add("all", -1, -1);
  for (int place = 0; place < measurements.places; ++place) add(place_name(measurements, place), -1, place);
  if (measurements.loads.size() <= 40)
    for (std::size_t load = 0; load < measurements.loads.size(); ++load)
      add("load " + measurements.loads[load], static_cast<int>(load), -1);
  if (rows.size() > 1) fmt::print("\n{}", format_table(rows, {1, 2}));
}

// What the measurements cannot tell, and which of them stand out.
void print_warnings(const SceneNumbers& scene, const Measurements& measurements, const Calibration& found) {
  if (!found.converged) print_warning(fmt::format("the search did not converge: {}", found.stopped));
  for (std::size_t a = 0; a < found.values.size(); ++a) {
    const SceneNumber& number = scene.numbers()[a];
    if (found.at_bound[a])
      print_warning(fmt::format("'{}' ends at its bound {}: wider bounds, or another cause of the difference",
                                number.keys, in_unit(found.values[a], number)));
    else if (std::isinf(found.standard_error[a]))
      print_warning(fmt::format("these loads do not depend on '{}'", number.keys));
    else if (found.standard_error[a] > loose * std::abs(found.values[a]))
      print_warning(fmt::format("these loads hardly tell '{}': {} +- {:.2g}", number.keys,
                                in_unit(found.values[a], number), found.standard_error[a]));
    for (std::size_t b = a + 1; b < found.values.size(); ++b) {
      const auto i = static_cast<Eigen::Index>(a), j = static_cast<Eigen::Index>(b);
      const double size = std::sqrt(found.covariance(i, i) * found.covariance(j, j));
      const double correlation = size > 0 ? found.covariance(i, j) / size : 0;
      if (std::abs(correlation) > close_correlation)
        print_warning(fmt::format(
            "these loads cannot tell '{}' from '{}' (correlation {:.3f}): {}", number.keys, scene.numbers()[b].keys,
            correlation, correlation > 0 ? "both larger fit as well" : "one larger and one smaller fit as well"));
    }
  }
  std::vector<std::string> outliers;
  for (std::size_t at = 0; at < found.size.size(); ++at)
    if (found.components[at] > 0 && found.size[at] > outlying(found.components[at]))
      outliers.push_back(
          fmt::format("{} of load {} ({:.1f})", place_name(measurements, static_cast<int>(at) % measurements.places),
                      measurements.loads[at / static_cast<std::size_t>(measurements.places)], found.size[at]));
  constexpr std::size_t most_named = 8;
  if (!outliers.empty()) {
    const std::size_t all = outliers.size();
    if (all > most_named) outliers.resize(most_named);
    print_note(fmt::format("further from the model than the spread of the others lets expect, in that spread: {}{}",
                           fmt::join(outliers, ", "),
                           all > most_named ? fmt::format(" and {} more", all - most_named) : ""));
  }
}

int run_calibration(Context& context, const Arguments& arguments) {
  check_json_target(context);
  if (is_assembly(arguments.scene))
    throw InputError(fmt::format("'{}' has several bodies, which calibrate does not take yet", arguments.scene),
                     "the scene of one part");
  if (arguments.data.empty()) throw InputError("no measurements are given", "--data FILE.csv");
  if (arguments.parameters.empty() && !arguments.output.empty())
    throw InputError("no parameter is given, so that there is no calibrated scene to write",
                     "--parameters \"body.material.young = 100 kPa .. 1 MPa\"");
  SceneNumbers scene(arguments.scene);
  std::vector<Interval> bounds;
  for (const std::string& text : arguments.parameters) bounds.push_back(add_parameter(text, scene));
  CalibrationSettings settings;
  settings.alignment = arguments.alignment == "none"          ? Alignment::none
                       : arguments.alignment == "translation" ? Alignment::translation
                                                              : Alignment::rigid;
  settings.loss = arguments.loss == "huber" ? Loss::huber : Loss::squares;
  settings.max_iterations = static_cast<int>(arguments.iterations.value_or(settings.max_iterations));
  for (const std::string& text : arguments.noise) add_noise(text, settings);
  std::vector<double> start;
  for (const SceneNumber& number : scene.numbers()) start.push_back(number.value);
  if (!arguments.output.empty()) {
    check_target("-o", arguments.output);
    refuse_existing(arguments.output, context.common.force);
    std::error_code error;
    if (!fs::equivalent(fs::absolute(arguments.output).parent_path(), fs::absolute(scene.file()).parent_path(), error))
      throw InputError("the calibrated scene would lie in another folder than the scene, whose files it names",
                       fmt::format("-o {}", (fs::path(scene.file()).parent_path() / "calibrated.toml").string()));
    (void)scene.text(start);
  }
  if (!arguments.report.empty())
    make_target_folder("--report", arguments.report, "residuals.csv", context.common.force);
  const Scene at_start = scene.scene(start);
  const Measurements measurements = read_measurements(arguments.data, build_full_model(at_start).robot);

  const InterruptGuard guard;
  ProgressBar bar(context.common.quiet);
  settings.progress = bar.progress();
  const auto before = std::chrono::steady_clock::now();
  const Calibration found = calibrate(scene, bounds, measurements, settings);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - before).count();
  bar.finish();

  nlohmann::ordered_json json = machine_facts(context, "cpu");
  json["scene"] = scene.file();
  json["data"] = arguments.data;
  json["seconds"] = seconds;
  json.update(to_json(scene, bounds, measurements, found));
  if (!arguments.output.empty()) write_file(arguments.output, scene.text(found.values));
  if (!arguments.report.empty()) write_report(arguments.report, at_start.name, measurements, found);
  write_json(context, json);
  if (!context.common.quiet) {
    print_result(scene, measurements, settings, found, seconds);
    print_warnings(scene, measurements, found);
    if (!arguments.output.empty()) fmt::print("written     {}\n", arguments.output);
  }
  return found.converged ? 0 : 1;
}

}  // namespace

Command calibrate_command() {
  Command command;
  command.name = "calibrate";
  command.description = "find parameters of a scene from measurements of the real robot";
  command.examples =
      "  supple calibrate assets/finger --data bent.csv --parameters \"body.material.young = 300 kPa .. 1 MPa\"\n"
      "  supple calibrate assets/measured_tentacle --data assets/measured_tentacle/measured.csv --loss squares \\\n"
      "      --parameters body.material.young --parameters body.density -o assets/measured_tentacle/calibrated.toml\n"
      "  supple calibrate assets/measured_tentacle/calibrated.toml --data assets/measured_tentacle/unseen.csv\n"
      "\n"
      "A file of measurements has a line for each load at rest. Its header names inputs and what was measured as\n"
      "trajectory.csv of a run does: `run,flexor [mm],tip x [mm],tip y [mm],tip z [mm]`; empty cells were not "
      "measured.\n"
      "Parameters are numbers of the scene file, by the keys that lead there; they must stand in it, and the search\n"
      "begins with their values.\n";
  command.declare = [](Options& options) -> Run {
    const auto arguments = std::make_shared<Arguments>();
    options.positional("SCENE", arguments->scene, "scene file, or a folder with a scene.toml");
    options.text("--data", arguments->data, "CSV", "what was measured");
    options.texts("--parameters", arguments->parameters, "\"KEYS = LOWER .. UPPER\"",
                  "a number of the scene to be found (may be repeated); without bounds a tenth to ten times its value; "
                  "without any the scene is compared with the measurements as it is");
    options.choice("--align", arguments->alignment, {"none", "translation", "rigid"},
                   "how the axes of measured places may be moved to those of the scene");
    options.choice("--loss", arguments->loss, {"huber", "squares"},
                   "huber: what is far off counts less; squares: all counts alike");
    options.texts("--noise", arguments->noise, "VALUE",
                  "uncertainty of measured values, \"1 mm\", \"0.1 N\" (may be repeated); matters between dimensions");
    options.whole("--iterations", arguments->iterations, 1, 1000, "N", "at most (30)");
    options.text("-o,--output", arguments->output, "FILE", "the scene with what was found, beside the scene");
    options.text("--report", arguments->report, "DIR", "residuals as a table and a picture");
    return [arguments](Context& context) { return run_calibration(context, *arguments); };
  };
  return command;
}

}  // namespace supple::cli
