#pragma once
// What `simulate` and `run` share: options, commands over time, results, saving, resuming, the report. A verb reads its
// model between plan_session and perform.

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "engine/cli/contact_facts.hpp"
#include "engine/cli/drive.hpp"
#include "engine/cli/result_folder.hpp"
#include "engine/cli/shape_writer.hpp"

namespace supple::cli {

class Options;
struct Context;

struct SessionArguments {
  std::string model;  // positional: scene or model file
  std::string actuation, integrator, output, resume, record;
  std::vector<std::string> assignments;
  std::optional<long> steps, every;
  std::optional<double> duration, time_step, keep_tangent;
  bool settle = false;
  bool sweep = false;
};
// For the help: `owner` of the integrator and the time step ("scene"), `duration` where nothing else says it.
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
};
// Refuses what does not go together, and a folder with results (unless --force). Throws InputError.
SessionPlan plan_session(const Context& context, const SessionArguments& arguments, const std::string& verb,
                         const std::string& what);

// What runs.
struct Subject {
  Mechanics& mechanics;
  std::string verb, name;
  std::string file;               // for resuming
  std::uint64_t fingerprint = 0;  // see SavedRun
  double duration = 1;            // s, where nothing else says it
  WriteShape write_shape;         // empty: no shapes
  SkinOf skin;                    // for robots among obstacles
  const ReducedModel* reduced = nullptr;
};

struct SessionResult {
  DriveReport report;
  DriveSettings settings;  // also {integrator, time_step} in force
  std::vector<double> times, values;
  State state;
  ContactRecord contact;  // the skin's gap is looked at at every K-th step and the last
};

// `settings` holds the model's integrator and time step, already overridden by the plan. A failed step is a RunError,
// Ctrl-C is Interrupted with the state saved. `after` (may be empty) sees each step.
SessionResult perform(const Context& context, const SessionArguments& arguments, SessionPlan& plan,
                      const Subject& subject, DriveSettings settings,
                      const std::function<void(long, const State&)>& after = {});

// The keys of the contract; print_session says it to people.
nlohmann::ordered_json session_json(const Context& context, const SessionResult& result, const std::string& device);
void print_session(const SessionPlan& plan, const Subject& subject, const SessionResult& result);

// The commands of a session, for running another model along with it.
Actuation session_actuation(const SessionResult& result, const Robot& robot);

}  // namespace supple::cli
