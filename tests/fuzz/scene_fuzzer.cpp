// Any text is either a scene or an InputError, and a scene survives writing and reading.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "engine/scene/reader.hpp"
#include "engine/scene/writer.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    const supple::Scene scene = supple::parse_scene(text, "fuzz.toml");
    if (!(supple::parse_scene(supple::write_scene(scene), "fuzz.toml") == scene)) std::abort();
  } catch (const supple::InputError& error) {
    if (error.report().empty()) std::abort();
  }
  return 0;
}
