#include "viewer/app/panels.hpp"

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>

#include "engine/commands/actuation.hpp"
#include "engine/model/reduced_shape.hpp"
#include "viewer/app/keys.hpp"
#include "viewer/app/plot_widget.hpp"

namespace supple::view {

namespace {

const ImVec4 at_limit_colour{0.85f, 0.2f, 0.1f, 1}, quiet{0.4f, 0.42f, 0.46f, 1};

void line(const char* name, const std::string& value) {
  ImGui::TextColored(quiet, "%s", name);
  ImGui::SameLine(120);
  ImGui::TextWrapped("%s", value.c_str());
}

// A file by its folder and name; all of its path when the pointer is on it.
void file_line(const char* name, const std::string& file) {
  const std::filesystem::path path = file;
  line(name, (path.parent_path().filename() / path.filename()).string());
  if (ImGui::IsItemHovered()) ImGui::SetTooltip("%s", file.c_str());
}

std::string duration(double seconds) {
  return format_quantity(seconds, Dimension::time);
}

}  // namespace

bool control_panel(Document& document, bool& record) {
  Intent& intent = document.intent();
  bool changed = false;
  if (ImGui::Button(intent.running ? "Pause" : "Run", {70, 0})) {
    document.run_or_pause();
    changed = true;
  }
  ImGui::SameLine();
  if (ImGui::Button("Back")) {
    intent.running = false;
    ++intent.step_back;
    changed = true;
  }
  ImGui::SameLine();
  if (ImGui::Button("Step")) {
    intent.running = false;
    ++intent.step_forward;
    changed = true;
  }
  ImGui::SameLine();
  if (ImGui::Button("Reset")) {
    document.reset();
    changed = true;
  }
  const Frame& frame = document.frame();
  if (frame.newest > frame.oldest) {
    long position = frame.position;
    const std::string format = fmt::format("%d of {} {}", frame.newest, frame.playing ? "frames" : "steps");
    ImGui::SetNextItemWidth(-8);
    if (ImGui::SliderScalar("##timeline", ImGuiDataType_S64, &position, &frame.oldest, &frame.newest, format.c_str())) {
      intent.running = false;
      ++intent.seek;
      intent.seek_to = position;
      changed = true;
    }
  }
  if (frame.playing) {
    if (ImGui::Button("Simulate on from here")) {
      document.go_on();
      changed = true;
    }
  } else if (ImGui::Button(intent.record.empty() ? "Record" : "End the recording")) {
    record = true;
  }
  if (document.simulation().can_lead() && !frame.playing) {
    int mode = intent.mode == Mode::inverse ? 0 : 1;
    bool chosen = ImGui::RadioButton("lead the goal", &mode, 0);
    ImGui::SameLine();
    chosen = ImGui::RadioButton("lead the actuators", &mode, 1) || chosen;
    if (chosen) {
      document.set_mode(mode == 0 ? Mode::inverse : Mode::forward);
      changed = true;
    }
  }
  static constexpr double speeds[] = {0.1, 0.25, 0.5, 1, 2, 5, unlimited};
  static constexpr const char* names[] = {"0.1 x", "0.25 x", "0.5 x", "real time", "2 x", "5 x", "as fast as it goes"};
  int speed = 3;
  for (int k = 0; k < 7; ++k)
    if (speeds[k] == intent.speed) speed = k;
  ImGui::SetNextItemWidth(150);
  if (ImGui::Combo("speed", &speed, names, 7)) {
    intent.speed = speeds[speed];
    changed = true;
  }
  return changed;
}

bool goal_panel(Document& document, PanelState& state) {
  const Robot& robot = document.robot().robot();
  Intent& intent = document.intent();
  bool changed = false;
  for (int e = 0; e < static_cast<int>(robot.effectors.size()); ++e) {
    const Effector& effector = robot.effectors[static_cast<std::size_t>(e)];
    ImGui::PushID(e);
    bool steered = intent.steered[static_cast<std::size_t>(e)] != 0;
    if (ImGui::Checkbox(effector.name.c_str(), &steered)) {
      intent.steered[static_cast<std::size_t>(e)] = steered;
      changed = true;
    }
    if (steered) {
      ImGui::SameLine(120);
      ImGui::Text("error %.3f mm", 1e3 * document.frame().errors[static_cast<std::size_t>(e)]);
      const bool angle = effector.kind == EffectorKind::orientation;
      const Dimension dimension = goal_dimension(effector.kind);
      const double size = angle ? 3.14159265358979323846 / 180 : display_scale(dimension);
      const std::string unit = angle ? "deg" : display_unit(dimension);
      const Vec3d goal = document.goal(e);
      double shown[3] = {goal[0] / size, goal[1] / size, goal[2] / size};
      const int count = effector.goal_numbers();
      ImGui::SetNextItemWidth(-60);
      // What is typed counts when the box is left: by Enter, Tab or the pointer.
      if (ImGui::InputScalarN(unit.c_str(), ImGuiDataType_Double, shown, count, nullptr, nullptr, "%.2f"))
        state.typed = {shown[0], shown[1], shown[2]};
      if (ImGui::IsItemDeactivatedAfterEdit()) {
        document.set_goal(e, {{state.typed[0] * size, state.typed[1] * size, state.typed[2] * size}});
        changed = true;
      }
      if (effector.kind == EffectorKind::position && robot.effectors.size() > 1) {
        ImGui::SameLine();
        if (ImGui::RadioButton("##gizmo", state.effector == e)) state.effector = e;
      }
    }
    ImGui::PopID();
  }
  if (ImGui::Button("Goals to where it is")) {
    intent.goals = document.frame().reached;
    changed = true;
  }
  if (document.frame().saturated > 0)
    ImGui::TextColored(at_limit_colour,
                       document.frame().saturated == 1 ? "%d limit holds it back" : "%d limits hold it back",
                       document.frame().saturated);
  if (!document.frame().held.empty()) {
    ImGui::PushStyleColor(ImGuiCol_Text, at_limit_colour);
    ImGui::TextWrapped("commands held: %s", document.frame().held.c_str());
    ImGui::PopStyleColor();
  }
  return changed;
}

bool actuator_panel(Document& document) {
  const Robot& robot = document.robot().robot();
  Intent& intent = document.intent();
  const Frame& frame = document.frame();
  const bool forward = intent.mode == Mode::forward;
  bool changed = false;
  for (std::size_t j = 0; j < document.inputs().size(); ++j) {
    const Input& input = document.inputs()[j];
    const double size = display_scale(input.dimension);
    const std::string unit = display_unit(input.dimension);
    const bool motion = j >= robot.actuators.size();
    const double now = motion ? frame.state.motions[j - robot.actuators.size()] : frame.state.commands[j];
    double shown = (forward ? intent.commands[j] : now) / size;
    // A slider has ends; where the range has none the number is dragged.
    constexpr double far_away = 1e6;
    const bool open = !std::isfinite(input.range.lower) || !std::isfinite(input.range.upper);
    const double low = std::max(input.range.lower / size, -far_away),
                 high = std::min(input.range.upper / size, far_away);
    ImGui::PushID(static_cast<int>(j));
    const bool limit = document.at_limit(j);
    if (limit) ImGui::PushStyleColor(ImGuiCol_SliderGrab, at_limit_colour);
    ImGui::SetNextItemWidth(-110);
    const std::string format = fmt::format("%.2f {}", unit);
    const bool moved = open ? ImGui::DragScalar("##value", ImGuiDataType_Double, &shown, 0.1f, &low, &high,
                                                format.c_str(), ImGuiSliderFlags_AlwaysClamp)
                            : ImGui::SliderScalar("##value", ImGuiDataType_Double, &shown, &low, &high, format.c_str(),
                                                  ImGuiSliderFlags_AlwaysClamp);
    if (moved && forward) {
      intent.commands[j] = shown * size;
      changed = true;
    }
    if (limit) ImGui::PopStyleColor();
    ImGui::SameLine();
    ImGui::TextUnformatted(input.name.c_str());
    const std::string force =
        motion ? "" : format_quantity(frame.state.multipliers[j], multiplier_dimension(robot.actuators[j].kind));
    if (ImGui::IsItemHovered() && !motion) ImGui::SetTooltip("%s%s", force.c_str(), limit ? ", at a limit" : "");
    if (!motion && robot.actuators[j].kind == ActuatorKind::cavity) ImGui::TextColored(quiet, "  at %s", force.c_str());
    ImGui::PopID();
  }
  if (forward && ImGui::Button("All to zero")) {
    std::fill(intent.commands.begin(), intent.commands.end(), 0.0);
    changed = true;
  }
  return changed;
}

std::optional<std::vector<std::string>> parameter_panel(const Document& document, PanelState& state) {
  const std::vector<Parameter>& parameters = document.robot().robot().parameters;
  std::vector<double>& values = state.parameters;
  bool moved = false;
  if (values.size() != parameters.size()) {
    values.clear();
    for (const Parameter& parameter : parameters) values.push_back(parameter.value);
  }
  for (std::size_t k = 0; k < parameters.size(); ++k) {
    const Parameter& parameter = parameters[k];
    ImGui::PushID(parameter.name.c_str());
    ImGui::SetNextItemWidth(-110);
    ImGui::SliderScalar("##parameter", ImGuiDataType_Double, &values[k], &parameter.range.lower, &parameter.range.upper,
                        "%.3f", ImGuiSliderFlags_AlwaysClamp);
    moved = moved || ImGui::IsItemDeactivatedAfterEdit();
    ImGui::SameLine();
    ImGui::TextUnformatted(parameter.name.c_str());
    ImGui::PopID();
  }
  if (!moved) return std::nullopt;
  std::vector<std::string> words;
  for (std::size_t k = 0; k < parameters.size(); ++k)
    words.push_back(fmt::format("{}={}", parameters[k].name, values[k]));
  return words;
}

void look_panel(const Document& document, ViewSettings& settings, double& pull) {
  DrawingOptions& drawing = settings.drawing;
  const RobotShape& shape = *document.robot().shape;
  const RobotShape* other = document.beside() ? document.beside()->shape.get() : nullptr;
  if (ImGui::BeginCombo("colour", name_of(drawing.colouring))) {
    for (int k = 0; k < colouring_count; ++k) {
      const auto colouring = static_cast<Colouring>(k);
      const std::string why = lacks(shape, colouring, other);
      if (ImGui::Selectable(name_of(colouring), drawing.colouring == colouring,
                            why.empty() ? 0 : ImGuiSelectableFlags_Disabled))
        drawing.colouring = colouring;
      if (!why.empty() && ImGui::IsItemHovered(ImGuiHoveredFlags_AllowWhenDisabled))
        ImGui::SetTooltip("%s", why.c_str());
    }
    ImGui::EndCombo();
  }
  if (drawing.colouring == Colouring::mode && shape.reduced()) {
    int mode = drawing.mode + 1;
    if (ImGui::SliderInt("mode", &mode, 1, shape.reduced()->modes)) drawing.mode = mode - 1;
    ImGui::Checkbox("swinging", &settings.animate_mode);
  }
  if (shape.reduced() || !shape.cells().empty()) {
    ImGui::Checkbox("integration domain, body a ghost", &drawing.domain);
    if (drawing.domain && shape.cells().empty()) ImGui::TextWrapped("this file does not say where its elements are");
  }
  if (const std::string why = lacks(shape, Colouring::pressure, nullptr); why.starts_with("this file"))
    ImGui::TextWrapped("%s", why.c_str());
  ImGui::Checkbox("edges", &drawing.edges);
  ImGui::SameLine();
  ImGui::Checkbox("cables", &drawing.cables);
  ImGui::SameLine();
  ImGui::Checkbox("floor", &settings.floor);
  if (shape.robot().touches()) {
    ImGui::SameLine();
    ImGui::Checkbox(shape.robot().obstacles.empty() ? "contact forces" : "obstacles", &drawing.obstacles);
  }
  if (!shape.robot().constraints.empty() || !shape.robot().springs.empty())
    ImGui::Checkbox("constraints", &drawing.constraints);
  if (other) ImGui::Checkbox("side by side", &settings.side_by_side);
  double newton_per_mm = pull * 1e-3;
  const double least = 0.001, most = 10;
  if (ImGui::SliderScalar("pull", ImGuiDataType_Double, &newton_per_mm, &least, &most, "%.3f N/mm",
                          ImGuiSliderFlags_Logarithmic))
    pull = newton_per_mm * 1e3;
}

void robot_panel(const Document& document) {
  const OpenedRobot& robot = document.robot();
  file_line("file", robot.file);
  if (robot.full)
    line("full model",
         fmt::format("{} nodes, {} elements", robot.full->mesh.nodes.size(), robot.full->mesh.element_count()));
  if (robot.reduced) {
    int elements = 0, of = 0, points = 0, strains = 0;
    bool by_points = false;
    for (const ReducedField& field : robot.reduced->fields) {
      elements += kept_elements(field).count();
      of += field.total_elements;
      points += field.points();
      strains += field.strains.count;
      by_points = by_points || field.unit == DomainUnit::point;
    }
    line("reduced", fmt::format("{} modes, {}{}{} of {} elements", robot.reduced->modes,
                                strains > 0 ? fmt::format("{} strain modes and ", strains) : "",
                                by_points ? fmt::format("{} points in ", points) : "", elements, of));
    const ErrorSummary& errors = robot.reduced->errors;
    if (errors.states > 0)
      line("error", fmt::format("{:.2g} % at the effectors, {:.2g} % in shape on {} unseen states",
                                100 * errors.goal_mean, 100 * errors.shape_mean, errors.states));
  }
  if (robot.assembly) {
    const std::vector<std::string> texts = robot.assembly->part_texts();
    for (std::size_t k = 0; k < texts.size(); ++k) line(robot.assembly->scene().parts[k].name.c_str(), texts[k]);
    for (const RigidScene& rigid : robot.assembly->scene().rigids)
      line(rigid.name.c_str(), std::string("rigid, ") + rigid.hold());
  }
  const Robot& r = robot.robot();
  const auto plural = [](std::size_t count) { return count == 1 ? "" : "s"; };
  if (ImGui::TreeNode("actuators", "%zu actuator%s", r.actuators.size(), plural(r.actuators.size()))) {
    for (const ActuatorRow& actuator : r.actuators) ImGui::BulletText("%s", actuator.name.c_str());
    ImGui::TreePop();
  }
  if (ImGui::TreeNode("effectors", "%zu effector%s", r.effectors.size(), plural(r.effectors.size()))) {
    for (const Effector& effector : r.effectors) ImGui::BulletText("%s", effector.name.c_str());
    ImGui::TreePop();
  }
  line("time step", duration(document.simulation().time_step()));
  if (document.beside()) file_line("beside", document.beside()->file);
}

void timing_panel(const Document& document) {
  const Frame& frame = document.frame();
  line("step", fmt::format("median {}, 99 % below {}", duration(frame.median_seconds), duration(frame.p99_seconds)));
  const StageTimes& t = frame.report.times;
  const std::pair<const char*, double> stages[] = {
      {"outputs", t.outputs}, {"forces", t.forces}, {"factor", t.factor}, {"solve", t.solve}, {"rows", t.rows}};
  for (const auto& [name, seconds] : stages) {
    ImGui::TextColored(quiet, "  %s", name);
    ImGui::SameLine(120);
    ImGui::ProgressBar(t.total() > 0 ? static_cast<float>(seconds / t.total()) : 0, {110, 14}, "");
    ImGui::SameLine();
    ImGui::TextUnformatted(duration(seconds).c_str());
  }
  if (frame.mode == Mode::inverse) line("of which QP", duration(frame.qp_seconds));
  line("iterations", std::to_string(frame.report.iterations));
  if (document.beside()) line("beside", duration(frame.other_seconds));
}

Banner plot_panel(const Document& document, PanelState& state, float height) {
  Banner said{"", false};
  if (!ImGui::BeginTabBar("plots")) return said;
  const auto seconds = static_cast<float>(state.plot_seconds);
  const auto tab = [&](const char* name, const Series& series) {
    if (series.channels().empty() || !ImGui::BeginTabItem(name)) return;
    plots_by_unit(name, series, seconds, height - 62);
    float wide = seconds;
    ImGui::SetNextItemWidth(120);
    if (ImGui::SliderFloat("##seconds", &wide, 1, 60, "last %.0f s")) state.plot_seconds = static_cast<double>(wide);
    ImGui::SameLine();
    if (ImGui::Button("CSV")) {
      const std::string file = free_name(fmt::format("{}-{}", document.robot().robot().name, name), ".csv");
      std::ofstream out(file);
      out << series.csv();
      out.flush();
      said =
          out ? Banner{fmt::format("written to {}", file), false} : Banner{fmt::format("'{}' cannot be written", file)};
    }
    ImGui::EndTabItem();
  };
  tab("error", document.errors());
  tab("commands", document.commands());
  tab("forces", document.forces());
  tab("step-time", document.times());
  ImGui::EndTabBar();
  return said;
}

void help_window(bool& open, const Pane& pane) {
  if (!open) return;
  const auto width = static_cast<float>(std::min(pane.viewport.width - 20, 680.0));
  const auto height = static_cast<float>(std::min(pane.y + pane.viewport.height + 210, 720.0));
  ImGui::SetNextWindowPos({static_cast<float>(pane.x) + 10, static_cast<float>(pane.y) + 10}, ImGuiCond_Appearing);
  ImGui::SetNextWindowSize({width, height}, ImGuiCond_Appearing);
  ImGui::Begin("Keys and pointer", &open, ImGuiWindowFlags_NoCollapse);
  const auto row = [](const char* left, const char* right) {
    ImGui::TableNextColumn();
    ImGui::PushStyleColor(ImGuiCol_Text, {0.15f, 0.3f, 0.6f, 1});
    ImGui::TextWrapped("%s", left);
    ImGui::PopStyleColor();
    ImGui::TableNextColumn();
    ImGui::TextWrapped("%s", right);
  };
  const auto table = [](const char* name, float left, float right) {
    if (!ImGui::BeginTable(name, 2)) return false;
    ImGui::TableSetupColumn("", ImGuiTableColumnFlags_WidthStretch, left);
    ImGui::TableSetupColumn("", ImGuiTableColumnFlags_WidthStretch, right);
    return true;
  };
  if (table("keys", 1, 5)) {
    for (const Shortcut& shortcut : shortcuts()) row(shortcut.name, shortcut.words);
    ImGui::EndTable();
  }
  ImGui::Separator();
  if (table("gestures", 1, 1)) {
    for (const Gesture& gesture : gestures()) row(gesture.gesture, gesture.words);
    ImGui::EndTable();
  }
  ImGui::End();
}

}  // namespace supple::view
