#pragma once
// Separate programs, optional ones: gnuplot, gmsh.

#include <string>
#include <vector>

namespace supple {

/// Runs a program of the search path with its output in a file ("": thrown away) and waits. The exit code; -1 where it
/// could not be started or was killed.
int run_program(const std::vector<std::string>& words, const std::string& output = {});

}  // namespace supple
