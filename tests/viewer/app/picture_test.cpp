// What is drawn, pixel by pixel, against pictures that were looked at: tests/viewer/app/golden. SUPPLE_WRITE_GOLDEN=1
// writes them anew. Words are left out: they are drawn by the fonts of the machine.

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numbers>

#include "engine/reduction/basis/project.hpp"
#include "tests/viewer/app/scripted.hpp"
#include "viewer/play/frame.hpp"
#include "viewer/play/opened_robot.hpp"

namespace supple::view {
namespace {

// Fields that a finger of length L along -z can move in, s = -z / L: bending to both sides (u = f(s), with the plane
// sections turned), twisting, a second bending, stretching. Orthonormal, column-major.
std::vector<double> smooth_basis(const FullModel& model) {
  constexpr double L = 0.1;
  const std::vector<Vec3d (*)(const Vec3d&, double)> fields{
      [](const Vec3d& x, double s) {
        return Vec3d{{s * s, 0, 2 * s * x[0] / L}};
      },
      [](const Vec3d& x, double s) {
        return Vec3d{{0, s * s, 2 * s * x[1] / L}};
      },
      [](const Vec3d& x, double s) {
        return Vec3d{{-x[1] * s / L, x[0] * s / L, 0}};
      },
      [](const Vec3d& x, double s) {
        return Vec3d{{s * s * (s - 0.8), 0, (3 * s * s - 1.6 * s) * x[0] / L}};
      },
      [](const Vec3d&, double s) {
        return Vec3d{{0, 0, -s}};
      }};
  std::vector<std::vector<double>> columns;
  for (const auto& field : fields) {
    std::vector<double> column;
    for (int node : model.free_nodes) {
      const Vec3d& x = model.mesh.nodes[static_cast<std::size_t>(node)];
      const Vec3d u = field(x, -x[2] / L);
      column.insert(column.end(), {u[0], u[1], u[2]});
    }
    for (int pass = 0; pass < 2; ++pass)
      for (const auto& other : columns) {
        double product = 0;
        for (std::size_t i = 0; i < column.size(); ++i) product += column[i] * other[i];
        for (std::size_t i = 0; i < column.size(); ++i) column[i] -= product * other[i];
      }
    double square = 0;
    for (double u : column) square += u * u;
    for (double& u : column) u /= std::sqrt(square);
    columns.push_back(column);
  }
  std::vector<double> basis;
  for (const auto& column : columns) basis.insert(basis.end(), column.begin(), column.end());
  return basis;
}

// The finger, full, and reduced to those fields and every ninth element, both bent: states that are given, not
// simulated, so that the pictures hang on nothing but the drawing.
struct Models {
  std::unique_ptr<OpenedRobot> full = open_robot(asset("finger"));
  std::unique_ptr<OpenedRobot> reduced = std::make_unique<OpenedRobot>();
  Frame frame;  // of the reduced one, the full one beside it

  Models() {
    const FullModel& model = *full->full;
    const std::vector<double> basis = smooth_basis(model);
    const auto n = static_cast<std::size_t>(model.coordinates.nv);
    const int modes = static_cast<int>(basis.size() / n);
    std::vector<IntegrationDomain> domains(model.fields.size());
    for (std::size_t f = 0; f < domains.size(); ++f)
      for (int e = 0; e < model.fields[f].elements(); e += 9) {
        domains[f].elements.push_back(e);
        domains[f].xi.push_back(9 + 7 * std::sin(e));
      }
    reduced->file = "finger.rom.h5";
    reduced->reduced = project(model, basis, modes, domains);
    reduced->mechanics = std::make_unique<ReducedMechanics>(*reduced->reduced);
    reduced->shape = std::make_unique<RobotShape>(*reduced->reduced);

    frame.state = rest_state(*reduced->mechanics);
    const double amounts[] = {0.015, 0.006, 0.003, 0.006};  // m at most, of the first modes
    std::vector<double> q(frame.state.q.size());
    for (int k = 0; k < 4; ++k)
      q[static_cast<std::size_t>(k)] =
          mode_state(*reduced->shape, frame.state, k, amounts[k]).q[static_cast<std::size_t>(k)];
    frame.state.q = q;
    frame.other = rest_state(*full->mechanics);
    for (std::size_t k = 0; k < q.size(); ++k)
      for (std::size_t i = 0; i < n; ++i)
        frame.other.q[i] += (0.9 - 0.1 * static_cast<double>(k)) * q[k] * basis[k * n + i];
    frame.y = points(*reduced, frame.state);
    frame.other_y = points(*full, frame.other);
    frame.goals = {0.016, 0, -0.09};
    frame.reached = {frame.y.end() - 3, frame.y.end()};
  }
  static std::vector<double> points(OpenedRobot& robot, const State& state) {
    std::vector<double> y(static_cast<std::size_t>(robot.robot().outputs()));
    robot.mechanics->evaluate_outputs(state.q, state.motions, y);
    return y;
  }
};

// How two pictures differ. A driver may colour a pixel by a step or two of 255 otherwise, and edges, which are a
// thousand of 43000 pixels (outline, cable, grid), by more: other versions of Mesa place samples otherwise.
struct Difference {
  double mean = 0;   // of all channels, of 255
  double large = 0;  // share of pixels with a channel that is off by more than 40
  bool small() const { return mean < 1 && large < 0.015; }
};

Difference compare(const Image& a, const Image& b) {
  if (a.width != b.width || a.height != b.height) return {255, 1};
  Difference difference;
  const std::size_t pixels = a.rgb.size() / 3;
  for (std::size_t i = 0; i < pixels; ++i) {
    int most = 0;
    for (std::size_t c = 3 * i; c < 3 * i + 3; ++c) {
      const int off = std::abs(a.rgb[c] - b.rgb[c]);
      most = std::max(most, off);
      difference.mean += off;
    }
    difference.large += most > 40;
  }
  difference.mean /= 3.0 * static_cast<double>(pixels);
  difference.large /= static_cast<double>(pixels);
  return difference;
}

class Pictures : public NeedsPictures {
 protected:
  void SetUp() override {
    NeedsPictures::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    context_ = std::make_unique<OffscreenContext>();
    models_ = std::make_unique<Models>();
    settings_.animate_mode = false;
    settings_.camera.azimuth = 0.35;
    settings_.camera.elevation = 0.25;
    settings_.camera.fit(low_, high_, {width_ * 1.0, height_ * 1.0});
  }

  Image draw(const OpenedRobot& robot, const OpenedRobot* beside, const Frame& frame) const {
    const OffscreenTarget target(width_, height_);
    Renderer renderer;
    const Picture picture = make_picture(robot, beside, frame, settings_);
    target.bind();
    const int views = picture.two ? 2 : 1;
    for (int k = 0; k < views; ++k)
      renderer.draw(k == 0 ? picture.left : picture.right, settings_.camera, {width_ / views * 1.0, height_ * 1.0},
                    k * width_ / views, 0);
    EXPECT_STREQ(gl_error(), "");
    return target.read();
  }
  Image reduced() const { return draw(*models_->reduced, models_->full.get(), models_->frame); }
  Image full() const {
    Frame frame = models_->frame;
    std::swap(frame.state, frame.other);
    std::swap(frame.y, frame.other_y);
    return draw(*models_->full, nullptr, frame);
  }

  static void expect_golden(const std::string& name, const Image& image) {
    const std::string file = std::string(SUPPLE_SOURCE_DIR) + "/tests/viewer/app/golden/" + name + ".png";
    const char* write = std::getenv("SUPPLE_WRITE_GOLDEN");
    if (write != nullptr && std::string(write) == "1") return write_png(file, image);
    const Difference difference = compare(image, read_png(file));
    if (difference.small()) return;
    const std::string seen = (std::filesystem::temp_directory_path() / ("supple-" + name + ".png")).string();
    write_png(seen, image);
    ADD_FAILURE() << name << ": the mean channel is off by " << difference.mean << " of 255, and "
                  << 100 * difference.large << " % of the pixels by more than 40; drawn: " << seen
                  << ", expected: " << file << "; " << gl_description();
  }

  std::unique_ptr<OffscreenContext> context_;
  std::unique_ptr<Models> models_;
  ViewSettings settings_;
  const Vec3d low_{{-0.03, -0.01, -0.1}}, high_{{0.02, 0.01, 0}};  // m, what is in view
  int width_ = 180, height_ = 240;
};

TEST_F(Pictures, Plain) {
  settings_.drawing.edges = true;
  expect_golden("plain", full());
}

TEST_F(Pictures, Displacement) {
  settings_.drawing.colouring = Colouring::displacement;
  expect_golden("displacement", full());
}

TEST_F(Pictures, Stress) {
  settings_.drawing.colouring = Colouring::stress;
  expect_golden("stress", full());
}

TEST_F(Pictures, StressOfTheDomain) {
  settings_.drawing.colouring = Colouring::stress;
  models_->frame.other = {};
  expect_golden("stress-domain", reduced());
}

TEST_F(Pictures, Weight) {
  settings_.drawing.colouring = Colouring::weight;
  models_->frame.other = {};
  expect_golden("weight", reduced());
}

TEST_F(Pictures, Difference) {
  settings_.drawing.colouring = Colouring::difference;
  expect_golden("difference", reduced());
}

TEST_F(Pictures, Mode) {
  settings_.drawing.colouring = Colouring::mode;
  settings_.drawing.mode = 3;
  expect_golden("mode", reduced());
}

TEST_F(Pictures, Pressure) {
  const std::unique_ptr<OpenedRobot> hollow = open_robot(asset("pneumatic_finger"));
  Frame frame;
  frame.state = rest_state(*hollow->mechanics);
  frame.state.multipliers = {3.5e4};  // Pa, of 60 kPa
  frame.y = Models::points(*hollow, frame.state);
  settings_.drawing.colouring = Colouring::pressure;
  width_ = 240;
  height_ = 160;
  Bounds bounds;
  add_shown(*hollow, nullptr, frame, settings_, bounds);
  settings_.camera.fit(bounds.low, bounds.high, {width_ * 1.0, height_ * 1.0});
  expect_golden("pressure", draw(*hollow, nullptr, frame));
}

// A palm that hangs lower than at rest, and turned, fingers bent by different ways, springs drawn out.
TEST_F(Pictures, SeveralBodies) {
  const std::unique_ptr<OpenedRobot> gripper = open_robot(asset("gripper/hanging.toml"));
  const AssemblyMechanics& mechanics = gripper->assembly->mechanics();
  Frame frame;
  frame.state = rest_state(mechanics);
  for (int part = 0; part < 3; ++part) {
    const FullModel& finger = *gripper->assembly->full(part);
    double* q = frame.state.q.data() + mechanics.first_coordinate(part);
    for (std::size_t i = 0; i < finger.free_nodes.size(); ++i) {
      const Vec3d& x = finger.mesh.nodes[static_cast<std::size_t>(finger.free_nodes[i])];
      const double s = -x[2] / 0.1;
      q[3 * i] = 0.01 * (part + 1) * s * s;
      q[3 * i + 2] = 0.01 * (part + 1) * 2 * s * x[0] / 0.1;
    }
  }
  std::vector<double> dq(static_cast<std::size_t>(mechanics.coordinates().nv));
  dq[dq.size() - 4] = -0.015;
  dq[dq.size() - 3] = 0.15;
  mechanics.coordinates().integrate(frame.state.q.data(), dq.data());
  frame.y = Models::points(*gripper, frame.state);
  width_ = 240;
  Bounds bounds;
  add_shown(*gripper, nullptr, frame, settings_, bounds);
  settings_.camera.fit(bounds.low, bounds.high, {width_ * 1.0, height_ * 1.0});
  expect_golden("several-bodies", draw(*gripper, nullptr, frame));
}

TEST_F(Pictures, TheFullRobotOverTheReducedOne) {
  expect_golden("overlaid", reduced());
}

TEST_F(Pictures, TheDomainBesideTheFullRobot) {
  settings_.drawing.domain = true;
  settings_.side_by_side = true;
  settings_.floor = false;
  width_ = 260;
  settings_.camera.fit(low_, high_, {width_ / 2.0, height_ * 1.0});
  expect_golden("side-by-side", reduced());
}

// Whatever is shown is in view, and fills it: one of its sides comes near the picture's.
TEST_F(Pictures, AreFittedToWhatIsShown) {
  const OpenedRobot &robot = *models_->reduced, *beside = models_->full.get();
  for (const Colouring colouring : {Colouring::plain, Colouring::mode}) {
    settings_.drawing.colouring = colouring;
    Bounds bounds;
    add_shown(robot, beside, models_->frame, settings_, bounds);
    const Viewport viewport{width_ * 1.0, height_ * 1.0};
    settings_.camera.fit(bounds.low, bounds.high, viewport);
    std::vector<Vec3d> places;
    robot.shape->positions(shown_state(robot, models_->frame, settings_), places);
    double margin = 1;
    for (const Vec3d& x : places) {
      const auto at = settings_.camera.project(x, viewport);
      ASSERT_TRUE(at);
      for (const double part : {(*at)[0] / width_, 1 - (*at)[0] / width_, (*at)[1] / height_, 1 - (*at)[1] / height_})
        margin = std::min(margin, part);
    }
    EXPECT_GT(margin, 0);
    // A box round a body leaves room at its corners; the undeformed one is left by the finger's tip.
    EXPECT_LT(margin, 0.15);
  }
}

// In what was recorded a hand that pulls is seen.
TEST_F(Pictures, OfARecordingShowThePull) {
  Frame frame = models_->frame;
  frame.playing = true;
  const auto marks = [&] {
    return make_picture(*models_->reduced, nullptr, frame, settings_).left.on_top_solid.triangles.size();
  };
  const std::size_t without = marks();
  frame.pull = {0, {1, 0, 0}, {{0.05, 0, 0}}, 10};
  EXPECT_GT(marks(), without);
}

// Near an outline a smooth normal turns away from the eye on a front that is seen: no jump shows there.
TEST_F(Pictures, AreShadedSmoothlyUpToTheOutline) {
  const OffscreenTarget target(16, 16, 0);
  Renderer renderer;
  const Camera camera;
  const auto middle = [&](double degrees) {
    const double angle = degrees * std::numbers::pi / 180;
    const Vec3d normal = -std::cos(angle) * camera.forward() - std::sin(angle) * camera.right();
    DrawList list;
    for (const auto& [x, y] : {std::pair(-1, -1), {1, -1}, {0, 1}}) {
      const Vec3d at = camera.target + static_cast<double>(x) * camera.right() + static_cast<double>(y) * camera.up();
      Vertex vertex{{}, {}, {0.8f, 0.8f, 0.8f, 1}};
      for (std::size_t k = 0; k < 3; ++k) {
        vertex.position[k] = static_cast<float>(at[static_cast<int>(k)]);
        vertex.normal[k] = static_cast<float>(normal[static_cast<int>(k)]);
      }
      list.solid.vertices.push_back(vertex);
    }
    list.solid.triangles = {0, 1, 2};
    target.bind();
    renderer.draw(list, camera, {16, 16});
    const Image image = target.read();
    return static_cast<int>(image.rgb[3 * (8 * 16 + 8)]);
  };
  // Two degrees change the light by less than 3 %, 255 levels by less than 6.
  EXPECT_NEAR(middle(89), middle(91), 6);
  EXPECT_GT(std::abs(middle(10) - middle(89)), 6);
}

TEST_F(Pictures, TheSameListGivesTheSamePixels) {
  settings_.drawing.domain = true;
  settings_.drawing.colouring = Colouring::weight;
  EXPECT_EQ(reduced().rgb, reduced().rgb);
}

// Backs of closed solids are not drawn where they cannot be seen. From outside nothing changes but pixels on the
// outline; where the near plane cuts the body its inside is seen as before.
TEST_F(Pictures, LoseNothingWithTheBacksThatAreNotDrawn) {
  const OffscreenTarget target(width_, height_, 0);
  Renderer renderer;
  const auto drawn = [&](const OpenedRobot& robot, bool open) {
    DrawList list = make_picture(robot, nullptr, models_->frame, settings_).left;
    EXPECT_FALSE(list.solid.open);
    list.solid.open = open;
    for (Surfaces& layer : list.see_through) {
      EXPECT_FALSE(layer.open);
      layer.open = open;
    }
    target.bind();
    renderer.draw(list, settings_.camera, {width_ * 1.0, height_ * 1.0});
    return target.read();
  };
  models_->frame.other = {};
  for (const bool domain : {false, true}) {
    settings_.drawing.domain = domain;
    const Difference difference = compare(drawn(*models_->reduced, false), drawn(*models_->reduced, true));
    EXPECT_LT(difference.mean, 0.1);
    EXPECT_LT(difference.large, 0.002);
  }
  settings_.drawing.domain = false;
  settings_.camera.target = {{0, 0, -0.05}};
  settings_.camera.distance = 0.004;  // inside the finger
  EXPECT_EQ(drawn(*models_->reduced, false).rgb, drawn(*models_->reduced, true).rgb);
}

// The tolerance lets no other colouring pass.
TEST_F(Pictures, DifferByMoreThanTheToleranceFromEachOther) {
  const Image plain = full();
  settings_.drawing.colouring = Colouring::displacement;
  const Image displaced = full();
  settings_.drawing.colouring = Colouring::stress;
  const Image stressed = full();
  EXPECT_FALSE(compare(plain, displaced).small());
  EXPECT_FALSE(compare(stressed, displaced).small());
  settings_.camera.azimuth += 0.03;  // a turn by two degrees
  EXPECT_FALSE(compare(stressed, full()).small());
}

TEST_F(Pictures, AreWrittenAndReadAsTheyAre) {
  const Image image = full();
  const std::string file =
      (std::filesystem::temp_directory_path() / ("supple-picture-" + std::to_string(getpid()) + ".png")).string();
  write_png(file, image);
  EXPECT_EQ(read_png(file).rgb, image.rgb);
  std::filesystem::remove(file);
  EXPECT_THROW(read_png(file), InputError);
  EXPECT_THROW(write_png("/nowhere/at/all.png", image), InputError);
}

}  // namespace
}  // namespace supple::view
