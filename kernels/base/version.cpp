#include "kernels/base/version.hpp"

namespace supple {

const char* version() {
  return SUPPLE_VERSION;
}
const char* build_type() {
  return SUPPLE_BUILD_TYPE;
}

}  // namespace supple
