#pragma once
// The k-th member of a strided batch, for routines that want one address each.

#include <cstddef>

#include "kernels/base/macros.hpp"

namespace supple {

struct AddressOp {
  std::byte* data;
  std::ptrdiff_t stride;  // bytes
  std::byte** addresses;
  SUPPLE_HD void operator()(int k) const { addresses[k] = data + k * stride; }
};

}  // namespace supple
