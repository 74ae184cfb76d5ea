#pragma once
// From the run-time name of a law to its type, outside of every loop.

#include "kernels/materials/corotational.hpp"
#include "kernels/materials/corotational_membrane.hpp"
#include "kernels/materials/fibres.hpp"
#include "kernels/materials/gent.hpp"
#include "kernels/materials/mooney_rivlin.hpp"
#include "kernels/materials/ogden.hpp"
#include "kernels/materials/rod.hpp"
#include "kernels/materials/st_venant_kirchhoff.hpp"
#include "kernels/materials/stable_neo_hookean.hpp"
#include "kernels/materials/yeoh.hpp"

namespace supple {

enum class LawId {
  corotational,             // rotation = polar factor of F
  corotational_edge_frame,  // SOFA's "large"
  corotational_edge_polar,  // SOFA's "polar"
  st_venant_kirchhoff,
  stable_neo_hookean,
  mooney_rivlin,
  corotational_membrane,
  yeoh,
  gent,
  ogden,
  fibres,
  rod,
};
inline constexpr LawId last_law = LawId::rod;

// Which part of a law a field has. Energies are linear in lambda (corotational, St. Venant-Kirchhoff, stable
// neo-Hookean) or in D (the others), so that a law is the sum of one with less of it, at the points of an element,
// and one with nothing but the excess, at the element's mean deformation gradient.
enum class LawPart { whole, points, mean };

// Laws of triangles: they read the frame of a point, and only what F does in its plane.
constexpr bool membrane_law(LawId id) {
  return id == LawId::corotational_membrane || id == LawId::fibres;
}

// Laws of solids have a shear and a bulk modulus at rest.
template <class Law>
inline constexpr bool solid_law = requires {
  Law::volumetric;
};

// Whether the law's tangent has the four-row form (corotational.hpp).
template <class Law>
inline constexpr bool four_rows_law = requires {
  Law::template four_rows<double>;
};

template <class Visitor>
constexpr decltype(auto) visit_law(LawId id, Visitor&& visitor) {
  switch (id) {
    case LawId::corotational:
      return visitor(Corotational<PolarOfGradient>{});
    case LawId::corotational_edge_frame:
      return visitor(Corotational<EdgeFrame>{});
    case LawId::corotational_edge_polar:
      return visitor(Corotational<PolarOfEdges>{});
    case LawId::st_venant_kirchhoff:
      return visitor(StVenantKirchhoff{});
    case LawId::stable_neo_hookean:
      return visitor(StableNeoHookean{});
    case LawId::corotational_membrane:
      return visitor(CorotationalMembrane{});
    case LawId::fibres:
      return visitor(Fibres{});
    case LawId::rod:
      return visitor(Rod{});
    case LawId::yeoh:
      return visitor(Yeoh{});
    case LawId::gent:
      return visitor(Gent{});
    case LawId::ogden:
      return visitor(Ogden{});
    case LawId::mooney_rivlin:
      break;
  }
  return visitor(MooneyRivlin{});
}

constexpr bool solid(LawId id) {
  return visit_law(id, [](auto law) { return solid_law<decltype(law)>; });
}

// Of the absolute values of its moduli [Pa].
template <class Law, class S>
SUPPLE_INLINE S sum_of_moduli(const MaterialParameters<S>& m) {
  S sum = 0;
  for (int i = 0; i < Law::parameters; ++i)
    if ((Law::moduli >> i & 1u) != 0) sum += m.p[i] < 0 ? -m.p[i] : m.p[i];
  return sum;
}
template <class S>
S sum_of_moduli(LawId id, const MaterialParameters<S>& m) {
  return visit_law(id, [&](auto law) { return sum_of_moduli<decltype(law)>(m); });
}

}  // namespace supple
