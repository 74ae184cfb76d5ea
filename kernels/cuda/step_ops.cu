// Device instantiations of a step's own operations (kernels/step/row_ops.hpp, step_ops.hpp).

#include "kernels/step/step_ops.hpp"

#include "kernels/cuda/launch.cuh"
#include "kernels/step/row_ops.hpp"

namespace supple {

SUPPLE_LAUNCH(RowValuesOp);
SUPPLE_LAUNCH(RightSidesOp);
SUPPLE_LAUNCH(SpaceOp);
SUPPLE_LAUNCH(FindingOp);
SUPPLE_LAUNCH_TEAMS(FusedSystemTeamOp<double>);
SUPPLE_LAUNCH_TEAMS(FusedSystemTeamOp<float>);
SUPPLE_LAUNCH(MoveOp);
SUPPLE_LAUNCH(PlaceOp);

}  // namespace supple
