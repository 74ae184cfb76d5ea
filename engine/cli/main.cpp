// The `supple` program: start reading at dispatch.cpp; each verb is a file of its own (command.hpp).

#include <cstdio>
#include <exception>
#include <new>

#include "engine/cli/dispatch.hpp"
#include "engine/cli/terminal.hpp"
#include "kernels/base/error.hpp"

int main(int argc, char** argv) {
  try {
    const int code = supple::cli::dispatch({argv + 1, argv + argc});
    if (std::fflush(stdout) != 0) {
      std::fputs("error: the output could not be written (is the disk full?)\n", stderr);
      return 1;
    }
    return code;
  } catch (const supple::Error& error) {
    std::fflush(stdout);
    std::fputs(supple::cli::coloured_report(error).c_str(), stderr);
    return error.exit_code();
  } catch (const std::bad_alloc&) {
    std::fputs("error: out of memory\n", stderr);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "internal error: %s (this is a fault of supple, not of its input; please report it)\n",
                 error.what());
  }
  return 1;
}
