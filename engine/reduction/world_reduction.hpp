#pragma once
// The parts of a scene of several bodies reduced in the world that they live in: equilibria of the whole under samples
// of all of its inputs, or its motion along given commands, in contact; from what each kind of part did in them its
// modes and elements, and from where it was touched contact modes; the errors of the whole with reduced parts against
// the full one on unseen samples, or along unseen variations of the commands. Parts of one kind have the same scene
// file: the states of all of them train one model.

#include <algorithm>
#include <string>
#include <vector>

#include "engine/mechanics/assembly/assembly_robot.hpp"
#include "engine/model/reduced_model.hpp"
#include "engine/reduction/validate.hpp"

namespace supple {

/// What one choice of modes and elements is worth.
struct WorldRow {
  std::vector<int> modes, elements;  // of each kind
  double modes_tolerance = 0, elements_tolerance = 0, contact_share = 0;
  ErrorSummary errors;
  /// Of the forces between bodies (the root of the sum of squares over pairs), of their mean while something touches; 0
  /// where nothing does.
  double force_mean = 0, force_max = 0;
  /// What is compared with the error asked for: the mean at the effectors or in shape, whichever is larger.
  double error() const { return std::max(errors.goal_mean, errors.shape_mean); }
};

/// Name of the set of errors (ErrorSummary::sets) that models trained along commands have: of the forces between bodies.
inline constexpr const char* forces_along_commands = "force between bodies";

struct WorldReduction {
  /// One model for each kind, in the order in which the scene first has them, and the scene with these: files
  /// `kinds[k].file` in a folder.
  struct Kind {
    std::string scene;  // file of the part's scene
    std::string file;   // name of its model's file
    ReducedModel model;
  };
  std::vector<Kind> kinds;
  std::vector<WorldRow> rows;  // one for each round
  int taken = 0;               // the round whose models these are
  const WorldRow& row() const { return rows[static_cast<std::size_t>(taken)]; }
  int states = 0, failed_states = 0;
  Rate full, reduced;
  double seconds = 0;
  std::vector<std::string> notes;
  bool reached = false;  // the errors asked for
};

/// Throws InputError for scenes whose parts cannot be reduced so: none is full, one floats freely or has prescribed
/// motions of its own; without actuation: the whole has obstacles, an input has no range, bodies come to rest in ways that depend
/// on how they got there.
void check_world(const AssemblyRobot& robot, const WorldRecipe& recipe);

/// folder: where models are written to be tried, and stay. Throws RunError, Interrupted.
WorldReduction reduce_world(const AssemblyScene& scene, const WorldRecipe& recipe, const std::string& folder,
                            const Progress& progress);

/// Writes the models and scene.toml, the scene with reduced parts, which includes the scene's own file. The folder is made
/// if it is not there. Throws RunError.
void write_world(const AssemblyScene& scene, const WorldReduction& reduction, const std::string& folder);

}  // namespace supple
