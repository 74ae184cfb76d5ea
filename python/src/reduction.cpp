// A scene to a reduced model.

#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <nlohmann/json.hpp>

#include "engine/cli/reports/cost_facts.hpp"
#include "engine/cli/reports/reduction_facts.hpp"
#include "engine/cli/reports/world_facts.hpp"
#include "engine/reduction/cost.hpp"
#include "engine/reduction/pipeline.hpp"
#include "engine/reduction/plots.hpp"
#include "engine/reduction/recipe.hpp"
#include "engine/reduction/snapshots/sweep_increment.hpp"
#include "engine/reduction/world_reduction.hpp"
#include "engine/scene/reader.hpp"
#include "python/src/bindings.hpp"

namespace supple::python {

namespace {

Scene changed(const SceneOfPython& scene, const RecipeChanges& changes) {
  Scene copy = scene.scene();
  change_recipe(copy.reduction, changes);
  check_reducible(copy);
  return copy;
}

ReduceSettings settings_of(const std::string& folder, int jobs, const std::vector<std::string>& program,
                           const std::optional<double>& rate_seconds) {
  ReduceSettings settings;
  settings.snapshots.folder = folder;
  settings.snapshots.jobs = jobs;
  settings.snapshots.program = program;
  settings.rate_seconds = rate_seconds.value_or(settings.rate_seconds);
  return settings;
}

nb::typed<nb::tuple, ReducedModel, Table, nb::str> reduce_scene(SceneOfPython& scene, const std::string& folder,
                                                                const RecipeChanges& changes, int jobs,
                                                                const std::vector<std::string>& program,
                                                                const std::optional<double>& rate_seconds,
                                                                nb::object callback, bool accept_errors,
                                                                bool keeps_folder) {
  Scene recipe = changed(scene, changes);
  const std::shared_ptr<const FullModel> built = scene.full();
  const FullModel& full = *built;
  ReduceSettings settings = settings_of(folder, jobs, program, rate_seconds);
  settings.fastest_solids = changes.solids == "fastest";
  Watch watch(std::move(callback));
  auto reduction = std::make_shared<Reduction>();
  std::string warning;
  try {
    const nb::gil_scoped_release unlocked;
    *reduction = reduce(recipe, full, settings, watch.progress());
  } catch (const Interrupted&) {
    watch.rethrow();
    throw;
  }
  watch.rethrow();  // of the last report
  ReduceReport& report = reduction->report;
  cli::note_failures(report);
  recipe.reduction.solids = reduction->solids;  // what helps depends on it
  const bool forced = report.forcible && accept_errors;
  if (forced) reduction->model.provenance.forced = report.refused;
  warning = cli::error_warning(reduction->model.errors, recipe.reduction);
  const Table json = table_of(cli::reduction_json(*reduction, warning));
  if (!report.refused.empty() && !forced)
    throw cli::refusal_of(report, recipe.reduction, keeps_folder ? folder : "",
                          "accept_errors=True returns this model all the same");
  std::shared_ptr<ReducedModel> model(reduction, &reduction->model);
  return nb::borrow<nb::typed<nb::tuple, ReducedModel, Table, nb::str>>(
      nb::make_tuple(model, json, unsettled_sweep(full, recipe.reduction)));
}

Table reduce_several(const SceneOfPython& scene, const std::string& folder, const std::string& work,
                     const std::optional<double>& error, const std::optional<int>& modes,
                     const std::optional<std::uint64_t>& seed, nb::object callback, bool accept_errors) {
  if (scene.several() == nullptr)
    throw InputError("this is a scene of one body", "supple.reduce(scene), which returns its model");
  const AssemblyScene& whole = *scene.several();
  WorldRecipe recipe = whole.reduction;
  recipe.error = error.value_or(recipe.error);
  recipe.max_modes = modes.value_or(recipe.max_modes);
  recipe.seed = seed.value_or(recipe.seed);
  Watch watch(std::move(callback));
  WorldReduction reduction;
  try {
    const nb::gil_scoped_release unlocked;
    reduction = reduce_world(whole, recipe, work, watch.progress());
  } catch (const Interrupted&) {
    watch.rethrow();
    throw;
  }
  watch.rethrow();
  if (!reduction.reached && !accept_errors)
    throw cli::refusal_of(reduction, recipe, "accept_errors=True writes them all the same");
  write_world(whole, reduction, folder);
  return table_of(cli::world_json(reduction));
}

}  // namespace

void bind_reduction(nb::module_& module) {
  nb::class_<RecipeChanges>(module, "RecipeChanges", "What is asked of a reduction beside its scene.")
      .def(nb::init<>())
      .def_rw("error", &RecipeChanges::error)
      .def_rw("tolerance", &RecipeChanges::tolerance)
      .def_rw("modes_tolerance", &RecipeChanges::modes_tolerance)
      .def_rw("modes", &RecipeChanges::modes)
      .def_rw("elements", &RecipeChanges::elements)
      .def_rw("solids", &RecipeChanges::solids)
      .def_rw("seed", &RecipeChanges::seed);
  module.def("reduce", &reduce_scene, nb::arg("scene"), nb::arg("folder"), nb::arg("changes"), nb::arg("jobs"),
             nb::arg("program"), nb::arg("rate_seconds").none(), nb::arg("callback").none(), nb::arg("accept_errors"),
             nb::arg("keeps_folder"), "See supple.reduce.");
  module.def("reduce_world", &reduce_several, nb::arg("scene"), nb::arg("folder"), nb::arg("work"),
             nb::arg("error").none(), nb::arg("modes").none(), nb::arg("seed").none(), nb::arg("callback").none(),
             nb::arg("accept_errors"), "See supple.reduce_world.");
  module.def(
      "expected_cost",
      [](SceneOfPython& scene, const std::string& folder, const RecipeChanges& changes, int jobs) {
        const Scene recipe = changed(scene, changes);
        const std::shared_ptr<const FullModel> built = scene.full();
        const FullModel& full = *built;
        const ReduceSettings settings = settings_of(folder, jobs, {}, std::nullopt);
        ReductionCost cost;
        {
          const nb::gil_scoped_release unlocked;
          cost = expected_cost(full, recipe, settings.snapshots, settings.rate_seconds);
        }
        Table json = table_of(cli::cost_json(cost));
        json["text"] = cli::cost_text(cost);
        return json;
      },
      nb::arg("scene"), nb::arg("folder"), nb::arg("changes"), nb::arg("jobs"), "See supple.expected_cost.");
}

}  // namespace supple::python
