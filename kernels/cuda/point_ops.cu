// Device instantiations of StressOp and StressFourRowOp (kernels/elements/point_ops.hpp), in double and float.

#include "kernels/elements/point_ops.hpp"

#include "kernels/cuda/launch.cuh"
#include "kernels/materials/dispatch.hpp"

namespace supple {

#define SUPPLE_STRESS(...)                      \
  SUPPLE_LAUNCH(StressOp<__VA_ARGS__, double>); \
  SUPPLE_LAUNCH(StressOp<__VA_ARGS__, float>)

SUPPLE_STRESS(Corotational<PolarOfGradient>);
SUPPLE_STRESS(Corotational<EdgeFrame>);
SUPPLE_STRESS(Corotational<PolarOfEdges>);
SUPPLE_STRESS(StVenantKirchhoff);
SUPPLE_STRESS(StableNeoHookean);
SUPPLE_STRESS(MooneyRivlin);
SUPPLE_STRESS(Yeoh);
SUPPLE_STRESS(Gent);
SUPPLE_STRESS(Ogden);
SUPPLE_STRESS(CorotationalMembrane);
SUPPLE_STRESS(Fibres);
SUPPLE_STRESS(Rod);

#define SUPPLE_FOUR_ROWS(...)                          \
  SUPPLE_LAUNCH(StressFourRowOp<__VA_ARGS__, double>); \
  SUPPLE_LAUNCH(StressFourRowOp<__VA_ARGS__, float>)

SUPPLE_FOUR_ROWS(Corotational<PolarOfGradient>);
SUPPLE_FOUR_ROWS(Corotational<EdgeFrame>);
SUPPLE_FOUR_ROWS(Corotational<PolarOfEdges>);

}  // namespace supple
