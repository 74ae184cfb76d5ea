#pragma once
// What `simulate` and `run` share: options, commands over time, results, saving, resuming, the report. A verb reads its
// model between plan_session and perform.

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "engine/cli/reports/contact_facts.hpp"
#include "engine/cli/reports/shape_writer.hpp"
#include "engine/model/changes.hpp"
#include "engine/model/full_model.hpp"
#include "engine/run/forward_run.hpp"
#include "kernels/array/device.hpp"

namespace supple::cli {

class Options;
struct Context;

struct SessionArguments {
  std::string model;  // positional: scene or model file
  std::string actuation, integrator, output, resume, record;
  std::vector<std::string> assignments;
  ModelChanges changes;
  std::optional<long> steps, every, batch, record_robot;
  std::optional<double> duration, time_step, keep_tangent;
  bool settle = false;
  bool sweep = false;
  bool stream = false;  // --stdin
};
// For the help: `owner` of the integrator and the time step ("scene"), `duration`: its default.
void declare_session(Options& options, SessionArguments& arguments, const std::string& owner,
                     const std::string& duration);

// What can be known before the model is read.
struct SessionPlan {
  std::string model;
  std::optional<std::string> integrator;  // where not the model's
  std::optional<double> time_step;        // s
  std::optional<SavedRun> saved;
  std::string folder;  // of results; "" = none
  std::string record;  // file of a recording; "" = none
  int record_robot = 0;
  // Of perform():
  long last = 0;             // step of the run
  bool step_failed = false;  // of its one robot, which is why it threw
};
// Throws InputError for options that do not go together, and for a folder with results (unless --force).
SessionPlan plan_session(const Context& context, const SessionArguments& arguments, const std::string& verb,
                         const std::string& what);

// Throws InputError for --settle of materials without an exact tangent.
void check_settle(const SessionArguments& arguments, const FullModel& model);

// What runs.
struct Subject {
  const MechanicsTeam& team;
  std::string verb, name;
  std::string file;               // for resuming
  std::uint64_t fingerprint = 0;  // see SavedRun
  double duration = 1;            // s, the default
  WriteShape write_shape;         // empty: no shapes
  SkinOf skin;                    // for robots in contact with obstacles
  const ReducedModel* reduced = nullptr;
  Device device = cpu();  // a GPU: of a reduced model
};

struct SessionResult {
  DriveReport report;
  DriveSettings settings;  // also {integrator, time_step} in force
  std::vector<double> times, values;
  State state;
  ContactRecord contact;
  std::vector<FailedRobot> failures;  // of a batch
  std::vector<double> sensors;        // readings after the last step, SI
};

// `settings` holds the model's integrator and time step, already overridden by the plan. A failed step of one robot is
// a RunError, Ctrl-C is Interrupted with the state saved. Robots of a batch fail alone: throw_failures, after the
// report. `after` (may be empty) sees each step.
SessionResult perform(const Context& context, const SessionArguments& arguments, SessionPlan& plan,
                      const Subject& subject, DriveSettings settings,
                      const std::function<void(long, const State&)>& after = {});

inline constexpr const char* stream_words =
    "\n--stdin reads one JSON object a line, {\"commands\": {\"north\": 0.01}} in SI units, takes one step under "
    "these\n"
    "commands and answers with one line: time, commands, forces, what the effectors reached, readings of sensors,\n"
    "contacts, and the number of commands that were cut to their range or rate. Inputs that are not named keep their "
    "last value, at\n"
    "first zero or that of --set; \"reset\": true returns to the start.\n";
// In place of perform for --stdin: each line of standard input is a step, answered by a line (stream.hpp).
int converse(const Context& context, const SessionArguments& arguments, const SessionPlan& plan, const Subject& subject,
             DriveSettings settings);

// The report of --json; print_session prints it as text.
nlohmann::ordered_json session_json(const Context& context, const Subject& subject, const SessionResult& result);
void print_session(const SessionPlan& plan, const Subject& subject, const SessionResult& result);

// RunError if robots of a batch failed.
void throw_failures(const SessionPlan& plan, const SessionResult& result);

// The commands of a session, for running another model along with it.
Actuation session_actuation(const SessionResult& result, const Robot& robot);

}  // namespace supple::cli
