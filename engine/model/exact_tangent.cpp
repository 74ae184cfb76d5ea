// A file of its own: of element_fields.hpp the runtime needs nothing else.
#include "engine/model/element_fields.hpp"
#include "kernels/materials/dispatch.hpp"
#include "kernels/materials/tangent_change.hpp"

namespace supple {

bool has_exact_tangent(LawId law) {
  return visit_law(law, [](auto type) { return exact_tangent_law<decltype(type)>; });
}

}  // namespace supple
