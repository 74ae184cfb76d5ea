#include "viewer/play/frame.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "engine/scene/units.hpp"

namespace supple::view {

std::string contact_text(const Robot& robot, const Frame& frame) {
  std::string bodies;
  for (const BodyTouch& touch : body_touches(robot, frame.state))
    bodies += fmt::format("{}{} and {} press with {}", bodies.empty() ? "" : "\n",
                          robot.surface_names[static_cast<std::size_t>(touch.first)],
                          robot.surface_names[static_cast<std::size_t>(touch.second)],
                          format_quantity(norm(touch.force), Dimension::force));
  if (frame.touches.empty()) return bodies.empty() ? "no contact" : bodies;
  if (!bodies.empty()) bodies += '\n';
  const auto sliding = std::ranges::count_if(frame.touches, [](const Touch& touch) { return touch.sliding; });
  const auto all = static_cast<long>(frame.touches.size());
  std::string text = bodies + fmt::format("contact: {} point{} ({} stick, {} slide)", all, all == 1 ? "" : "s",
                                          all - sliding, sliding);
  const std::vector<double> sums = normal_forces(robot, frame.touches);
  for (std::size_t o = 0; o < sums.size(); ++o) {
    const PlacedObstacle& obstacle = robot.obstacles[o];
    if (sums[o] == 0) continue;
    text += fmt::format(", {} on {}", format_quantity(sums[o], Dimension::force), obstacle.name);
    if (obstacle.max_force < unlimited)
      text += fmt::format(" (at most {})", format_quantity(obstacle.max_force, Dimension::force));
  }
  if (frame.outside && frame.outside->share > outside_modes_warning)
    text += fmt::format("\n{:.2g} % of what contact does lies outside the modes (up to {} at a point)",
                        100 * frame.outside->share, format_quantity(frame.outside->depth, Dimension::length));
  return text;
}

}  // namespace supple::view
