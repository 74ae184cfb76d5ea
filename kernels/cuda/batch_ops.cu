// Device instantiations of the batch's operations (kernels/elements/batch_ops.hpp), in double and float.

#include "kernels/elements/batch_ops.hpp"

#include "kernels/cuda/launch.cuh"
#include "kernels/elements/point_stiffness.hpp"

namespace supple {

SUPPLE_LAUNCH(PointCountOp);
SUPPLE_LAUNCH(NoPointsOp);
SUPPLE_LAUNCH(MassRepeatOp);
SUPPLE_LAUNCH(DensityOp);
SUPPLE_LAUNCH(SystemReportOp);
SUPPLE_LAUNCH(IndefiniteReportOp);
SUPPLE_LAUNCH(SpringMagnitudeOp);
SUPPLE_LAUNCH(PointMagnitudeOp);
SUPPLE_LAUNCH(ForceScaleOp);
SUPPLE_LAUNCH(AddOp);
SUPPLE_LAUNCH(CastOp<double, float>);
SUPPLE_LAUNCH(CastOp<float, double>);

#define SUPPLE_BATCH(...)                                                      \
  SUPPLE_LAUNCH(RepeatOp<__VA_ARGS__>);                                        \
  SUPPLE_LAUNCH(SystemOp<__VA_ARGS__>);                                        \
  SUPPLE_LAUNCH(DampingOp<__VA_ARGS__>);                                       \
  SUPPLE_LAUNCH(PointStiffnessOp<__VA_ARGS__>);                                \
  SUPPLE_LAUNCH(StiffnessSumOp<__VA_ARGS__>);                                  \
  SUPPLE_LAUNCH_TEAMS(ReducedStiffnessTeamOp<__VA_ARGS__, TangentRows::four>); \
  SUPPLE_LAUNCH_TEAMS(ReducedStiffnessTeamOp<__VA_ARGS__, TangentRows::nine>)

SUPPLE_BATCH(double);
SUPPLE_BATCH(float);

}  // namespace supple
