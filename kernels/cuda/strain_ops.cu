// Device instantiations of kernels/elements/strain_ops.hpp.

#include "kernels/elements/strain_ops.hpp"

#include "kernels/cuda/launch.cuh"

namespace supple {

#define SUPPLE_STRAINS(S)          \
  SUPPLE_LAUNCH(StrainOp<S>);      \
  SUPPLE_LAUNCH(StrainForceOp<S>); \
  SUPPLE_LAUNCH_TEAMS(GeometricShareTeamOp<S>)

SUPPLE_LAUNCH(StrainMagnitudeOp);
SUPPLE_STRAINS(double);
SUPPLE_STRAINS(float);

}  // namespace supple
