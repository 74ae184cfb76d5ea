// Any bytes are a mesh or an InputError; a mesh that passes the check can be used.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "engine/mesh/boundary.hpp"
#include "engine/mesh/check.hpp"
#include "engine/mesh/embedding.hpp"
#include "engine/mesh/read.hpp"
#include "kernels/base/error.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    supple::Mesh mesh = supple::parse_mesh({reinterpret_cast<const char*>(data), size}, "fuzz");
    const auto report = supple::check_mesh(mesh);
    supple::boundary_surface(mesh);
    supple::Embedding(mesh).locate(report.lower);
  } catch (const supple::InputError&) {
  }
  return 0;
}
