#include "engine/cli/shell/program.hpp"

#include <cstdio>
#include <exception>
#include <new>

#include "engine/cli/shell/dispatch.hpp"
#include "engine/cli/shell/interrupt.hpp"
#include "engine/cli/shell/terminal.hpp"
#include "kernels/base/error.hpp"
#include "kernels/base/ranks.hpp"

namespace supple::cli {

Ending run_verb(const std::vector<std::string>& arguments, const std::vector<Command>& commands) {
  try {
    const int code = dispatch(arguments, commands);
    if (std::fflush(stdout) != 0) return {1, "error: the output could not be written (is the disk full?)\n"};
    return {code, {}};
  } catch (const RankFailed& error) {
    return {error.exit_code(), coloured_report(error), true};
  } catch (const Error& error) {
    return {error.exit_code(), coloured_report(error)};
  } catch (const std::bad_alloc&) {
    return {1, "error: out of memory\n"};
  } catch (const std::exception& error) {
    return {1, std::string("internal error: ") + error.what() +
                   " (this is a fault of supple, not of its input; please report it)\n"};
  }
}

int run_program(int argc, char** argv, const std::vector<Command>& commands) {
  receive_terminations();
  const Ending ending = run_verb({argv + 1, argv + argc}, commands);
  std::fflush(stdout);
  std::fputs(ending.error.c_str(), stderr);
  return ending.code;
}

}  // namespace supple::cli
