#pragma once
// The report of a run of inverse control.

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "engine/run/inverse_run.hpp"
#include "kernels/array/device.hpp"

namespace supple::cli {

struct Context;

struct InverseOutcome {
  const Robot& robot;
  const ReducedModel* reduced = nullptr;  // null: full
  Device device = cpu();
  const DriveSettings& settings;
  const InverseSettings& inverse;
  const InverseReportOfRun& report;
  const ReplayRecord& replayed;
  bool has_replay = false;
  const State& state;
  const std::vector<FailedRobot>& failures;
  std::string output, record;  // folder of results, file of a recording; "": none
  std::string pictures;        // a note on them
};

// The report of --json; print_inverse prints it as text.
nlohmann::ordered_json inverse_json(const Context& context, const InverseOutcome& of);
void print_inverse(const InverseOutcome& of);

}  // namespace supple::cli
