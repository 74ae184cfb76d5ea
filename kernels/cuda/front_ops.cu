// Device instantiations of the ops on fronts (kernels/fronts/front_factor_ops.hpp, front_solve_ops.hpp).

#include "kernels/cuda/launch.cuh"
#include "kernels/fronts/front_factor_ops.hpp"
#include "kernels/fronts/front_solve_ops.hpp"

namespace supple {

SUPPLE_LAUNCH(FrontUpdateOp);
SUPPLE_LAUNCH(FrontDiagonalOp);
SUPPLE_LAUNCH(FrontRowsOp);
SUPPLE_LAUNCH(FrontStatusOp);

#define SUPPLE_SUBSTITUTION(R)         \
  SUPPLE_LAUNCH(ForwardGatherOp<R>);   \
  SUPPLE_LAUNCH(ForwardDiagonalOp<R>); \
  SUPPLE_LAUNCH(ForwardRowsOp<R>);     \
  SUPPLE_LAUNCH(BackwardColumnOp<R>);  \
  SUPPLE_LAUNCH(BackwardDiagonalOp<R>)

SUPPLE_SUBSTITUTION(1);
SUPPLE_SUBSTITUTION(6);  // batch_right_sides

}  // namespace supple
