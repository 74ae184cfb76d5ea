#pragma once
// The page of a robot with what it (runtime/web/page.mjs) shows beside the model: names, ranges, cables, obstacles.

#include <string>

#include "engine/model/reduced_model.hpp"

namespace supple::cli {

/// web_page() of a model. Throws as that does.
std::string robot_page(const ReducedModel& model);

}  // namespace supple::cli
