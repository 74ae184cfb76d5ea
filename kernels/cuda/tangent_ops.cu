// Device instantiations of TangentOp (kernels/points/point_ops.hpp) for every law, in double and float.

#include "kernels/cuda/launch.cuh"
#include "kernels/materials/dispatch.hpp"
#include "kernels/points/point_ops.hpp"

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
SUPPLE_TANGENT(CorotationalMembrane);

}  // namespace supple
