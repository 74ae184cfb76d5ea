#pragma once
// A robot as a page for a browser: one HTML file with the runtime (runtime/web), the model and what it shows, which
// needs no server and no other file.

#include <string>

#include "engine/model/reduced_model.hpp"

namespace supple {

/// Modes of the skin are rounded by at most their largest entry over this: for display, and half the size of the page.
inline constexpr double skin_steps = 4096;

/// The page. `facts`: a JSON object for runtime/web/page.mjs. The model has the numbers of a runtime file but for the
/// modes of its skin, which are rounded. Throws CapabilityError in a build without SUPPLE_PAGE.
std::string web_page(const ReducedModel& model, const std::string& facts);

}  // namespace supple
