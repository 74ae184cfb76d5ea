#pragma once
// From files to a simulation: a robot, one beside it, or a recording of them.

#include <memory>
#include <string>
#include <vector>

#include "engine/model/changes.hpp"
#include "viewer/play/simulation.hpp"

namespace supple::view {

struct OpenRequest {
  std::string file, compare;  // file: see open_robot, or a recording; compare: "" = no robot beside
  SimulationSettings settings;
  ModelChanges changes = {};                                     // of both robots
  RecordingReader::Check check = RecordingReader::Check::whole;  // of a recording
};

// Throws InputError with place and remedy; for a recording also where its robot is missing or has changed, and where
// the request sets what the recording contains.
std::unique_ptr<Simulation> open_simulation(const OpenRequest& request);

}  // namespace supple::view
