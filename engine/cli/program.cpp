#include "engine/cli/program.hpp"

#include <cstdio>
#include <exception>
#include <new>

#include "engine/cli/dispatch.hpp"
#include "engine/cli/interrupt.hpp"
#include "engine/cli/terminal.hpp"
#include "kernels/base/error.hpp"

namespace supple::cli {

int run_program(int argc, char** argv, const std::vector<Command>& commands) {
  receive_terminations();
  try {
    const int code = dispatch({argv + 1, argv + argc}, commands);
    if (std::fflush(stdout) != 0) {
      std::fputs("error: the output could not be written (is the disk full?)\n", stderr);
      return 1;
    }
    return code;
  } catch (const Error& error) {
    std::fflush(stdout);
    std::fputs(coloured_report(error).c_str(), stderr);
    return error.exit_code();
  } catch (const std::bad_alloc&) {
    std::fputs("error: out of memory\n", stderr);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "internal error: %s (this is a fault of supple, not of its input; please report it)\n",
                 error.what());
  }
  return 1;
}

}  // namespace supple::cli
