#pragma once
// View<T, N>: N indices, the last one without gaps, over memory that somebody else owns: H(b, i, k), or H.at(b, i) for
// the address of what the remaining indices count. Indices are checked in builds with contracts. A view travels to a
// device by value.

#include <cstddef>

#include "kernels/base/contract.hpp"
#include "kernels/base/macros.hpp"

namespace supple {

template <class T, int N>
struct View {
  static_assert(N >= 1 && N <= 4);
  T* data = nullptr;
  int size[N] = {};

  View() = default;
  template <class... Sizes>
  SUPPLE_INLINE View(T* begin, Sizes... sizes) : data(begin), size{sizes...} {
    static_assert(sizeof...(Sizes) == N);
  }
  // Of what may be written as something to read.
  template <class U>
  SUPPLE_INLINE View(const View<U, N>& other) : data(other.data) {
    for (int k = 0; k < N; ++k) size[k] = other.size[k];
  }

  SUPPLE_INLINE bool empty() const { return data == nullptr; }
  // Behind the last entry.
  SUPPLE_INLINE T* end() const {
    std::size_t count = 1;
    for (int k = 0; k < N; ++k) count *= static_cast<std::size_t>(size[k]);
    return data + count;
  }
  template <class... Indices>
  SUPPLE_INLINE T& operator()(Indices... indices) const {
    static_assert(sizeof...(Indices) == N);
    return *at(indices...);
  }
  template <class... Indices>
  SUPPLE_INLINE T* at(Indices... indices) const {
    static_assert(sizeof...(Indices) >= 1 && sizeof...(Indices) <= N);
    const int index[] = {indices...};
    std::size_t offset = 0;
    for (int k = 0; k < N; ++k) {
      const bool given = k < static_cast<int>(sizeof...(Indices));
      SUPPLE_EXPECT(!given || (index[k] >= 0 && index[k] < size[k]));
      offset = offset * static_cast<std::size_t>(size[k]) + static_cast<std::size_t>(given ? index[k] : 0);
    }
    return data + offset;
  }
};

}  // namespace supple
