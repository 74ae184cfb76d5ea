// A file of its own: of element_fields.hpp the runtime needs nothing else.
#include "engine/model/element_fields.hpp"

namespace supple {

bool has_exact_tangent(LawId law) {
  return law != LawId::corotational_edge_frame && law != LawId::corotational_edge_polar;
}

}  // namespace supple
