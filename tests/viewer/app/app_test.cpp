// Keys and pointer on open robots, as a user's hand would give them.

#include <imgui.h>

#include <cmath>
#include <filesystem>

#include "engine/io/model_file.hpp"
#include "engine/reduction/basis/project.hpp"
#include "tests/viewer/app/scripted.hpp"

namespace supple::view {
namespace {

using Apps = Scripted;

double millimetres(double metres) {
  return 1e3 * metres;
}

class OpenedAssets : public Scripted, public testing::WithParamInterface<const char*> {};

TEST_P(OpenedAssets, AreDrawnWithoutAnError) {
  open(asset(GetParam()));
  ASSERT_TRUE(app().document()) << app().banner().text;
  EXPECT_EQ(app().banner().text, "");
  EXPECT_EQ(document().robot().robot().name, GetParam());
  for (int k = 0; k < 6; ++k) {  // every colouring that it has
    press(Key::c);
    frames(2);
  }
  for (const Key key : {Key::d, Key::e, Key::d1, Key::d3, Key::d7, Key::f, Key::f1}) press(key);
  EXPECT_TRUE(until([&] { return now().step >= 3; })) << now().failure;
}

INSTANTIATE_TEST_SUITE_P(All, OpenedAssets,
                         testing::Values("cantilever", "diamond", "emio", "finger", "gripper", "tentacle"),
                         [](const auto& info) { return std::string(info.param); });

// The window of a program on a HiDPI display has more pixels than units.
TEST_F(Apps, DrawTwoPixelsAUnit) {
  input_.width = width / 2;
  input_.height = height / 2;
  input_.pixel_ratio = 2;
  open(asset("finger"));
  ASSERT_TRUE(app().document());
  frames(3);
  const Image image = stage_->target.read();
  // The background of the picture reaches the upper right corner.
  const auto corner = 3 * static_cast<std::size_t>(width - 1);
  EXPECT_GT(image.rgb[corner + 2], 150);
}

TEST_F(Apps, AnArrowDraggedMovesTheGoalByItsPixelsAndTheTipFollows) {
  open_paused(asset("diamond"));
  press(Key::d1);  // along +y: x lies to the right, z up, and both arrows at the goal's depth
  ASSERT_EQ(document().intent().mode, Mode::inverse);
  const Vec3d before = document().goal(0);
  const auto drag_arrow = [&](Handle handle, int axis, double pixels_right, double pixels_down) {
    Vec3d unit{{0, 0, 0}};
    unit[axis] = 1;
    const Vec3d from = document().goal(0);
    const double pixel = camera().pixel_size(from, viewport());
    const auto grip = camera().project(from + 50 * pixel * unit, viewport());
    ASSERT_TRUE(grip);
    ASSERT_EQ(handle_at(camera(), viewport(), from, (*grip)[0], (*grip)[1]), handle);
    drag((*grip)[0], (*grip)[1], (*grip)[0] + pixels_right, (*grip)[1] + pixels_down);
    const Vec3d moved = document().goal(0) - from;
    const double way = (pixels_right - pixels_down) * pixel;
    // The arrow is at right angles to the line of sight in the middle of the picture. Away from it the line of sight
    // is askew by up to 0.25 rad, and the point of the arrow nearest to it is off by the square of that, 6 %, at most.
    EXPECT_NEAR(millimetres(moved[axis]), millimetres(way), 0.06 * millimetres(std::abs(way)));
    EXPECT_EQ(moved[(axis + 1) % 3], 0);
    EXPECT_EQ(moved[(axis + 2) % 3], 0);
  };
  // Up, then a little to the side: cables pull the elbows in, and the top goes up.
  const double pixel = camera().pixel_size(before, viewport());
  drag_arrow(Handle::z, 2, 0, -std::round(10e-3 / pixel));
  drag_arrow(Handle::x, 0, std::round(3e-3 / pixel), 0);
  const Vec3d after = document().goal(0);
  const double way = norm(after - before);
  EXPECT_GT(way, 8e-3);

  hurry();
  press(Key::space);
  // A robot of four cables reaches this goal; a twentieth of the way is left while it still swings.
  ASSERT_TRUE(until([&] { return now().goals == document().intent().goals && now().errors[0] < 0.05 * way; }))
      << now().errors[0] << " m from the goal after " << now().step << " steps; " << now().failure << now().held;
  const Vec3d tip{{now().reached[0], now().reached[1], now().reached[2]}};
  EXPECT_NEAR(norm(tip - after), now().errors[0], 1e-9);
  EXPECT_GT(norm(tip - before), 0.9 * way);
}

// Led against a ball: the frame says what presses, and the dots of its contacts are in the picture.
TEST_F(Apps, ARobotLedAgainstAnObstacleShowsItsContacts) {
  open_paused(asset("tentacle/ball.toml"));
  press(Key::d1);
  hurry();
  // Led to and fro over the ball until a pause finds it sliding: steps are taken meanwhile, and it may come to rest.
  const auto slides = [&] { return now().touches.size() > 0 && now().touches[0].sliding; };
  int frame = 0;
  const auto led = [&] {
    if (frame++ % 100 == 0) {
      document().set_goal(0, {{0.03, frame % 200 == 1 ? 0.0 : 0.01, -0.185}});
      document().send();
    }
    return slides();
  };
  for (int attempt = 0; attempt < 20 && !slides(); ++attempt) {
    frame = 100 * attempt;
    press(Key::space);
    ASSERT_TRUE(until(led)) << now().failure;
    press(Key::space);
    frames(3);
  }
  ASSERT_TRUE(slides());
  EXPECT_EQ(now().failure, "");
  EXPECT_NE(contact_text(document().robot().robot(), now()).find("N on ball"), std::string::npos);
  const auto orange = [&] {
    int count = 0;
    const Image image = stage_->target.read();
    for (std::size_t i = 0; i < image.rgb.size(); i += 3)  // the colour of what slides, in any light
      count += image.rgb[i] > 120 && image.rgb[i + 1] < 0.65 * image.rgb[i] && image.rgb[i + 2] < 0.25 * image.rgb[i];
    return count;
  };
  const int with = orange();
  app().settings().drawing.obstacles = false;
  frames(2);
  EXPECT_GT(with, orange() + 10);
}

TEST_F(Apps, ADragOutsideTheHandlesTurnsTheView) {
  open_paused(asset("finger"));
  const Vec3d goal = document().goal(0);
  const double azimuth = camera().azimuth, elevation = camera().elevation;
  drag(30, viewport().height - 30, 130, viewport().height - 80);
  EXPECT_NE(camera().azimuth, azimuth);
  EXPECT_NE(camera().elevation, elevation);
  const Vec3d target = camera().target;
  input_.shift = true;
  drag(30, viewport().height - 30, 130, viewport().height - 80);
  input_.shift = false;
  EXPECT_NE(camera().target[0], target[0]);
  const double distance = camera().distance;
  input_.wheel = 2;
  frame();
  EXPECT_NEAR(camera().distance, 0.81 * distance, 1e-9 * distance);
  EXPECT_EQ(document().goal(0), goal);
}

TEST_F(Apps, ArrowKeysNudgeTheGoal) {
  open_paused(asset("finger"));
  const struct {
    Key key;
    Vec3d direction;
  } nudges[] = {{Key::left, {{-1, 0, 0}}}, {Key::right, {{1, 0, 0}}},   {Key::up, {{0, 1, 0}}},
                {Key::down, {{0, -1, 0}}}, {Key::page_up, {{0, 0, 1}}}, {Key::page_down, {{0, 0, -1}}}};
  for (const auto& nudge : nudges)
    for (const double size : {1.0, 10.0, 0.1}) {  // mm
      const Vec3d before = document().goal(0);
      input_.shift = size == 10;
      input_.alt = size == 0.1;
      press(nudge.key);
      input_.shift = input_.alt = false;
      // Rounding of coordinates of some 100 mm.
      for (int i = 0; i < 3; ++i)
        EXPECT_NEAR(millimetres(document().goal(0)[i] - before[i]), size * nudge.direction[i], 1e-10);
    }
}

TEST_F(Apps, StepBackAndResetGiveTheSameBits) {
  const Simulation alone(open_robot(asset("finger")), nullptr);
  const std::uint64_t start = hash(alone.frame().state);
  open_paused(asset("finger"));
  EXPECT_EQ(hash(now().state), start);
  press(Key::page_up);  // something to do
  std::vector<std::uint64_t> states{start};
  for (int k = 1; k <= 3; ++k) {
    press(Key::period);
    ASSERT_TRUE(until([&] { return now().step == k; }));
    states.push_back(hash(now().state));
    EXPECT_NE(states.back(), states[states.size() - 2]);
  }
  for (int k = 2; k >= 0; --k) {
    press(Key::comma);
    ASSERT_TRUE(until([&] { return now().step == k; }));
    EXPECT_EQ(hash(now().state), states[static_cast<std::size_t>(k)]);
  }
  press(Key::comma);  // no way further back
  frames(5);
  EXPECT_EQ(now().step, 0);
  press(Key::space);
  ASSERT_TRUE(until([&] { return now().step > 5; }));
  press(Key::space);
  press(Key::r);
  ASSERT_TRUE(until([&] { return now().step == 0; }));
  EXPECT_EQ(hash(now().state), start);
}

TEST_F(Apps, SpacePauses) {
  open(asset("finger"));
  ASSERT_TRUE(app().document());
  ASSERT_TRUE(until([&] { return now().step > 2; }));
  press(Key::space);
  EXPECT_FALSE(document().intent().running);
  document().thread().wait_until_idle();
  frames(2);
  const long step = now().step;
  std::this_thread::sleep_for(std::chrono::milliseconds(100));  // ten of its time steps
  frames(2);
  EXPECT_EQ(now().step, step);
  press(Key::space);
  EXPECT_TRUE(until([&] { return now().step > step; }));
}

TEST_F(Apps, TheModeChangesFromWhereTheRobotIs) {
  open_paused(asset("finger"));
  ASSERT_EQ(document().intent().mode, Mode::inverse);
  press(Key::m);
  EXPECT_EQ(document().intent().mode, Mode::forward);
  EXPECT_EQ(document().intent().commands, now().state.commands);
  EXPECT_EQ(app().effector(), -1);  // nothing to drag
  press(Key::m);
  EXPECT_EQ(document().intent().mode, Mode::inverse);
  EXPECT_EQ(document().intent().goals, now().reached);
}

TEST_F(Apps, ASliderLeadsItsActuator) {
  open_paused(asset("finger"));
  press(Key::m);
  const std::vector<double> before = document().intent().commands;
  // Down the panel until a press changes a command; let go over the picture, where no button takes it.
  bool found = false;
  for (double y = 60; y < height; y += 6) {
    input_.x = 200;
    input_.y = y;
    frame();
    input_.left = true;
    frames(2);
    found = document().intent().commands != before;
    if (found) break;
    point(200, 200);
    input_.left = false;
    frame();
  }
  ASSERT_TRUE(found);
  const double middle = document().intent().commands[0];
  EXPECT_GT(middle, 0);
  input_.x = width - 1;
  frame();
  input_.left = false;
  frame();
  const double most = document().robot().robot().actuators[0].range.upper;
  EXPECT_LT(middle, most);
  EXPECT_NEAR(document().intent().commands[0], most, 1e-9);
  const double tip = now().reached[0];
  hurry();
  press(Key::space);
  EXPECT_TRUE(until([&] { return std::abs(now().state.commands[0] - most) < 1e-9; }));
  EXPECT_GT(now().reached[0], tip + 0.01);  // a finger that closes towards +x
}

// The gripper: three cables and a motion, each with its slider; a click names the part.
TEST_F(Apps, SlidersLeadTheActuatorsOfAllParts) {
  open_paused(asset("gripper"));
  EXPECT_EQ(document().intent().mode, Mode::inverse);  // of the three tips
  press(Key::m);
  EXPECT_EQ(document().intent().mode, Mode::forward);
  ASSERT_EQ(document().inputs().size(), 4u);
  const std::vector<double> before = document().intent().commands;
  std::vector<bool> led(4, false);
  for (double y = 60; y < height && std::ranges::count(led, true) < 4; y += 6) {
    input_.x = 200;
    input_.y = y;
    frame();
    input_.left = true;
    frames(2);
    for (std::size_t j = 0; j < 4; ++j) led[j] = led[j] || document().intent().commands[j] != before[j];
    point(200, 200);
    input_.left = false;
    frame();
  }
  EXPECT_EQ(std::ranges::count(led, true), 4);
  document().intent().commands = {0.005, 0, 0, 0.02};
  document().intent().running = true;
  document().send();
  EXPECT_TRUE(until([&] { return now().step >= 2; })) << now().failure;
  EXPECT_NEAR(now().state.motions[0], 0.02, 1e-12);
  press(Key::d1);
  const RobotShape& shape = *document().robot().shape;
  std::vector<Vec3d> places;
  shape.positions(now().state, places);
  const auto at = camera().project(shape.point(places, shape.bodies()[0].triangles, {0.3, 0.3, 0.4}), viewport());
  ASSERT_TRUE(at);
  click((*at)[0], (*at)[1]);
  EXPECT_EQ(app().pointer().picked().find("finger-"), 0u) << app().pointer().picked();
}

// A parameter's slider: the robot is opened again with its value, under the same commands.
TEST_F(Apps, SlidersSetParameters) {
  open_paused(asset("finger/parametric.toml"));
  press(Key::m);
  const auto first = [&] { return document().robot().robot().parameters[0].value; };
  EXPECT_EQ(first(), 1);
  for (double y = 60; y < height && first() == 1; y += 6) {
    document().intent().commands = {0.004};
    input_.x = 60;
    input_.y = y;
    frame();
    input_.left = true;
    frames(2);
    document().intent().commands = {0.004};  // its slider stands there too
    point(2, 200);                           // in the picture: to the upper end of what is held
    frames(2);
    document().intent().commands = {0.004};
    input_.left = false;
    frames(2);
    ASSERT_TRUE(until([&] { return !app().opening(); }));
  }
  EXPECT_EQ(first(), 2);
  EXPECT_EQ(document().request().changes.parameters.size(), 3U);
  EXPECT_EQ(document().intent().mode, Mode::forward);
  EXPECT_EQ(document().intent().commands, std::vector<double>{0.004});
}

// The nearest triangle that covers the pixel, found in the picture's plane and not in space.
int element_at(const RobotShape& shape, const State& state, const Camera& camera, const Viewport& viewport, double x,
               double y) {
  std::vector<Vec3d> places;
  shape.positions(state, places);
  int nearest = -1;
  double least = 1e300;
  for (std::size_t t = 0; t < shape.triangles().size(); ++t) {
    std::array<std::array<double, 3>, 3> p;
    for (std::size_t k = 0; k < 3; ++k)
      p[k] = camera.project(places[static_cast<std::size_t>(shape.triangles()[t][k])], viewport).value();
    const auto area = [](const auto& a, const auto& b, double u, double v) {
      return (b[0] - a[0]) * (v - a[1]) - (b[1] - a[1]) * (u - a[0]);
    };
    const double w0 = area(p[1], p[2], x, y), w1 = area(p[2], p[0], x, y), w2 = area(p[0], p[1], x, y);
    const double sum = w0 + w1 + w2;
    if (sum == 0 || w0 / sum < 0 || w1 / sum < 0 || w2 / sum < 0) continue;
    // 1 / depth is linear in the picture.
    const double depth = sum / (w0 / p[0][2] + w1 / p[1][2] + w2 / p[2][2]);
    if (depth >= least) continue;
    least = depth;
    nearest = shape.element()[t];
  }
  return nearest;
}

TEST_F(Apps, AClickSaysWhichElementIsThere) {
  open_paused(asset("finger"));
  press(Key::m);  // no handles in the way
  press(Key::d3);
  const RobotShape& shape = *document().robot().shape;
  const auto middle = camera().project(0.5 * (shape.low() + shape.high()), viewport());
  ASSERT_TRUE(middle);
  int hits = 0;
  for (const double dx : {0.0, 4.0, -5.0})
    for (const double dy : {-90.0, -33.0, 0.0, 41.0, 77.0}) {
      const double x = (*middle)[0] + dx, y = (*middle)[1] + dy;
      click(x, y);
      const int element = element_at(shape, now().state, camera(), viewport(), x, y);
      if (element < 0) {
        EXPECT_EQ(app().pointer().picked(), "");
        continue;
      }
      ++hits;
      EXPECT_EQ(app().pointer().picked().find("element " + std::to_string(element) + " at "), 0u)
          << app().pointer().picked();
    }
  EXPECT_GT(hits, 8);
  click(viewport().width - 20, 20);  // beside the body
  EXPECT_EQ(app().pointer().picked(), "");
}

TEST_F(Apps, CtrlDragPullsAtTheBodyUntilItIsLetGo) {
  open_paused(asset("finger"));
  press(Key::m);
  press(Key::d1);
  const Vec3d tip{{now().reached[0], now().reached[1], now().reached[2] + 0.005}};
  const auto at = camera().project(tip, viewport());
  ASSERT_TRUE(at);
  const double rest = now().reached[0];
  press(Key::space);
  input_.ctrl = true;
  point((*at)[0], (*at)[1]);
  input_.left = true;
  frame();
  point((*at)[0] - 60, (*at)[1]);
  const Pull pull = document().intent().pull;
  ASSERT_GE(pull.triangle, 0);
  EXPECT_GT(pull.stiffness, 0);
  EXPECT_LT(pull.to[0], rest - 1e-3);
  // Seen along y the pointer moves in a plane of constant y, along x alone: the tip's height is kept to the place where
  // the body was gripped, some millimetres from the tip's own.
  EXPECT_LT(std::abs(pull.to[2] - tip[2]), 5e-3);
  EXPECT_TRUE(until([&] { return now().reached[0] < rest - 1e-3; })) << now().failure;
  EXPECT_TRUE(app().pointer().pull());
  input_.left = input_.ctrl = false;
  frame();
  EXPECT_EQ(document().intent().pull.triangle, -1);
  EXPECT_FALSE(app().pointer().pull());
  EXPECT_TRUE(until([&] { return now().reached[0] > rest - 1e-3; })) << now().failure;
}

// The box of the goal's first coordinate: below "Goal", where the pointer turns into a text cursor.
TEST_F(Apps, ATypedGoalCountsWhenItsBoxIsLeft) {
  open_paused(asset("finger"));
  frames(2);
  const auto type = [&](const std::u32string& words) {
    // Down the panel until a click takes the keyboard.
    for (input_.y = 60; input_.y < height; input_.y += 5) {
      input_.x = 40;
      frame();
      input_.ctrl = input_.left = true;  // which makes a slider a box too, but not a goal
      frame();
      input_.ctrl = input_.left = false;
      frames(2);
      if (ImGui::GetIO().WantTextInput) break;
    }
    ASSERT_TRUE(ImGui::GetIO().WantTextInput);
    input_.ctrl = true;
    input_.pressed.push_back(static_cast<int>(Key::a));
    frame();
    input_.ctrl = false;
    frame();
    input_.text = words;
    frame();
    frame();
  };
  const Vec3d before = document().goal(0);
  type(U"12.5");
  EXPECT_EQ(document().goal(0), before);  // not while it is typed
  press(Key::tab);
  frames(2);
  EXPECT_NEAR(document().goal(0)[0], 0.0125, 1e-12);
  EXPECT_NEAR(document().goal(0)[1], before[1], 1e-5);  // shown by two digits
  click(300, 30);
  type(U"-7");
  press(Key::keypad_enter);
  frames(2);
  EXPECT_NEAR(document().goal(0)[0], -0.007, 1e-12);
}

TEST_F(Apps, TwoRobotsUnderTheSameCommands) {
  open(asset("finger"), asset("finger"));
  ASSERT_TRUE(app().document()) << app().banner().text;
  app().settings().drawing.colouring = Colouring::difference;
  ASSERT_TRUE(until([&] { return now().step > 2; }));
  EXPECT_EQ(now().other.q.size(), now().state.q.size());
  app().settings().side_by_side = true;
  frames(3);
  press(Key::c);
  frames(2);
}

// With the colouring by mode there is one picture, of the mode's shape: what is clicked on is what is seen.
TEST_F(Apps, AClickFindsTheModeThatIsSeen) {
  const std::string file = "/tmp/supple-mode-" + std::to_string(getpid()) + ".rom.h5";
  {
    const std::unique_ptr<OpenedRobot> full = open_robot(asset("finger"));
    const FullModel& model = *full->full;
    std::vector<double> basis(static_cast<std::size_t>(model.coordinates.nv));
    double square = 0;  // it bends along x, by the square of the way from where it is held
    for (std::size_t i = 0; i < model.free_nodes.size(); ++i) {
      const double z = model.mesh.nodes[static_cast<std::size_t>(model.free_nodes[i])][2];
      square += std::pow(basis[3 * i] = z * z, 2);
    }
    for (double& u : basis) u /= std::sqrt(square);
    write_model(project(model, basis, 1, all_elements(model)), file);
  }
  open(file, file);
  std::filesystem::remove(file);
  ASSERT_TRUE(app().document()) << app().banner().text;
  app().settings().side_by_side = true;
  app().settings().animate_mode = false;
  app().settings().drawing.colouring = Colouring::mode;
  press(Key::space);
  press(Key::d1);
  frames(2);
  const RobotShape& shape = *document().robot().shape;
  std::vector<Vec3d> places;
  shape.positions(shown_state(document().robot(), now(), app().settings()), places);
  std::size_t lowest = 0;
  for (std::size_t i = 0; i < places.size(); ++i)
    if (places[i][2] < places[lowest][2]) lowest = i;
  // The mode moves the tip by a tenth of the finger: further than half its width.
  EXPECT_NEAR(std::abs(places[lowest][0] - shape.rest()[lowest][0]), 0.1 * shape.extent(), 0.02 * shape.extent());
  const auto at = camera().project(places[lowest] + Vec3d{{0, 0, 0.003}}, viewport());
  ASSERT_TRUE(at);
  click((*at)[0], (*at)[1]);
  EXPECT_EQ(app().pointer().picked().find("element "), 0u) << app().pointer().picked();
}

TEST_F(Apps, CtrlQClosesAndF12AsksForAPicture) {
  frame();
  EXPECT_FALSE(app().closing());
  open_paused(asset("finger"));
  press(Key::f12);
  EXPECT_TRUE(app().take_screenshot());
  EXPECT_FALSE(app().take_screenshot());
  press(Key::q);
  EXPECT_FALSE(app().closing());
  input_.ctrl = true;
  press(Key::q);
  EXPECT_TRUE(app().closing());
}

}  // namespace
}  // namespace supple::view
