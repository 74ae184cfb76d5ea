#include "engine/reduction/plots.hpp"

#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>

#include <filesystem>

#include "kernels/base/atomic_file.hpp"

extern char** environ;  // NOLINT: POSIX

namespace supple {

namespace {

namespace fs = std::filesystem;

void write_text(const fs::path& file, const std::string& text, Plots& plots) {
  write_file(file.string(), text);
  plots.files.push_back(file.string());
}

// Scripts run in their own folder; names in quotes are theirs.
std::string script(const std::string& name, const std::string& title, const std::string& body) {
  return fmt::format(
      "# gnuplot {0}.gp\nset terminal pngcairo size 900,600 font 'DejaVu Sans,11'\nset output '{0}.png'\nset datafile "
      "separator ','\n"
      "set title '{1}' noenhanced\nset grid\nset key noenhanced\n{2}",
      name, title, body);
}

bool run_gnuplot(const fs::path& folder, const std::string& name) {
  // gnuplot changes into the folder by itself, so that file names in the script stay short.
  std::string program = "gnuplot", option = "-e", change = "cd '" + folder.string() + "'", file = name + ".gp";
  char* arguments[] = {program.data(), option.data(), change.data(), file.data(), nullptr};
  pid_t process;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", 1, 0);
  const int error = posix_spawnp(&process, "gnuplot", &actions, nullptr, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return false;
  int status = 0;
  waitpid(process, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
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
      script(
          "pod", title + ": what a basis of so many modes leaves out",
          "set logscale y\nset format y '10^{%T}'\nset xlabel 'modes'\nset ylabel 'relative error of the snapshots'\n"
          "plot [0:100] 'pod.csv' using 1:2 skip 1 with linespoints pt 7 ps 0.5 lw 2 notitle\n"),
      plots);

  text = "elements,tolerance,residual,goal_error_percent,shape_error_percent,steps_per_s\n";
  for (const ModelRow& row : report.curve)
    if (row.tolerance > 0)
      text += fmt::format("{},{:g},{:.4g},{:.5g},{:.5g},{:.6g}\n", row.elements, row.tolerance, row.residual,
                          100 * row.errors.goal_mean, 100 * row.errors.shape_mean, row.rate.steps_per_s);
  write_text(at / "elements.csv", text, plots);
  // The last row holds all elements: what the basis alone leaves.
  const ErrorSummary all = report.curve.empty() ? ErrorSummary{} : report.curve.back().errors;
  const std::string floor = fmt::format(
      ", {0:.5g} with lines dt 2 lc 1 title 'goal, all elements', {1:.5g} with lines dt 2 lc 2 title 'shape, all "
      "elements'",
      100 * all.goal_mean, 100 * all.shape_mean);
  write_text(
      at / "elements.gp",
      script("elements", title + ": elements against error",
             "set logscale xy\nset xlabel 'elements of the reduced integration domain'\nset ylabel 'mean error [%]'\n"
             "plot 'elements.csv' using 1:4 skip 1 with linespoints pt 7 lw 2 lc 1 title 'goal', '' using 1:5 skip 1 "
             "with linespoints pt 5 lw 2 lc 2 title 'shape'" +
                 floor + "\n"),
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
      script("rate", title + ": error against rate, one thread",
             "set logscale xy\nset xlabel 'time steps per second'\nset ylabel 'mean error [%]'\n" + full +
                 "plot 'elements.csv' using 6:4 skip 1 with linespoints pt 7 lw 2 lc 1 title 'hyper-reduced, goal', "
                 "'' using 6:5 skip 1 with linespoints pt 5 lw 2 lc 2 title 'hyper-reduced, shape', "
                 "'rate.csv' using 6:4:1 skip 1 with labels point pt 6 ps 2 offset 0,1 notitle\n"),
      plots);
  for (const char* name : {"pod", "elements", "rate"}) {
    if (run_gnuplot(at, name))
      plots.files.push_back((at / (std::string(name) + ".png")).string());
    else
      plots.note = "no pictures: gnuplot is not installed or failed (apt-get install gnuplot-nox, then gnuplot *.gp)";
  }
  return plots;
}

}  // namespace supple
