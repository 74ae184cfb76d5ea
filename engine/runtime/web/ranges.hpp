#pragma once
// Algorithms over ranges that the standard library of emscripten 3.1 (libc++ 14) does not have yet. Included before
// everything else there (CMakeLists.txt).

#include <version>

#if defined(_LIBCPP_VERSION) && _LIBCPP_VERSION < 15000

#include <algorithm>
#include <functional>
#include <iterator>
#include <utility>

namespace std::ranges {  // NOLINT: what the language will have there

template <class Range, class Test, class Of = identity>
constexpr bool all_of(Range&& range, Test test, Of of = {}) {
  for (auto&& value : range)
    if (!std::invoke(test, std::invoke(of, value))) return false;
  return true;
}
template <class Range, class Test, class Of = identity>
constexpr bool any_of(Range&& range, Test test, Of of = {}) {
  for (auto&& value : range)
    if (std::invoke(test, std::invoke(of, value))) return true;
  return false;
}
template <class Range, class Test, class Of = identity>
constexpr auto count_if(Range&& range, Test test, Of of = {}) {
  std::ptrdiff_t count = 0;
  for (auto&& value : range) count += std::invoke(test, std::invoke(of, value)) ? 1 : 0;
  return count;
}
template <class Range, class Test, class Of = identity>
constexpr auto find_if(Range&& range, Test test, Of of = {}) {
  auto it = std::begin(range);
  while (it != std::end(range) && !std::invoke(test, std::invoke(of, *it))) ++it;
  return it;
}
template <class Range, class Value, class Of = identity>
constexpr auto find(Range&& range, const Value& value, Of of = {}) {
  return find_if(range, [&](const auto& own) { return std::invoke(of, own) == value; });
}
template <class Range, class Out>
struct in_out {
  Range in;
  Out out;
};
template <class Range, class Out>
constexpr auto copy(Range&& range, Out out) {
  auto it = std::begin(range);
  for (; it != std::end(range); ++it, ++out) *out = *it;
  return in_out<decltype(it), Out>{it, out};
}
template <class Range, class Value>
constexpr void fill(Range&& range, const Value& value) {
  for (auto&& own : range) own = value;
}
template <class Range, class Out, class Make>
constexpr auto transform(Range&& range, Out out, Make make) {
  auto it = std::begin(range);
  for (; it != std::end(range); ++it, ++out) *out = std::invoke(make, *it);
  return in_out<decltype(it), Out>{it, out};
}
template <class A, class B>
constexpr bool equal(A&& a, B&& b) {
  return std::equal(std::begin(a), std::end(a), std::begin(b), std::end(b));
}
template <class Range, class Less = less, class Of = identity>
constexpr bool is_sorted(Range&& range, Less before = {}, Of of = {}) {
  return std::is_sorted(std::begin(range), std::end(range), [&](const auto& a, const auto& b) {
    return std::invoke(before, std::invoke(of, a), std::invoke(of, b));
  });
}
template <class Range, class Value, class Less = less, class Of = identity>
constexpr auto lower_bound(Range&& range, const Value& value, Less before = {}, Of of = {}) {
  return std::lower_bound(std::begin(range), std::end(range), value, [&](const auto& own, const Value& v) {
    return std::invoke(before, std::invoke(of, own), v);
  });
}
template <class Range, class Value, class Less = less, class Of = identity>
constexpr auto upper_bound(Range&& range, const Value& value, Less before = {}, Of of = {}) {
  return std::upper_bound(std::begin(range), std::end(range), value, [&](const Value& v, const auto& own) {
    return std::invoke(before, v, std::invoke(of, own));
  });
}
template <class Range, class Less = less, class Of = identity>
constexpr void sort(Range&& range, Less before = {}, Of of = {}) {
  std::sort(std::begin(range), std::end(range),
            [&](const auto& a, const auto& b) { return std::invoke(before, std::invoke(of, a), std::invoke(of, b)); });
}
template <class Range, class Less = less, class Of = identity>
constexpr void stable_sort(Range&& range, Less before = {}, Of of = {}) {
  std::stable_sort(std::begin(range), std::end(range), [&](const auto& a, const auto& b) {
    return std::invoke(before, std::invoke(of, a), std::invoke(of, b));
  });
}

}  // namespace std::ranges

#endif
