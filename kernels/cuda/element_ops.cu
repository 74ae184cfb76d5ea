// Device instantiations of the ops of full models' elements (kernels/elements/element_ops.hpp); their stresses are in
// point_ops.cu.

#include "kernels/elements/element_ops.hpp"

#include "kernels/cuda/launch.cuh"
#include "kernels/materials/dispatch.hpp"

namespace supple {

SUPPLE_LAUNCH(GatherGradientOp<double>);
SUPPLE_LAUNCH(CornerForceOp<double>);
SUPPLE_LAUNCH(NodeForceOp<double>);
SUPPLE_LAUNCH(AssembleOp<double>);
SUPPLE_LAUNCH(FourRowStiffnessOp<double>);

// The laws without the four-row form.
#define SUPPLE_ELEMENT_STIFFNESS(...) SUPPLE_LAUNCH(ElementStiffnessOp<__VA_ARGS__, double>)

SUPPLE_ELEMENT_STIFFNESS(StVenantKirchhoff);
SUPPLE_ELEMENT_STIFFNESS(StableNeoHookean);
SUPPLE_ELEMENT_STIFFNESS(MooneyRivlin);
SUPPLE_ELEMENT_STIFFNESS(Yeoh);
SUPPLE_ELEMENT_STIFFNESS(Gent);
SUPPLE_ELEMENT_STIFFNESS(Ogden);
SUPPLE_ELEMENT_STIFFNESS(CorotationalMembrane);
SUPPLE_ELEMENT_STIFFNESS(Fibres);
SUPPLE_ELEMENT_STIFFNESS(Rod);

}  // namespace supple
