#include "engine/mechanics/variations.hpp"

#include <algorithm>

#include "kernels/base/extent.hpp"

namespace supple {

namespace {

constexpr auto lists = {&Variations::gravity, &Variations::material_scale, &Variations::friction,
                        &Variations::density, &Variations::rayleigh_mass,  &Variations::rayleigh_stiffness};

}  // namespace

bool Variations::none() const {
  return std::ranges::all_of(lists, [this](auto list) { return (this->*list).empty(); });
}

Variations variations_of(const Variations& all, int robots, int first, int count) {
  Variations part;
  for (const auto list : lists) {
    const std::vector<double>& values = all.*list;
    const std::size_t own = values.size() / extent(robots);
    const auto begin = values.begin() + static_cast<std::ptrdiff_t>(extent(first) * own);
    (part.*list).assign(begin, begin + static_cast<std::ptrdiff_t>(extent(count) * own));
  }
  return part;
}

}  // namespace supple
