#include "engine/reduction/snapshots/state_batch.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <charconv>

#include "engine/mechanics/full/shared_elements.hpp"
#include "kernels/base/error.hpp"
#include "kernels/base/extent.hpp"
#include "solvers/sparse/lockstep.hpp"

namespace supple {

namespace {

constexpr double share_of_free = 0.5;  // others are at work on the machine
constexpr double megabyte = 1e6;

}  // namespace

int parse_batch(const std::string& text) {
  if (text == "auto") return 0;
  int robots = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), robots);
  if (status != std::errc() || end != text.data() + text.size() || robots < 1)
    throw InputError(fmt::format("--batch: '{}' is no number of robots (a whole number from 1, or auto)", text),
                     "--batch auto");
  return robots;
}

std::vector<std::string> words_of(const StateBatch& batch) {
  if (!batch.robots && batch.solver == "auto") return {};
  if (!batch.robots) return {"--solver", batch.solver};
  const std::string robots = *batch.robots == 0 ? "auto" : std::to_string(*batch.robots);
  return {"--batch", robots, "--device", to_string(batch.device)};
}

int batch_size(const StateBatch& batch, const BatchPlan& plan, const FullMechanics& mechanics, int most) {
  const bool gpu = batch.device.kind == Device::Kind::cuda;
  const std::size_t room = free_bytes(batch.device), host_room = free_bytes(cpu());
  const std::size_t of_robot = mechanics.bytes();
  const auto shared = [&](int robots) {
    return batch.shares_elements()
               ? SharedElements::bytes(mechanics.model(), mechanics.node_pattern(), batch.device, robots)
               : 0;
  };
  const auto fits = [&](int robots, double share) {
    const std::size_t solver = Lockstep::bytes(plan, robots), elements = extent(robots) * of_robot;
    const auto within = [share](std::size_t bytes, std::size_t free) {
      return static_cast<double>(bytes) <= share * static_cast<double>(free);
    };
    const std::size_t there = solver + shared(robots);
    return gpu ? within(there, room) && within(elements, host_room) : within(there + elements, host_room);
  };
  const int asked = batch.robots.value_or(0);
  if (asked > 0) {
    const int robots = std::min(asked, most);
    if (!fits(robots, 1))
      throw CapabilityError(
          fmt::format("no memory for a batch of {} robots ({:.0f} MB to factor their matrices, {:.0f} MB for their "
                      "elements together, {:.0f} MB of main memory beside that; {:.0f} MB are free on {}, {:.0f} MB of "
                      "main memory)",
                      robots, static_cast<double>(Lockstep::bytes(plan, robots)) / megabyte,
                      static_cast<double>(shared(robots)) / megabyte,
                      static_cast<double>(extent(robots) * of_robot) / megabyte, static_cast<double>(room) / megabyte,
                      to_string(batch.device), static_cast<double>(host_room) / megabyte),
          "--batch auto, or a smaller number");
    return robots;
  }
  const int lanes = plan.form().lanes, groups = (most + lanes - 1) / lanes;
  int count = gpu ? groups : std::min(groups, std::max(1, omp_get_max_threads()));
  while (count > 1 && !fits(count * lanes, share_of_free)) --count;
  int robots = std::min(most, count * lanes);
  while (robots > 1 && !fits(robots, share_of_free)) --robots;
  if (!fits(robots, 1))
    throw CapabilityError(fmt::format("no memory for a batch ({:.0f} MB are free on {})",
                                      static_cast<double>(room) / megabyte, to_string(batch.device)),
                          "without --batch");
  return robots;
}

}  // namespace supple
