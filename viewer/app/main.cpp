// supple-view: what `supple view` and `supple render` start.

#include <filesystem>

#include "engine/cli/shell/early_start.hpp"
#include "engine/cli/shell/interrupt.hpp"
#include "engine/cli/shell/program.hpp"
#include "engine/cli/verbs/view.hpp"
#include "kernels/base/error.hpp"
#include "viewer/app/render.hpp"
#include "viewer/app/window.hpp"

namespace {

// A robot to begin with: of the installed ones, or of the source tree that this program was built in.
std::string bundled_robot() {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::path here = fs::read_symlink("/proc/self/exe", error).parent_path();
  for (const fs::path& folder : {here / "../share/supple/assets", here / "../../assets", fs::path("assets")})
    if (fs::exists(folder / "diamond/scene.toml", error)) return (folder / "diamond").lexically_normal().string();
  throw supple::InputError("there is no robot beside this program to begin with", "supple view FILE");
}

int view(supple::cli::Context& context, supple::cli::ViewArguments arguments) {
  if (!context.common.json.empty())
    throw supple::InputError("`supple view` measures nothing that --json could hold", "supple render, run or inverse");
  if (arguments.file.empty()) arguments.file = bundled_robot();
  const supple::view::OpenRequest request = supple::view::open_request(context, arguments);
  const supple::cli::InterruptGuard guard;  // Ctrl-C closes the window
  supple::view::show_window(request, supple::cli::interrupted);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return supple::cli::run_program(argc, argv,
                                  {supple::cli::view_command(view), supple::cli::render_command(supple::view::render)});
}
