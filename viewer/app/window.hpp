#pragma once
// The window (GLFW): its input handed to the App, its pictures shown, until it is closed.

#include "viewer/app/app.hpp"

namespace supple::view {

// Throws CapabilityError: no display, no OpenGL 3.3.
void show_window(const OpenRequest& request);

}  // namespace supple::view
