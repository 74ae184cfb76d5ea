#include "engine/reduction/plots.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "engine/io/gnuplot.hpp"
#include "kernels/base/atomic_file.hpp"

namespace supple {

namespace {

namespace fs = std::filesystem;

void write_text(const fs::path& file, const std::string& text, Plots& plots) {
  write_file(file.string(), text);
  plots.files.push_back(file.string());
}

}  // namespace

Plots write_plots(const ReduceReport& report, const std::string& title, const std::string& folder) {
  Plots plots;
  std::error_code error;
  fs::create_directories(folder, error);
  const fs::path at(folder);

  std::string text = "modes,truncation_error,singular_value\n";
  for (std::size_t k = 0; k < report.truncation_error.size(); ++k)
    text += fmt::format("{},{:.6g},{:.6g}\n", k, report.truncation_error[k],
                        k < report.singular_values.size() ? report.singular_values[k] : 0.0);
  write_text(at / "pod.csv", text, plots);
  write_text(
      at / "pod.gp",
      gnuplot_script(
          "pod", title + ": what a basis of so many modes leaves out",
          "set logscale y\nset format y '10^{%T}'\nset xlabel 'modes'\nset ylabel 'relative error of the snapshots'\n"
          "plot [0:100] 'pod.csv' using 1:2 skip 1 with linespoints pt 7 ps 0.5 lw 2 notitle\n"),
      plots);

  text = "elements,tolerance,residual,goal_error_percent,shape_error_percent,steps_per_s,points\n";
  for (const ModelRow& row : report.curve)
    if (row.tolerance > 0)
      text += fmt::format("{},{:g},{:.4g},{:.5g},{:.5g},{:.6g},{}\n", row.elements, row.tolerance, row.residual,
                          100 * row.errors.goal_mean, 100 * row.errors.shape_mean, row.rate.steps_per_s, row.points);
  write_text(at / "elements.csv", text, plots);
  // The last row holds all elements: what the basis alone leaves.
  const ErrorSummary all = report.curve.empty() ? ErrorSummary{} : report.curve.back().errors;
  const std::string floor = fmt::format(
      ", {0:.5g} with lines dt 2 lc 1 title 'goal, all elements', {1:.5g} with lines dt 2 lc 2 title 'shape, all "
      "elements'",
      100 * all.goal_mean, 100 * all.shape_mean);
  const bool points = !report.curve.empty() && report.curve.back().units != report.curve.back().elements;
  write_text(at / "elements.gp",
             gnuplot_script(
                 "elements", title + fmt::format(": {} against error", points ? "points" : "elements"),
                 fmt::format(
                     "set logscale xy\nset xlabel '{} of the reduced integration domain'\nset ylabel 'mean error [%]'\n"
                     "plot 'elements.csv' using {}:4 skip 1 with linespoints pt 7 lw 2 lc 1 title 'goal', '' using "
                     "{}:5 skip 1 "
                     "with linespoints pt 5 lw 2 lc 2 title 'shape'{}\n",
                     points ? "points" : "elements", points ? 7 : 1, points ? 7 : 1, floor)),
             plots);

  text = "model,modes,elements,goal_error_percent,shape_error_percent,steps_per_s\n";
  for (const ModelRow& row : report.table)
    if (row.modes > 0)
      text += fmt::format("\"{}\",{},{},{:.5g},{:.5g},{:.6g}\n", row.label, row.modes, row.elements,
                          100 * row.errors.goal_mean, 100 * row.errors.shape_mean, row.rate.steps_per_s);
  write_text(at / "rate.csv", text, plots);
  std::string full;
  if (!report.table.empty())
    full = fmt::format(
        "set arrow 1 from {0:.6g}, graph 0 to {0:.6g}, graph 1 nohead dt 3 lw 2\nset label 1 'full model' at {0:.6g}, "
        "graph 0.95 offset 1,0\n",
        report.table.front().rate.steps_per_s);
  write_text(
      at / "rate.gp",
      gnuplot_script(
          "rate", title + ": error against rate, one thread",
          "set logscale xy\nset xlabel 'time steps per second'\nset ylabel 'mean error [%]'\n" + full +
              "plot 'elements.csv' using 6:4 skip 1 with linespoints pt 7 lw 2 lc 1 title 'hyper-reduced, goal', "
              "'' using 6:5 skip 1 with linespoints pt 5 lw 2 lc 2 title 'hyper-reduced, shape', "
              "'rate.csv' using 6:4:1 skip 1 with labels point pt 6 ps 2 offset 0,1 notitle\n"),
      plots);
  for (const char* name : {"pod", "elements", "rate"}) {
    if (run_gnuplot(at.string(), name))
      plots.files.push_back((at / (std::string(name) + ".png")).string());
    else
      plots.note = no_gnuplot;
  }
  return plots;
}

}  // namespace supple
