// Device instantiations of the operations of contact (kernels/contact/contact_*.hpp): most of the time of nvcc.

#include "kernels/contact/contact_ops.hpp"

#include "kernels/contact/contact_solve_op.hpp"
#include "kernels/cuda/launch.cuh"

namespace supple {

SUPPLE_LAUNCH_TEAMS(ContactRowsTeamOp);
SUPPLE_LAUNCH_TEAMS(ContactSolveTeamOp);
SUPPLE_LAUNCH(ContactForcesOp);

}  // namespace supple
