#include "kernels/base/version.hpp"

namespace supple {

const char* version() {
  return SUPPLE_VERSION;
}

}  // namespace supple
