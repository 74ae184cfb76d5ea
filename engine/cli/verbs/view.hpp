#pragma once
// The verbs `view` and `render`: what they take is declared here, so that help and completion need no OpenGL; what they
// do is in another program, supple-view, which this one starts with the same words.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "engine/cli/shell/command.hpp"
#include "engine/model/changes.hpp"

namespace supple::cli {

struct ViewArguments {
  std::string file, compare, integrator;
  ModelChanges changes;
  std::optional<double> time_step;  // s
};

struct RenderArguments : ViewArguments {
  std::string output, size = "1280x800", colour = "plain", actuation, goal;
  std::vector<std::string> assignments;
  std::optional<double> duration, circle, lemniscate;  // s, m, m
  std::string height, azimuth, elevation;              // as typed
  std::optional<double> zoom;
  std::optional<long> mode, frames_per_second;
  bool domain = false, edges = false, side_by_side = false, no_legend = false;
};

// With what runs them; nothing: start supple-view, which stands beside this program.
Command view_command(std::function<int(Context&, const ViewArguments&)> run = {});
Command render_command(std::function<int(Context&, const RenderArguments&)> run = {});

}  // namespace supple::cli
