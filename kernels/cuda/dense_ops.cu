// Device instantiations of single operations of dense algebra (kernels/dense).

#include "kernels/array/addresses.hpp"
#include "kernels/cuda/launch.cuh"
#include "kernels/dense/ldlt.hpp"
#include "kernels/dense/rotate_rows.hpp"

namespace supple {

SUPPLE_LAUNCH(AddressOp);
SUPPLE_LAUNCH(RotateRowsOp);
SUPPLE_LAUNCH_TEAMS(LdltFactorTeamOp);
SUPPLE_LAUNCH_TEAMS(LdltSolveTeamOp);

}  // namespace supple
