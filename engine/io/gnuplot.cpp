#include "engine/io/gnuplot.hpp"

#include <fmt/format.h>

#include "engine/io/run_program.hpp"

namespace supple {

std::string gnuplot_script(const std::string& name, const std::string& title, const std::string& body) {
  return fmt::format(
      "# gnuplot {0}.gp\nset terminal pngcairo size 900,600 font 'DejaVu Sans,11'\nset output '{0}.png'\nset datafile "
      "separator ','\n"
      "set title '{1}' noenhanced\nset grid\nset key noenhanced\n{2}",
      name, title, body);
}

bool run_gnuplot(const std::string& folder, const std::string& name) {
  // gnuplot changes into the folder by itself, so that file names in the script stay short.
  return run_program({"gnuplot", "-e", "cd '" + folder + "'", name + ".gp"}) == 0;
}

}  // namespace supple
