#pragma once
// A forward run of one robot or a batch with its output: results, a recording, and the state that it is resumed from.

#include "engine/io/saved_run.hpp"
#include "engine/run/contact_record.hpp"
#include "engine/run/drive.hpp"
#include "engine/run/mechanics_team.hpp"
#include "engine/run/result_folder.hpp"
#include "engine/run/run_recorder.hpp"

namespace supple {

struct ForwardRun {
  RobotSteps& robots;
  const Robot& robot;
  std::string name;
  const ReducedModel* model = nullptr;  // null: full
  DriveSettings settings;
  SavedRun about;          // the run, all but state, steps done and failures
  std::string folder;      // of results; "": none
  bool goes_on = false;    // from what was saved
  WriteShape write_shape;  // for results of one robot
  SkinOf skin;             // for one robot in contact with obstacles
  RunRecorder& recorder;
  std::function<void(long step, const State& state)> after;  // sees each step; may be empty
};

struct ForwardResult {
  DriveReport report;
  std::vector<double> sensors;  // readings after the last step [robots x numbers], SI
  ContactRecord contact;        // the skin's gap is looked at at every K-th step and the last
  std::string folder;           // of results, or of the state of an interrupted run that has none
};

/// An interrupted run has its state saved, in a new folder NAME-interrupted if it has no other. Throws InputError or
/// RunError where results cannot be written, with the state saved if that can be.
ForwardResult run_forward(ForwardRun& run, const Progress& progress);

SavedFailures saved_failures(const std::vector<FailedRobot>& failures);
std::vector<FailedRobot> read_failures(const SavedFailures& saved);

}  // namespace supple
