// Device instantiations of the operations of contact (kernels/points/contact_*.hpp): most of the time of nvcc.

#include "kernels/points/contact_ops.hpp"

#include "kernels/cuda/launch.cuh"
#include "kernels/points/contact_solve_op.hpp"

namespace supple {

SUPPLE_LAUNCH_TEAMS(ContactRowsTeamOp);
SUPPLE_LAUNCH_TEAMS(ContactSolveTeamOp);
SUPPLE_LAUNCH(ContactMoveOp);
SUPPLE_LAUNCH(ContactForcesOp);

}  // namespace supple
