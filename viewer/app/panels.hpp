#pragma once
// The panels beside the picture, one function each. They show the document and change what is wanted of it; true: the
// intent has changed.

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "viewer/app/document.hpp"
#include "viewer/app/overlay.hpp"
#include "viewer/app/view_settings.hpp"

namespace supple::view {

// What the panels remember: which effector, how long plots are, names of files.
struct PanelState {
  int effector = 0;               // whose goal is edited
  double plot_seconds = 10;       // of the plots
  std::array<double, 3> typed{};  // what stands in the box that is typed in, in its unit
  bool help = false;
  std::vector<double> parameters;  // where their sliders are
};

// Run, pause, time, speed, mode; record: whether a recording is to begin or to end.
bool control_panel(Document& document, bool& record);
bool goal_panel(Document& document, PanelState& state);  // inverse: goals and errors
bool actuator_panel(Document& document);                 // forward: a slider each
// A slider for each parameter of the robot. Where one has been moved: all values as words "softness=0.8", with which
// the robot is to be opened again.
std::optional<std::vector<std::string>> parameter_panel(const Document& document, PanelState& state);
void look_panel(const Document& document, ViewSettings& settings, double& pull);  // colours, domain, modes
void robot_panel(const Document& document);                                       // what the robot is
void timing_panel(const Document& document);
// Writes NAME-errors.csv and the like on demand; returns what to say about it.
Banner plot_panel(const Document& document, PanelState& state, float height);
void help_window(bool& open, const Pane& pane);

}  // namespace supple::view
