#pragma once
// What a recording holds, beside scene_facts.hpp. Reads all of it: a damaged one is an InputError.

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "engine/cli/reports/table.hpp"
#include "engine/io/recording.hpp"

namespace supple::cli {

struct RecordingSummary {
  std::string file;
  RecordingFacts facts;
  std::optional<std::string> robot, beside;  // where they are now; none: not to be found
  long frames = 0;
  double first_time = 0, last_time = 0;  // s
  std::size_t unknowns = 0, actuators = 0, motions = 0, effectors = 0;
  // Frames in which commands were found for goals, the last commands held, a limit held the robot back, a hand pulled.
  long inverse = 0, held = 0, saturated = 0, pulled = 0;
};

RecordingSummary summarise_recording(const std::string& path);
Facts recording_facts(const RecordingSummary& summary);
nlohmann::ordered_json recording_json(const RecordingSummary& summary);

}  // namespace supple::cli
