#include "engine/mechanics/full/shared_elements.hpp"

#include <algorithm>

#include "kernels/base/contract.hpp"
#include "kernels/base/extent.hpp"

namespace supple {

namespace {

// Points of a chunk, about: two for each thread that the largest GPUs of today hold at a time.
constexpr int points_at_once = 1 << 19;

int chunk_of(const FullModel& model, int robots) {
  int points = 1;
  for (const ElementField& field : model.fields) points += padded(field.points());
  return std::min(robots, std::max(1, points_at_once / points));
}

std::size_t displacements_of(const FullModel& model) {
  return 3 * model.mesh.nodes.size();
}

}  // namespace

SharedElements::SharedElements(Lockstep& lockstep, const FullModel& model, const NodePattern& pattern,
                               const Device& device, int chunk)
    : lockstep_(lockstep),
      elements_(model, pattern, device,
                chunk > 0 ? std::min(chunk, lockstep.robots()) : chunk_of(model, lockstep.robots())),
      displacements_(displacements_of(model)),
      unknowns_(extent(pattern.scalar.n)),
      nonzeros_(pattern.scalar.row.size()),
      u_(device, extent(elements_.robots()) * displacements_),
      f_(device, extent(elements_.robots()) * unknowns_),
      magnitude_(device, f_.size()),
      stiffness_(device, extent(elements_.robots()) * nonzeros_),
      requests_(extent(lockstep.robots())) {
  lockstep.share([this](std::span<const int> slots) { serve(slots); });
}

std::size_t SharedElements::bytes(const FullModel& model, const NodePattern& pattern, const Device& device,
                                  int robots) {
  const int chunk = chunk_of(model, robots);
  const std::size_t numbers = displacements_of(model) + 2 * extent(pattern.scalar.n) + pattern.scalar.row.size();
  return FullElements::memory(model, pattern, device).of(chunk) + extent(chunk) * numbers * sizeof(double);
}

PointReport SharedElements::evaluate(int slot, const double* u, TangentKind kind, const ElementResults& results) {
  Request& mine = requests_[extent(slot)];
  mine = {u, kind, results, {}};
  lockstep_.meet(slot);
  return mine.report;
}

void SharedElements::serve(std::span<const int> slots) {
  for (const TangentKind kind : {TangentKind::none, TangentKind::safe, TangentKind::exact}) {
    std::vector<int> alike;
    std::ranges::copy_if(slots, std::back_inserter(alike),
                         [&](int slot) { return requests_[extent(slot)].kind == kind; });
    const std::size_t chunk = extent(elements_.robots());
    for (std::size_t first = 0; first < alike.size(); first += chunk)
      evaluate_chunk(std::span(alike).subspan(first, std::min(chunk, alike.size() - first)), kind);
  }
}

void SharedElements::evaluate_chunk(std::span<const int> slots, TangentKind kind) {
  const Device& device = elements_.device();
  const auto request = [&](std::size_t k) -> Request& { return requests_[extent(slots[k])]; };
  for (std::size_t k = 0; k < slots.size(); ++k)
    copy_bytes(device, u_.data() + k * displacements_, cpu(), request(k).u, displacements_ * sizeof(double));
  std::vector<PointReport> reports(slots.size());
  elements_.evaluate(static_cast<int>(slots.size()), u_.data(), kind, f_.data(), magnitude_.data(), stiffness_.data(),
                     reports);
  const auto back = [&](double* target, const double* source, std::size_t count) {
    copy_bytes(cpu(), target, device, source, count * sizeof(double));
  };
  for (std::size_t k = 0; k < slots.size(); ++k) {
    const ElementResults& results = request(k).results;
    request(k).report = reports[k];
    back(results.f, f_.data() + k * unknowns_, unknowns_);
    back(results.magnitude, magnitude_.data() + k * unknowns_, unknowns_);
    if (kind == TangentKind::none) continue;
    back(results.stiffness, stiffness_.data() + k * nonzeros_, nonzeros_);
    if (results.blocks != nullptr)
      back(results.blocks, elements_.blocks(static_cast<int>(k)), elements_.block_numbers());
  }
}

}  // namespace supple
