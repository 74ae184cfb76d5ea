#pragma once
// Pictures by gnuplot, an optional program: scripts are written in any case.

#include <string>

namespace supple {

/// A script that draws NAME.png from comma-separated files beside it.
std::string gnuplot_script(const std::string& name, const std::string& title, const std::string& body);

/// Runs folder/NAME.gp in its folder. False where gnuplot is not installed or fails.
bool run_gnuplot(const std::string& folder, const std::string& name);

/// The note for users where run_gnuplot() returns false.
inline constexpr const char* no_gnuplot =
    "no pictures: gnuplot is not installed or failed (apt-get install gnuplot-nox, then gnuplot *.gp)";

}  // namespace supple
