#include "engine/reduction/recipe.hpp"

#include <fmt/format.h>

namespace supple {

namespace {

void require_fraction(const char* name, const std::optional<double>& value) {
  if (value && !(*value > 0 && *value < 1))
    throw InputError(fmt::format("{}: {:g} is not between 0 and 1", name, *value), "0.01");
}

void require_count(const char* name, const std::optional<int>& value) {
  if (value && *value < 1) throw InputError(fmt::format("{}: {} is below 1", name, *value), "1 or more");
}

}  // namespace

void change_recipe(ReductionScene& recipe, const RecipeChanges& changes) {
  require_fraction("error", changes.error);
  require_fraction("tolerance", changes.tolerance);
  require_fraction("modes_tolerance", changes.modes_tolerance);
  require_count("modes", changes.modes);
  require_count("elements", changes.elements);
  if (changes.seed) recipe.seed = *changes.seed;
  if (changes.solids == "strains")
    recipe.solids = FieldForm::strains;
  else if (changes.solids == "elements" || changes.solids == "fastest")
    recipe.solids = FieldForm::elements;
  else if (!changes.solids.empty())
    throw InputError(fmt::format("solids: '{}' is none of elements, strains and fastest", changes.solids), "fastest");
  if (changes.tolerance) recipe.ecsw_tolerance = *changes.tolerance;
  if (changes.modes || changes.modes_tolerance || changes.elements || changes.tolerance) drop_default_error(recipe);
  if (changes.error) {
    recipe.error = *changes.error;
    recipe.error_is_default = false;
    recipe.modes_by_error = true;
    if (!changes.modes_tolerance) recipe.max_modes = 0;
    if (recipe.trajectories == 0) recipe.trajectories = default_trajectories;
  }
  if (changes.modes_tolerance) recipe.pod_tolerance = *changes.modes_tolerance;
  if (changes.modes_tolerance || changes.modes) recipe.modes_by_error = false;
  if (changes.elements) recipe.elements = *changes.elements;
  if (changes.modes) recipe.max_modes = *changes.modes;
}

}  // namespace supple
