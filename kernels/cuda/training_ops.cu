// Device instantiations of the ops of training data (kernels/points/training_ops.hpp).

#include "kernels/points/training_ops.hpp"

#include "kernels/cuda/launch.cuh"

namespace supple {

SUPPLE_LAUNCH(UnitForceOp);
SUPPLE_LAUNCH(SketchOp);

}  // namespace supple
