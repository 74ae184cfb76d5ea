#pragma once
// The window (GLFW): its input handed to the App, its pictures shown, until it is closed.

#include <functional>

#include "viewer/app/app.hpp"

namespace supple::view {

// Until it is closed, or `stop` is true; then films and recordings are finished. Throws CapabilityError: no display, no
// OpenGL 3.3.
void show_window(const OpenRequest& request, const std::function<bool()>& stop);

}  // namespace supple::view
