// Device instantiations of the ops of training data (kernels/elements/training_ops.hpp).

#include "kernels/elements/training_ops.hpp"

#include "kernels/cuda/launch.cuh"

namespace supple {

SUPPLE_LAUNCH(UnitForceOp);
SUPPLE_LAUNCH(SketchOp);

}  // namespace supple
