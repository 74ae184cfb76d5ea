// Device instantiations of TangentOp (kernels/elements/point_ops.hpp) for every law, in double and float.

#include "kernels/cuda/launch.cuh"
#include "kernels/elements/point_ops.hpp"
#include "kernels/materials/dispatch.hpp"

namespace supple {

#define SUPPLE_TANGENT(...)                      \
  SUPPLE_LAUNCH(TangentOp<__VA_ARGS__, double>); \
  SUPPLE_LAUNCH(TangentOp<__VA_ARGS__, float>)

SUPPLE_TANGENT(Corotational<PolarOfGradient>);
SUPPLE_TANGENT(Corotational<EdgeFrame>);
SUPPLE_TANGENT(Corotational<PolarOfEdges>);
SUPPLE_TANGENT(StVenantKirchhoff);
SUPPLE_TANGENT(StableNeoHookean);
SUPPLE_TANGENT(MooneyRivlin);
SUPPLE_TANGENT(Yeoh);
SUPPLE_TANGENT(Gent);
SUPPLE_TANGENT(Ogden);
SUPPLE_TANGENT(CorotationalMembrane);
SUPPLE_TANGENT(Fibres);
SUPPLE_TANGENT(Rod);

}  // namespace supple
