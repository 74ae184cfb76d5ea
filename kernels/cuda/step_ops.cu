// Device instantiations of a step's own operations (kernels/points/row_ops.hpp, step_ops.hpp, contact_*.hpp).

#include "kernels/points/step_ops.hpp"

#include "kernels/cuda/launch.cuh"
#include "kernels/points/contact_solve_op.hpp"
#include "kernels/points/row_ops.hpp"

namespace supple {

SUPPLE_LAUNCH(RowValuesOp);
SUPPLE_LAUNCH(RightSidesOp);
SUPPLE_LAUNCH(SpaceOp);
SUPPLE_LAUNCH(FindingOp);
SUPPLE_LAUNCH_TEAMS(FusedSystemTeamOp<double>);
SUPPLE_LAUNCH_TEAMS(FusedSystemTeamOp<float>);
SUPPLE_LAUNCH(MoveOp);
SUPPLE_LAUNCH(PlaceOp);
SUPPLE_LAUNCH_TEAMS(ContactRowsTeamOp);
SUPPLE_LAUNCH_TEAMS(ContactSolveTeamOp);
SUPPLE_LAUNCH(ContactMoveOp);
SUPPLE_LAUNCH(ContactForcesOp);

}  // namespace supple
