#include "engine/io/gnuplot.hpp"

#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>

extern char** environ;  // NOLINT: POSIX

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
  std::string program = "gnuplot", option = "-e", change = "cd '" + folder + "'", file = name + ".gp";
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

}  // namespace supple
