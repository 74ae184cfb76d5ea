// The camera: pixels to rays and back, the matrix of the graphics library, and what turning, moving and zooming keep.

#include "viewer/draw/camera.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace supple::view {
namespace {

constexpr double pi = std::numbers::pi;
constexpr Viewport wide{1280, 720}, tall{500, 900};

void expect_near(const Vec3d& a, const Vec3d& b, double tolerance) {
  EXPECT_LE(norm(a - b), tolerance) << a[0] << ' ' << a[1] << ' ' << a[2] << " and " << b[0] << ' ' << b[1] << ' '
                                    << b[2];
}

std::vector<Camera> cameras() {
  return {{}, {{{0.1, -0.2, 0.05}}, 0.4, -2.5, 1.2, 0.8}, {{{-3, 2, 10}}, 25, 3.1, -1.5, 0.2}};
}

TEST(Camera, LooksFromTheSideThatItsAnglesSay) {
  const Camera front{{{1, 2, 3}}, 2, 0, 0, 0.5};
  expect_near(front.eye(), {{1, 0, 3}}, 1e-15);  // a rounding error of 3
  EXPECT_EQ(front.right(), (Vec3d{{1, 0, 0}}));
  const Camera right{{{0, 0, 0}}, 2, pi / 2, 0, 0.5}, above{{{0, 0, 0}}, 2, 0, pi / 4, 0.5};
  expect_near(right.eye(), {{2, 0, 0}}, 1e-15);
  expect_near(above.eye(), {{0, -std::sqrt(2.0), std::sqrt(2.0)}}, 1e-15);
  for (const Camera& camera : cameras()) {
    expect_near(cross(camera.right(), camera.forward()), camera.up(), 1e-15);  // products of sines and cosines
    EXPECT_NEAR(norm(camera.up()), 1, 1e-15);
    EXPECT_NEAR(norm(camera.target - camera.eye()), camera.distance, 1e-15 * (camera.distance + norm(camera.target)));
  }
}

// A point 100 distances away is computed from the eye with rounding errors of some units in the last place, and pixels
// are up to 1280: 1e-12 of that leaves a factor of a hundred.
TEST(Camera, RaysAndPixelsAreInverse) {
  for (const Viewport& viewport : {wide, tall})
    for (const Camera& camera : cameras())
      for (const double x : {0.0, 17.25, 400.0, 499.0})
        for (const double y : {0.0, 333.5, 719.0})
          for (const double along : {0.1, 1.0, 30.0}) {
            const Ray ray = camera.ray(x, y, viewport);
            EXPECT_NEAR(norm(ray.direction), 1, 1e-15);
            expect_near(ray.origin, camera.eye(), 0);
            const Vec3d point = ray.origin + (along * camera.distance) * ray.direction;
            const auto pixel = camera.project(point, viewport);
            ASSERT_TRUE(pixel);
            EXPECT_NEAR((*pixel)[0], x, 1e-12 * 1280);
            EXPECT_NEAR((*pixel)[1], y, 1e-12 * 1280);
            EXPECT_NEAR((*pixel)[2], along * camera.distance * dot(ray.direction, camera.forward()),
                        1e-12 * along * camera.distance);
          }
}

TEST(Camera, TheTargetIsInTheMiddleAndTheUpperLeftIsTheOrigin) {
  for (const Camera& camera : cameras()) {
    const auto middle = camera.project(camera.target, wide);
    ASSERT_TRUE(middle);
    EXPECT_NEAR((*middle)[0], 640, 1e-9);  // far targets: 25 m and a field of view of 0.2 rad
    EXPECT_NEAR((*middle)[1], 360, 1e-9);
    const double step = 0.01 * camera.distance;
    EXPECT_GT((*camera.project(camera.target + step * camera.right(), wide))[0], 640);
    EXPECT_LT((*camera.project(camera.target + step * camera.up(), wide))[1], 360);
  }
}

TEST(Camera, NothingBehindIsProjected) {
  for (const Camera& camera : cameras()) {
    const Vec3d forward = camera.distance * camera.forward();
    EXPECT_FALSE(camera.project(camera.eye() - forward, wide));
    EXPECT_FALSE(camera.project(camera.eye(), wide));
    EXPECT_FALSE(camera.project(camera.eye() + 0.009 * forward, wide));  // before the near plane
    EXPECT_TRUE(camera.project(camera.eye() + 0.011 * forward, wide));
  }
}

// The matrix is in single precision: its terms are a few times 1/tan(field of view / 2) = 10 distances from the origin,
// at most 1000 in these cameras, and clip coordinates lose 1e-7 of that.
TEST(Camera, MatrixAgreesWithProject) {
  for (const Viewport& viewport : {wide, tall})
    for (const Camera& camera : cameras()) {
      const auto m = camera.matrix(viewport);
      const auto clip = [&](const Vec3d& point, std::size_t row) {
        return static_cast<double>(m[row]) * point[0] + static_cast<double>(m[4 + row]) * point[1] +
               static_cast<double>(m[8 + row]) * point[2] + static_cast<double>(m[12 + row]);
      };
      const double scale = 1e-6 * (norm(camera.eye()) + camera.distance) / camera.distance;
      for (const double x : {10.0, 250.0, 490.0})
        for (const double y : {10.0, 700.0}) {
          const Ray ray = camera.ray(x, y, viewport);
          const Vec3d point = ray.origin + camera.distance * ray.direction;
          const auto pixel = camera.project(point, viewport);
          ASSERT_TRUE(pixel);
          const double w = clip(point, 3);
          EXPECT_NEAR(w, (*pixel)[2], scale * camera.distance);
          EXPECT_NEAR((clip(point, 0) / w + 1) / 2 * viewport.width, x, scale * 10 * viewport.width);
          EXPECT_NEAR((1 - clip(point, 1) / w) / 2 * viewport.height, y, scale * 10 * viewport.height);
        }
      // Depth -1 on the near plane, 1 on the far one.
      for (const auto& [distance, depth] : {std::pair{0.01, -1.0}, {100.0, 1.0}}) {
        const Vec3d point = camera.eye() + (distance * camera.distance) * camera.forward();
        // On the near plane errors of the eye are a hundred times as large beside the depth.
        EXPECT_NEAR(clip(point, 2) / clip(point, 3), depth, 100 * scale);
      }
    }
}

TEST(Camera, FitShowsEveryCorner) {
  const std::pair<Vec3d, Vec3d> boxes[] = {
      {{{-0.1, -0.1, 0}}, {{0.1, 0.1, 0.125}}}, {{{2, 3, 4}}, {{2.001, 9, 4.5}}}, {{{-1, 0, 0}}, {{1, 0, 0}}}};
  for (const Viewport& viewport : {wide, tall})
    for (Camera camera : cameras())
      for (const auto& [low, high] : boxes) {
        camera.fit(low, high, viewport);
        double fill = 0;
        for (int corner = 0; corner < 8; ++corner) {
          const auto pixel = camera.project(
              {{(corner & 1 ? high : low)[0], (corner & 2 ? high : low)[1], (corner & 4 ? high : low)[2]}}, viewport);
          ASSERT_TRUE(pixel);
          fill = std::max(
              {fill, std::abs(2 * (*pixel)[0] / viewport.width - 1), std::abs(2 * (*pixel)[1] / viewport.height - 1)});
        }
        EXPECT_LT(fill, 0.9501);  // the margin, and rounding
        if (norm(cross(high - low, camera.forward())) > 0.2 * norm(high - low)) {
          EXPECT_GT(fill, 0.3);
        }
      }
  Camera camera;
  camera.fit({{1, 1, 1}}, {{1, 1, 1}}, wide);
  EXPECT_EQ(camera.distance, 1);
  EXPECT_EQ(camera.target, (Vec3d{{1, 1, 1}}));
  // A rod along the view, of which nothing is seen but its end.
  Camera along{{{0, 0, 0}}, 1, 0, 0, 0.5};
  along.fit({{0, -5, 0}}, {{0, 5, 0}}, wide);
  EXPECT_TRUE(along.project({{0, -5, 0}}, wide));
}

TEST(Camera, OrbitKeepsTargetAndDistance) {
  for (Camera camera : cameras()) {
    const Camera before = camera;
    camera.orbit(123, 15, wide);
    EXPECT_EQ(camera.target, before.target);
    EXPECT_EQ(camera.distance, before.distance);
    camera.orbit(-123, -15, wide);
    expect_near(camera.eye(), before.eye(), 1e-13 * (norm(before.eye()) + before.distance));  // sums of angles
  }
  // A drag over the height is half a turn; what is dragged to the right comes from the left.
  Camera camera{{{0, 0, 0}}, 1, 0, 0, 0.5};
  camera.orbit(360, 0, wide);
  expect_near(camera.eye(), {{-1, 0, 0}}, 1e-15);
  camera = {{{0, 0, 0}}, 1, 0, 0, 0.5};
  camera.orbit(0, 180, wide);
  EXPECT_NEAR(camera.elevation, pi / 4, 1e-15);
}

TEST(Camera, OrbitStopsShortOfStraightDown) {
  Camera camera;
  for (const double dy : {1e5, -1e5}) {
    camera.orbit(0, dy, wide);
    EXPECT_NEAR(std::abs(camera.elevation), 89.9 * pi / 180, 1e-15);
    EXPECT_GT(camera.up()[2], 0);
  }
  for (int i = 0; i < 10000; ++i) camera.orbit(777, 0, wide);
  EXPECT_LE(std::abs(camera.azimuth), pi);
}

TEST(Camera, PanKeepsThePointUnderThePointer) {
  for (const Viewport& viewport : {wide, tall})
    for (Camera camera : cameras()) {
      const auto held = meet_plane(camera.ray(100, 600, viewport), camera.target, camera.forward());
      ASSERT_TRUE(held);
      camera.pan(37.5, -81, viewport);
      const auto pixel = camera.project(*held, viewport);
      ASSERT_TRUE(pixel);
      EXPECT_NEAR((*pixel)[0], 137.5, 1e-10);  // 1e-12 of pixels, as above, at a tenth of the distance
      EXPECT_NEAR((*pixel)[1], 519, 1e-10);
    }
}

TEST(Camera, ZoomIsATenthANotch) {
  Camera camera;
  camera.zoom(1);
  EXPECT_NEAR(camera.distance, 0.9, 1e-15);
  camera.zoom(-1);
  EXPECT_NEAR(camera.distance, 1, 1e-15);
  camera.zoom(1e4);
  EXPECT_GT(camera.distance, 0);
  camera.zoom(-1e4);
  EXPECT_TRUE(std::isfinite(camera.distance));
}

TEST(Camera, PixelSizeIsWhatAPixelCovers) {
  for (const Camera& camera : cameras()) {
    const Vec3d at = camera.eye() + (0.7 * camera.distance) * camera.forward();
    const double size = camera.pixel_size(at, wide);
    const auto a = camera.project(at, wide), b = camera.project(at + (10 * size) * camera.up(), wide);
    EXPECT_NEAR((*a)[1] - (*b)[1], 10, 1e-10);
    EXPECT_NEAR((*a)[0], (*b)[0], 1e-10);
    // Where the depth is none it is that of the near plane, and never zero.
    EXPECT_GT(camera.pixel_size(camera.eye() - camera.distance * camera.forward(), wide), 0);
  }
}

TEST(MeetPlane, OnlyBeforeTheEyeAndNotAlong) {
  const Ray down{{{1, 2, 5}}, {{0, 0, -1}}};
  const auto point = meet_plane(down, {{7, 7, 1}}, {{0, 0, 3}});
  ASSERT_TRUE(point);
  EXPECT_EQ(*point, (Vec3d{{1, 2, 1}}));
  EXPECT_FALSE(meet_plane(down, {{0, 0, 6}}, {{0, 0, 1}}));
  EXPECT_FALSE(meet_plane(down, {{0, 0, 1}}, {{1, 0, 0}}));
  EXPECT_FALSE(meet_plane(down, {{0, 0, 1}}, {{0, 0, 0}}));
}

}  // namespace
}  // namespace supple::view
