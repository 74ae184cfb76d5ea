#pragma once
// The integrators by the words of scene files.

#include <string>
#include <vector>

#include "engine/scene/scene.hpp"

namespace supple {

// In the order of the enumeration.
const std::vector<std::string>& integrator_names();
std::string integrator_name(Integrator integrator);
// Throws InputError.
Integrator integrator_of(const std::string& name);

}  // namespace supple
