#pragma once
// A run of inverse control of one robot or a batch along a path of goals, with all that is kept of it: a record, a
// recording, what it is continued from.

#include "engine/run/inverse_record.hpp"
#include "engine/run/inverse_saved.hpp"
#include "engine/run/run_recorder.hpp"

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
};

// Takes up a run that was saved: `saved` is what is there (read_saved_inverse).
void take_up(const SavedInverse& saved, InverseRun& run);
// Steps saved.report.drive.step to the last of the settings, each added to saved.report (at first empty). A run that
// cannot be saved continues, with a note.
void run_inverse(InverseRun& run, const Progress& progress, SavedInverse& saved);
// What `saved` is continued from, to the folder, if there is one.
void save_inverse(const InverseRun& run, SavedInverse& saved);

}  // namespace supple
