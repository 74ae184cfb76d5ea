#pragma once
// A run of inverse control of one robot or a batch along a path of goals, with its output: a record, a recording, and
// the state that it is resumed from.

#include "engine/run/inverse_record.hpp"
#include "engine/run/inverse_saved.hpp"
#include "engine/run/run_recorder.hpp"
#include "engine/run/sensor_readings.hpp"

namespace supple {

struct InverseRun {
  RobotSteps& robots;
  InverseAnswers& answers;  // the same object
  const Robot& robot;
  const ReducedModel* model = nullptr;  // null: full
  const GoalPath& path;
  DriveSettings settings;
  std::string folder;  // where it is saved; "": nowhere
  RunRecorder& recorder;
  Note note;
  std::uint64_t sensor_seed = default_sensor_seed;
};

/// Continues a saved run; `saved`: the data that read_saved_inverse returned.
void take_up(const SavedInverse& saved, InverseRun& run);
/// Steps saved.report.drive.step to the last of the settings, each added to saved.report (at first empty). A run that
/// cannot be saved continues, with a note.
void run_inverse(InverseRun& run, const Progress& progress, SavedInverse& saved);
/// Writes the state that the run is resumed from to the folder, if there is one.
void save_inverse(const InverseRun& run, SavedInverse& saved);

}  // namespace supple
