#pragma once
// What a user asks of a reduction beside its scene, on the command line or in a program.

#include <cstdint>
#include <optional>

#include "engine/scene/scene.hpp"

namespace supple {

struct RecipeChanges {
  std::optional<double> error = {};            // mean error asked for, a fraction
  std::optional<double> tolerance = {};        // of the reduced integration domain
  std::optional<double> modes_tolerance = {};  // of the modes
  std::optional<int> modes = {};               // at most
  std::optional<int> elements = {};            // exactly
  /// elements, strains or fastest (ReduceSettings::fastest_solids); empty: as the recipe has it
  std::string solids = {};
  std::optional<std::uint64_t> seed = {};
};

/// Who asks for an error gets as many modes as that takes, and trajectories among the training states; who gives modes,
/// elements or tolerances drops the error that is asked for by default. Throws InputError for fractions outside 0 to 1
/// and numbers below 1.
void change_recipe(ReductionScene& recipe, const RecipeChanges& changes);

}  // namespace supple
