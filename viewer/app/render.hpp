#pragma once
// supple render: pictures and films without a display.

#include "engine/cli/verbs/view.hpp"
#include "viewer/app/document.hpp"

namespace supple::view {

int render(cli::Context& context, const cli::RenderArguments& arguments);

// What `view` and `render` have in common. Throws InputError.
OpenRequest open_request(const cli::Context& context, const cli::ViewArguments& arguments);

}  // namespace supple::view
