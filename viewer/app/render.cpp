#include "viewer/app/render.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>
#include <optional>

#include "engine/cli/reports/json_report.hpp"
#include "engine/cli/shell/interrupt.hpp"
#include "engine/cli/shell/progress_bar.hpp"
#include "engine/run/drive.hpp"
#include "engine/run/goals.hpp"
#include "kernels/array/device.hpp"
#include "kernels/base/error.hpp"
#include "kernels/base/hash.hpp"
#include "viewer/app/gui.hpp"
#include "viewer/app/overlay.hpp"
#include "viewer/app/video.hpp"
#include "viewer/app/view_settings.hpp"
#include "viewer/gl/renderer.hpp"

namespace supple::view {

namespace {

constexpr double default_duration = 2, figure_turn = 5;  // s, as in `supple inverse`
constexpr double default_azimuth = 0.6, default_elevation = 0.35;

struct Size {
  int width = 0, height = 0;
};

Size parse_size(const std::string& text) {
  Size size;
  const char* end = text.data() + text.size();
  const auto first = std::from_chars(text.data(), end, size.width);
  if (first.ec == std::errc() && first.ptr != end && *first.ptr == 'x') {
    const auto second = std::from_chars(first.ptr + 1, end, size.height);
    if (second.ec == std::errc() && second.ptr == end && size.width >= 16 && size.height >= 16 && size.width <= 8192 &&
        size.height <= 8192)
      return size;
  }
  throw InputError(fmt::format("--size {} is not a size in pixels (16 to 8192 each)", text), "--size 1280x800");
}

Colouring colouring_of(const std::string& name) {
  for (int k = 0; k < colouring_count; ++k)
    if (name == name_of(static_cast<Colouring>(k))) return static_cast<Colouring>(k);
  return Colouring::plain;
}

double angle(const std::string& text, double fallback, const char* option) {
  return text.empty() ? fallback : parse_quantity(text, Dimension::angle, {option, 0, 0, ""});
}

// Options that say where the robot is to go.
int leads(const cli::RenderArguments& a) {
  return (a.goal.empty() ? 0 : 1) + (a.circle ? 1 : 0) + (a.lemniscate ? 1 : 0) +
         (a.actuation.empty() && a.assignments.empty() ? 0 : 1);
}

void check(const cli::RenderArguments& a) {
  (void)angle(a.azimuth, default_azimuth, "--azimuth");
  if (std::abs(angle(a.elevation, default_elevation, "--elevation")) > std::numbers::pi / 2)
    throw InputError(
        fmt::format("--elevation {} is beyond the vertical (a number without a unit is in radians)", a.elevation),
        "an angle within 90 deg of the horizontal, \"-15 deg\" from below");
  if (leads(a) > 1)
    throw InputError("several options give goals for the robot",
                     "one of --goal, --circle, --lemniscate, or --set and --actuation");
  if (!a.height.empty() && !a.circle && !a.lemniscate)
    throw InputError("--height goes with --circle or --lemniscate", "leave it out");
  if (a.mode && a.colour != "mode") throw InputError("--mode goes with --colour mode", "add --colour mode");
  if (a.output.empty()) throw InputError("`supple render` needs -o FILE", "-o picture.png");
  if (!a.output.ends_with(".png") && !a.output.ends_with(".mp4") && !a.output.ends_with(".gif"))
    throw InputError(fmt::format("'{}' is neither a picture nor a film", a.output),
                     "a name that ends in .png, .mp4 or .gif");
}

// What leads the robot: goals or commands over time, or nothing.
class Lead {
 public:
  Lead(const cli::RenderArguments& a, Simulation& simulation) : simulation_(simulation) {
    const Robot& robot = simulation.robot();
    if (const auto why = cannot_lead(simulation.opened().robot()); why && (!a.goal.empty() || a.circle || a.lemniscate))
      throw InputError(*why);
    if (!a.goal.empty()) {
      path_.emplace(read_goals(a.goal, robot));
    } else if (a.circle || a.lemniscate) {
      FigureSettings figure;
      figure.figure = a.circle ? Figure::circle : Figure::lemniscate;
      figure.radius = a.circle ? *a.circle : *a.lemniscate;
      if (!a.height.empty()) figure.height = parse_quantity(a.height, Dimension::length, {"--height", 0, 0, ""});
      figure.duration = a.duration.value_or(figure_turn * (figure.turns + 1));
      path_.emplace(figure_goals(robot, simulation.frame().y, figure, simulation.time_step()));
    } else if (!a.actuation.empty() || !a.assignments.empty()) {
      actuation_ = a.actuation.empty() ? Actuation(inputs_of(robot)) : read_actuation(a.actuation, robot);
      for (const std::string& assignment : a.assignments) actuation_->set(assignment);
    }
    intent_ = simulation.rest_intent();
    intent_.mode = Mode::forward;
  }
  // Simulated seconds that it lasts; 0: nothing moves.
  double duration() const {
    if (simulation_.frame().playing) return static_cast<double>(simulation_.frame().newest) * simulation_.time_step();
    if (path_) return path_->end();
    if (!actuation_) return 0;
    return actuation_->end() > 0 ? actuation_->end() : default_duration;
  }
  const Intent& at(double time) {
    if (path_)
      path_->ask(time, intent_);
    else if (actuation_)
      actuation_->sample(time, intent_.commands);
    return intent_;
  }

 private:
  Simulation& simulation_;
  std::optional<GoalPath> path_;
  std::optional<Actuation> actuation_;
  Intent intent_;
};

// Draws frames offscreen.
class Studio {
 public:
  Studio(const Size& size, const OpenedRobot& robot, const OpenedRobot* beside, const ViewSettings& settings)
      : robot_(robot), beside_(beside), settings_(settings), target_(size.width, size.height) {}
  void look_from(const Camera& camera) { settings_.camera = camera; }
  Image shoot(const Frame& frame, double seconds) {
    target_.bind();
    InputFrame input;
    input.width = target_.width();
    input.height = target_.height();
    input.seconds = seconds;
    settings_.phase += seconds;
    gui_.begin(input);
    Picture picture = make_picture(robot_, beside_, frame, settings_);
    const int views = picture.two ? 2 : 1;
    for (int k = 0; k < views; ++k) {
      const DrawList& list = k == 0 ? picture.left : picture.right;
      const int width = target_.width() / views;
      const Pane pane{
          static_cast<double>(k * width), 0, {static_cast<double>(width), static_cast<double>(target_.height())}};
      renderer_.draw(list, settings_.camera, pane.viewport, k * width, 0);
      if (settings_.legend) draw_words(list, settings_.camera, pane);
    }
    gui_.end();
    if (const char* error = gl_error(); *error != '\0')
      throw RunError(fmt::format("OpenGL reports {}", error), "another driver: LIBGL_ALWAYS_SOFTWARE=1");
    return target_.read();
  }

 private:
  OffscreenContext context_;
  const OpenedRobot& robot_;
  const OpenedRobot* beside_;
  ViewSettings settings_;
  OffscreenTarget target_;
  Renderer renderer_;
  Gui gui_;
};

ViewSettings settings_of(const cli::RenderArguments& a, const OpenedRobot& robot, const OpenedRobot* beside) {
  ViewSettings settings;
  DrawingOptions& drawing = settings.drawing;
  drawing.colouring = colouring_of(a.colour);
  drawing.mode = static_cast<int>(a.mode.value_or(1)) - 1;
  drawing.domain = a.domain;
  drawing.edges = a.edges;
  if (a.side_by_side && !beside)
    throw InputError("--side-by-side needs a second robot", "--compare SCENE, or a recording made with it");
  settings.side_by_side = a.side_by_side;
  settings.legend = !a.no_legend;
  const std::string why = lacks(*robot.shape, drawing.colouring, beside ? beside->shape.get() : nullptr);
  if (!why.empty())
    throw InputError(fmt::format("--colour {} is not possible ({})", a.colour, why), "another --colour");
  if (a.domain && robot.shape->cells().empty())
    throw InputError(
        "--domain is not possible (this robot has no reduced integration domain, or its file does not say where)",
        "a model of `supple reduce`");
  if (drawing.colouring == Colouring::mode && drawing.mode >= robot.reduced->modes)
    throw InputError(fmt::format("the model has {} modes", robot.reduced->modes), "a smaller --mode");
  settings.animate_mode = !a.output.ends_with(".png");
  return settings;
}

// From the side that was asked for, all of it in view.
Camera camera_on(const Bounds& bounds, const cli::RenderArguments& a, const Size& size) {
  Camera camera;
  camera.azimuth = angle(a.azimuth, default_azimuth, "--azimuth");
  camera.elevation = angle(a.elevation, default_elevation, "--elevation");
  Viewport viewport{static_cast<double>(size.width), static_cast<double>(size.height)};
  if (a.side_by_side) viewport.width /= 2;
  if (!bounds.empty()) camera.fit(bounds.low, bounds.high, viewport);
  camera.distance /= a.zoom.value_or(1);
  return camera;
}

// What is going to be drawn. The camera stands still and sees all of it, so that it is known before the first picture.
class Reel {
 public:
  Reel(const OpenedRobot& robot, const OpenedRobot* beside, const ViewSettings& settings)
      : robot_(robot), beside_(beside), settings_(settings) {}
  // This frame in so many pictures.
  void add(const Frame& frame, long pictures) {
    if (pictures == 0) return;
    add_shown(robot_, beside_, frame, settings_, bounds_);
    frames_.push_back(frame);
    for (State* state : {&frames_.back().state, &frames_.back().other}) state->v = state->motion_velocities = {};
    shots_.insert(shots_.end(), static_cast<std::size_t>(pictures), frames_.size() - 1);
  }
  long pictures() const { return static_cast<long>(shots_.size()); }
  const Frame& picture(long k) const { return frames_[shots_[static_cast<std::size_t>(k)]]; }
  const Bounds& bounds() const { return bounds_; }

 private:
  const OpenedRobot& robot_;
  const OpenedRobot* beside_;
  const ViewSettings& settings_;
  std::vector<Frame> frames_;       // without velocities
  std::vector<std::size_t> shots_;  // number in frames_ of each picture
  Bounds bounds_;
};

}  // namespace

OpenRequest open_request(const cli::Context& context, const cli::ViewArguments& arguments) {
  const std::string& device = context.common.device;
  if (device != "auto" && parse_device(device).kind == Device::Kind::cuda)
    throw CapabilityError("one robot is simulated on the CPU", "--device cpu");
  OpenRequest request{arguments.file, arguments.compare, {}};
  request.settings.threads = context.common.threads;
  if (!arguments.integrator.empty()) request.settings.integrator = integrator_of(arguments.integrator);
  request.settings.time_step = arguments.time_step;
  request.changes = arguments.changes;
  return request;
}

int render(cli::Context& context, const cli::RenderArguments& a) {
  check(a);
  cli::check_json_target(context);
  cli::refuse_existing(a.output, context.common.force);
  const Size size = parse_size(a.size);
  OpenRequest request = open_request(context, a);
  request.settings.history_bytes = 0;
  const bool film = !a.output.ends_with(".png");
  if (!film) request.check = RecordingReader::Check::as_read;  // one frame of it
  const std::unique_ptr<Simulation> opened = open_simulation(request);
  Simulation& simulation = *opened;
  const OpenedRobot& robot = simulation.opened();
  const OpenedRobot* beside = simulation.beside();
  if (simulation.frame().playing && leads(a) > 0)
    throw InputError("--set, --actuation, --goal, --circle and --lemniscate do not go with a recording",
                     "leave them out", {a.file, 0, 0, ""});
  const ViewSettings settings = settings_of(a, robot, beside);
  (void)camera_on({}, a, size);  // wrong angles are an error before anything is simulated
  if (!simulation.frame().failure.empty())
    throw RunError(simulation.frame().failure,
                   "`supple check` looks for its equilibrium; motion from rest is drawn from a recording: supple "
                   "simulate --record");
  Lead lead(a, simulation);
  const double fps = static_cast<double>(a.frames_per_second.value_or(30));
  const double duration = a.duration.value_or(lead.duration() > 0 || !film ? lead.duration() : default_duration);
  Studio studio(size, robot, beside, settings);
  std::optional<Video> video;
  if (film) video.emplace(a.output, size.width, size.height, a.frames_per_second.value_or(30));
  const cli::InterruptGuard guard;
  cli::ProgressBar bar(context.common.quiet);
  const Progress progress = bar.progress();
  const auto check_stop = [&] {
    if (progress.stopped()) throw Interrupted("interrupted: no film was written", "the same command again");
  };
  const long steps = std::lround(std::min(duration / simulation.time_step(), 1e9));
  Reel reel(robot, beside, settings);
  const auto reach = [&](double time) {
    // Every instant of the film that the simulation has reached.
    if (film) reel.add(simulation.frame(), std::max(0L, static_cast<long>((time + 1e-9) * fps) + 1 - reel.pictures()));
  };
  reach(0);
  const bool jump = simulation.frame().playing && !film;
  if (jump) simulation.seek(steps);
  for (long k = 1; k <= steps && !jump; ++k) {
    check_stop();
    const double time = static_cast<double>(k) * simulation.time_step();
    if (simulation.frame().playing && simulation.frame().position == simulation.frame().newest) break;
    if (lead.duration() > 0 && !simulation.step(lead.at(time)))
      throw RunError(fmt::format("at {}: {}", format_quantity(time, Dimension::time), simulation.frame().failure),
                     "smaller commands, or a shorter --time-step");
    reach(time);
    progress(simulation.frame().playing ? "reading" : "simulating", static_cast<double>(k), static_cast<double>(steps),
             format_quantity(time, Dimension::time));
  }
  if (jump && !simulation.frame().failure.empty()) throw InputError(simulation.frame().failure, "record it again");
  if (!film) reel.add(simulation.frame(), 1);
  studio.look_from(camera_on(reel.bounds(), a, size));
  for (long k = 0; k < reel.pictures(); ++k) {
    const Image image = studio.shoot(reel.picture(k), film ? 1 / fps : 0);
    if (!film) {
      write_png(a.output, image);
      continue;
    }
    check_stop();
    video->add(image);
    progress("drawing", static_cast<double>(k + 1), static_cast<double>(reel.pictures()));
  }
  if (video) video->finish();
  bar.finish();
  nlohmann::ordered_json json = cli::machine_facts(context, "cpu");
  json["file"] = a.output;
  json["width"] = size.width;
  json["height"] = size.height;
  json["pictures"] = reel.pictures();
  json["steps"] = simulation.frame().step;
  json["state_hash"] = hash_hex(hash(simulation.frame().state));
  cli::write_json(context, json);
  if (!context.common.quiet) fmt::print("written to {}\n", a.output);
  return 0;
}

}  // namespace supple::view
