#include "viewer/app/app.hpp"

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numbers>
#include <thread>

#include "kernels/base/error.hpp"
#include "viewer/app/keys.hpp"

namespace supple::view {

namespace {

constexpr double panel_width = 340, plot_height = 230;  // pixels
constexpr double watch_interval = 0.5;                  // s between two looks at the file

ImGuiWindowFlags fixed() {
  return ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoResize | ImGuiWindowFlags_NoCollapse |
         ImGuiWindowFlags_NoTitleBar | ImGuiWindowFlags_NoBackground;  // which Gui::begin has laid
}

bool section(const char* name) {
  return ImGui::CollapsingHeader(name, ImGuiTreeNodeFlags_DefaultOpen);
}

}  // namespace

App::App(double pixel_ratio, const SimulationSettings& dropped) : dropped_(dropped), gui_(pixel_ratio) {}

// The one that is being opened may still wait for the other.
App::~App() {
  pending_.reset();
  document_.reset();
}

void App::open(const OpenRequest& request) {
  if (pending_) {
    banner_ = {"another file is still being opened", true};
    return;
  }
  if (document_ && document_->status() == SimulationThread::Status::open) {
    resume_ = document_->intent().running;
    document_->intent().running = false;
    document_->send();
  }
  pending_ = std::make_unique<Document>(request, document_ ? &document_->thread() : nullptr);
}

// When the file is open it replaces the one before; if it cannot be opened, the one before continues.
void App::take_over() {
  if (!pending_ || pending_->status() == SimulationThread::Status::opening) return;
  if (pending_->status() == SimulationThread::Status::failed) {
    banner_ = {pending_->error(), true};
    panel_.parameters.clear();  // to where the robot is
    if (document_) {
      // Said once: it is read again when it is saved again.
      document_->seen_like(*pending_);
      document_->intent().running = resume_;
      document_->send();
    }
    if (!document_) failed_ = std::move(pending_);  // watched: the file may be corrected
    pending_.reset();
    return;
  }
  // Bringing a recording to disk takes time that pictures should not wait for.
  if (document_ && !document_->end_recording()) return;
  failed_.reset();
  const bool same = document_ && document_->request().file == pending_->request().file;
  if (banner_.wrong) banner_ = {};
  if (document_) tell_of_recording();
  pending_->update();
  if (same) pending_->adopt(*document_);
  document_ = std::move(pending_);
  recordings_told_ = 0;
  panel_.parameters.clear();
  pointer_ = {};
  const RobotShape& shape = *document_->robot().shape;
  // A newton moves a robot of a decimetre by some millimetres: a tenth of its size is pulled by 5 N.
  pointer_.stiffness = 5 / (0.1 * shape.extent());
  if (same) {
    document_->intent().running = resume_;
  } else {
    // A recording waits to be played.
    document_->intent().running = !document_->playing();
    fitted_ = false;
    settings_.drawing = {};
    panel_.effector = 0;
  }
  const RobotShape* other = document_->beside() ? document_->beside()->shape.get() : nullptr;
  if (!lacks(shape, settings_.drawing.colouring, other).empty()) settings_.drawing.colouring = Colouring::plain;
  document_->send();
}

void App::watch(double seconds) {
  unwatched_ += seconds;
  const Document* watched = document_ ? document_.get() : failed_.get();
  if (unwatched_ < watch_interval || !watched || pending_) return;
  unwatched_ = 0;
  if (watched->changed_on_disk()) open(OpenRequest(watched->request()));
}

int App::effector() const {
  if (!document_ || document_->playing() || document_->intent().mode != Mode::inverse ||
      settings_.drawing.colouring == Colouring::mode)
    return -1;
  const auto& effectors = document_->robot().robot().effectors;
  const auto steerable = [&](int e) {
    return e >= 0 && e < static_cast<int>(effectors.size()) &&
           effectors[static_cast<std::size_t>(e)].kind == EffectorKind::position &&
           document_->intent().steered[static_cast<std::size_t>(e)] != 0;
  };
  if (steerable(panel_.effector)) return panel_.effector;
  for (int e = 0; e < static_cast<int>(effectors.size()); ++e)
    if (steerable(e)) return e;
  return -1;
}

Pane App::pane(const InputFrame& input) const {
  return {panel_width, 0, {std::max(input.width - panel_width, 16.0), std::max(input.height - plot_height, 16.0)}};
}

void App::fit(const InputFrame& input) {
  Bounds bounds;
  add_shown(document_->robot(), document_->beside(), document_->frame(), settings_, bounds);
  if (!bounds.empty()) settings_.camera.fit(bounds.low, bounds.high, pane(input).viewport);
}

void App::nudge(const Vec3d& direction, const InputFrame& input) {
  const int e = effector();
  if (e < 0) return;
  const double step = input.shift ? 1e-2 : input.alt ? 1e-4 : 1e-3;
  document_->set_goal(e, document_->goal(e) + step * direction);
  changed_ = true;
}

void App::perform(Action action, const InputFrame& input) {
  Intent& intent = document_->intent();
  DrawingOptions& drawing = settings_.drawing;
  const RobotShape& shape = *document_->robot().shape;
  const RobotShape* other = document_->beside() ? document_->beside()->shape.get() : nullptr;
  const auto look = [&](double azimuth, double elevation) {
    settings_.camera.azimuth = azimuth;
    settings_.camera.elevation = elevation;
  };
  switch (action) {
    case Action::pause:
      document_->run_or_pause();
      changed_ = true;
      break;
    case Action::step_forward:
    case Action::step_back:
      intent.running = false;
      ++(action == Action::step_forward ? intent.step_forward : intent.step_back);
      changed_ = true;
      break;
    case Action::reset:
      document_->reset();
      changed_ = true;
      break;
    case Action::reload:
      open(document_->request());
      break;
    case Action::mode:
      document_->set_mode(intent.mode == Mode::inverse ? Mode::forward : Mode::inverse);
      changed_ = true;
      break;
    case Action::next_colour:
      do {
        drawing.colouring = static_cast<Colouring>((static_cast<int>(drawing.colouring) + 1) % colouring_count);
      } while (!lacks(shape, drawing.colouring, other).empty());
      break;
    case Action::domain:
      drawing.domain = !drawing.domain;
      break;
    case Action::edges:
      drawing.edges = !drawing.edges;
      break;
    case Action::fit:
      fit(input);
      break;
    case Action::front:
      look(0, 0);
      break;
    case Action::right:
      look(std::numbers::pi / 2, 0);
      break;
    case Action::top:
      look(0, std::numbers::pi / 2);
      break;
    case Action::nudge_left:
      return nudge({{-1, 0, 0}}, input);
    case Action::nudge_right:
      return nudge({{1, 0, 0}}, input);
    case Action::nudge_back:
      return nudge({{0, 1, 0}}, input);
    case Action::nudge_forward:
      return nudge({{0, -1, 0}}, input);
    case Action::nudge_up:
      return nudge({{0, 0, 1}}, input);
    case Action::nudge_down:
      return nudge({{0, 0, -1}}, input);
    case Action::full_screen:
      full_screen_ = !full_screen_;
      break;
    case Action::screenshot:
      screenshot_ = true;
      break;
    case Action::record:
      record_or_end();
      break;
    case Action::go_on:
      document_->go_on();
      changed_ = true;
      break;
    case Action::film:
      filming_ = !filming_;
      break;
    default:
      break;
  }
}

void App::record_or_end() {
  Intent& intent = document_->intent();
  if (document_->playing()) return say({"this is a recording already (G simulates on from the frame shown)", true});
  intent.record = intent.record.empty() ? free_name(document_->robot().robot().name, ".rec.h5") : "";
  ++intent.recording;
  changed_ = true;
}

// Said once of each recording.
void App::tell_of_recording() {
  const RecordingStatus& recording = document_->frame().recording;
  if (recording.ended == recordings_told_) return;
  recordings_told_ = recording.ended;
  if (recording.written.empty()) {
    document_->intent().record.clear();
    changed_ = true;
    say({recording.failure, true});
  } else {
    say({fmt::format("written to {}", recording.written), false});
  }
}

void App::finish() {
  if (!document_ || document_->status() != SimulationThread::Status::open) return;
  while (!document_->end_recording()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  const RecordingStatus& recording = document_->frame().recording;
  if (recording.ended > recordings_told_ && recording.written.empty())
    throw RunError(recording.failure, "is there room on the disk?");
}

void App::act(const InputFrame& input) {
  if (!input.dropped.empty()) {
    // A second file dropped with the first goes beside it.
    open({input.dropped[0], input.dropped.size() > 1 ? input.dropped[1] : "", dropped_});
  }
  if (gui_.has_keyboard()) return;
  for (int key : input.pressed) {
    const Action action = action_of(key, input.ctrl);
    if (action == Action::help) panel_.help = !panel_.help;
    if (action == Action::quit) closing_ = true;
    if (action == Action::reload && !document_ && failed_ && !pending_) open(OpenRequest(failed_->request()));
    if (document_ && !pending_) perform(action, input);
  }
}

void App::panels(const InputFrame& input) {
  ImGui::SetNextWindowPos({0, 0});
  ImGui::SetNextWindowSize({static_cast<float>(panel_width), static_cast<float>(input.height)});
  ImGui::Begin("panel", nullptr, fixed());
  if (!document_) {
    ImGui::TextUnformatted(pending_ ? "opening ..." : "no robot is open: drop a file here");
  } else {
    bool record = false;
    changed_ = control_panel(*document_, record) || changed_;
    if (record) record_or_end();
    ImGui::BeginDisabled(document_->playing());
    if (document_->intent().mode == Mode::inverse && section("Goal"))
      changed_ = goal_panel(*document_, panel_) || changed_;
    if (section("Actuators")) changed_ = actuator_panel(*document_) || changed_;
    if (!document_->robot().robot().parameters.empty() && section("Parameters"))
      if (const auto words = parameter_panel(*document_, panel_); words && !pending_) {
        OpenRequest other = document_->request();
        other.changes.parameters = *words;
        open(other);
      }
    ImGui::EndDisabled();
    if (section("Look")) look_panel(*document_, settings_, pointer_.stiffness);
    if (section("Robot")) robot_panel(*document_);
    if (!document_->playing() && section("Time of a step")) timing_panel(*document_);
  }
  ImGui::Separator();
  if (ImGui::Button("Keys (F1)")) panel_.help = !panel_.help;
  ImGui::End();
  ImGui::SetNextWindowPos({static_cast<float>(panel_width), static_cast<float>(input.height - plot_height)});
  ImGui::SetNextWindowSize({static_cast<float>(input.width - panel_width), static_cast<float>(plot_height)});
  ImGui::Begin("plots", nullptr, fixed() | ImGuiWindowFlags_NoScrollbar);
  if (document_) {
    const Banner said = plot_panel(*document_, panel_, static_cast<float>(plot_height));
    if (!said.text.empty()) banner_ = said;
  }
  ImGui::End();
  help_window(panel_.help, pane(input));
  if (!banner_.text.empty() && !show_banner(banner_, pane(input))) banner_ = {};
}

std::string App::caption() const {
  const Frame& now = document_->frame();
  const Intent& intent = document_->intent();
  const std::string pace = !intent.running ? "paused"
                           : now.playing   ? "played"
                                           : fmt::format("{:.2f} x real time", now.speed);
  std::string text =
      fmt::format("{}   {}{}   {:.2f} s   {}", document_->robot().robot().name, now.playing ? "recorded " : "",
                  intent.mode == Mode::inverse ? "inverse" : "forward", now.state.time, pace);
  if (now.mode == Mode::inverse)
    for (std::size_t e = 0; e < now.errors.size(); ++e)
      if (intent.steered[e] != 0)
        text += fmt::format("\n{}: {:.3f} mm from its goal", document_->robot().robot().effectors[e].name,
                            1e3 * now.errors[e]);
  std::string limits;
  for (std::size_t j = 0; j < document_->inputs().size(); ++j)
    if (now.mode == Mode::inverse && document_->at_limit(j))
      limits += (limits.empty() ? "" : ", ") + document_->inputs()[j].name;
  if (!limits.empty()) text += "\nat a limit: " + limits;
  if (document_->robot().robot().touches()) {
    text += '\n';
    text += contact_text(document_->robot().robot(), now);
  }
  if (!now.held.empty()) text += "\ncommands held: " + now.held;
  if (now.held_steps > 0)
    text += fmt::format("\ncommands were held in {} step{} so far", now.held_steps, now.held_steps == 1 ? "" : "s");
  if (!now.failure.empty()) text += "\n" + now.failure;
  if (!now.note.empty()) text += "\n" + now.note;
  if (!now.recording.file.empty()) text += fmt::format("\nrecording, {} frames (F8 ends it)", now.recording.frames);
  if (filming_) text += "\nfilming (F9 ends it)";
  if (!pointer_.picked().empty()) text += "\n" + pointer_.picked();
  return text;
}

void App::draw(const InputFrame& input) {
  const double ratio = input.pixel_ratio;
  const Pane whole = pane(input);
  Picture picture = make_picture(document_->robot(), document_->beside(), document_->frame(), settings_);
  const int e = effector();
  const int views = picture.two ? 2 : 1;
  for (int k = 0; k < views; ++k) {
    DrawList& list = k == 0 ? picture.left : picture.right;
    Pane part = whole;
    part.viewport.width /= views;
    part.x += k * part.viewport.width;
    if (k == 0 && e >= 0) draw_gizmo(settings_.camera, part.viewport, document_->goal(e), pointer_.hot(), list);
    if (k == 0 && pointer_.pull())
      draw_pull(*document_->robot().shape, pointer_.pull()->from, pointer_.pull()->to, list);
    const Viewport pixels{std::round(part.viewport.width * ratio), std::round(part.viewport.height * ratio)};
    renderer_.draw(list, settings_.camera, pixels, static_cast<int>(std::lround(part.x * ratio)),
                   static_cast<int>(std::lround((input.height - part.y - part.viewport.height) * ratio)), ratio);
    draw_words(list, settings_.camera, part);
  }
  draw_caption(caption(), whole);
}

void App::frame(const InputFrame& input) {
  take_over();
  watch(input.seconds);
  gui_.begin(input);
  changed_ = false;
  act(input);
  if (document_) {
    const bool fresh = document_->update();
    tell_of_recording();
    if (fresh && document_->playing() && document_->frame().position == document_->frame().newest) {
      changed_ = changed_ || document_->intent().running;
      document_->intent().running = false;  // at its end
    }
    settings_.phase += input.seconds;
    if (!fitted_) {
      fit(input);
      fitted_ = true;
    }
  }
  panels(input);
  if (document_) {
    const Pane whole = pane(input);
    InputFrame local = input;
    local.x -= whole.x;
    local.y -= whole.y;
    Viewport viewport = whole.viewport;
    if (shows_two(document_->beside(), document_->frame(), settings_)) viewport.width /= 2;
    if (!pending_)
      changed_ = pointer_.update(local, gui_.has_pointer(), viewport, effector(), *document_, settings_) || changed_;
    draw(input);
    if (changed_ && !pending_) document_->send();
  } else {
    renderer_.draw({}, settings_.camera, {input.width * input.pixel_ratio, input.height * input.pixel_ratio});
  }
  if (pending_) draw_caption(fmt::format("\n\n\nopening {} ...", pending_->request().file), pane(input));
  gui_.end();
}

}  // namespace supple::view
