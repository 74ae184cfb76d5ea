// Device instantiations of a step's own operations (kernels/step/row_ops.hpp, step_ops.hpp).

#include "kernels/step/step_ops.hpp"

#include "kernels/cuda/launch.cuh"
#include "kernels/step/row_ops.hpp"

namespace supple {

SUPPLE_LAUNCH(RowValuesOp);
SUPPLE_LAUNCH(PlaceOp);
SUPPLE_LAUNCH_TEAMS(CopyTeamOp);
SUPPLE_LAUNCH_TEAMS(ZeroTeamOp);
SUPPLE_LAUNCH_TEAMS(StepBackTeamOp);
SUPPLE_LAUNCH_TEAMS(PositionTeamOp);
SUPPLE_LAUNCH_TEAMS(MomentumTeamOp);
SUPPLE_LAUNCH_TEAMS(EndVelocityTeamOp);
SUPPLE_LAUNCH_TEAMS(ResidualTeamOp);
SUPPLE_LAUNCH_TEAMS(RightSidesTeamOp);
SUPPLE_LAUNCH_TEAMS(FreeMotionTeamOp);
SUPPLE_LAUNCH_TEAMS(SpaceTeamOp);
SUPPLE_LAUNCH_TEAMS(FusedSystemTeamOp<double>);
SUPPLE_LAUNCH_TEAMS(FusedSystemTeamOp<float>);
SUPPLE_LAUNCH_TEAMS(FindingTeamOp);
SUPPLE_LAUNCH_TEAMS(CorrectTeamOp);
SUPPLE_LAUNCH_TEAMS(FinishTeamOp);
SUPPLE_LAUNCH_TEAMS(ResidualSquaresTeamOp);
SUPPLE_LAUNCH_TEAMS(RowRatesTeamOp);
SUPPLE_LAUNCH_TEAMS(RowValuesSeenTeamOp);
SUPPLE_LAUNCH_TEAMS(ScaleRowsTeamOp);
SUPPLE_LAUNCH_TEAMS(GasRowsTeamOp);
SUPPLE_LAUNCH_TEAMS(SpringTeamOp);
SUPPLE_LAUNCH_TEAMS(StartForceTeamOp);

}  // namespace supple
