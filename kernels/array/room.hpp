#pragma once
// How much of a device's memory a job may take that can be done in chunks.

#include <algorithm>
#include <cstddef>
#include <string>

#include "kernels/array/array.hpp"
#include "kernels/base/error.hpp"

namespace supple {

// "12 kB", "3400 MB".
inline std::string memory_words(std::size_t bytes, bool up = true) {
  const std::size_t unit = bytes < 10'000'000 ? 1000 : 1'000'000;
  return std::to_string((bytes + (up ? unit - 1 : 0)) / unit) + (unit == 1000 ? " kB" : " MB");
}

// Throws CapabilityError unless so much is free now; what: "a batch of 4096 robots".
inline void need_memory(const Device& device, std::size_t bytes, const std::string& what, const std::string& remedy) {
  const std::size_t free = free_bytes(device);
  if (bytes > free)
    throw CapabilityError(what + " takes " + memory_words(bytes) + " of " + to_string(device) + ", where " +
                              memory_words(free, false) + " are free",
                          remedy);
}

struct DeviceRoom {
  Device device;
  std::size_t most = 0;  // bytes; 0: half of what is free when asked

  DeviceRoom(const Device& on, std::size_t bytes = 0) : device(on), most(bytes) {}
  std::size_t bytes() const { return most > 0 ? most : free_bytes(device) / 2; }

  // How many items of a chunk have room beside what is fixed, at most `most_items`. Throws CapabilityError where
  // `least` have none; what: "the element forces of 32 states".
  std::size_t portion(const std::string& what, std::size_t fixed, std::size_t of_item, std::size_t least,
                      std::size_t most_items) const {
    const std::size_t room = bytes(), needed = fixed + least * of_item;
    if (needed > room)
      throw CapabilityError("no memory for " + what + " (the smallest chunk takes " + memory_words(needed) + ", " +
                                memory_words(room, false) + " of " + to_string(device) + " may be used" +
                                (most > 0 ? "" : ": half of what is free") + ")",
                            "another device, or --device cpu");
    return of_item == 0 ? most_items : std::min(most_items, (room - fixed) / of_item);
  }
};

}  // namespace supple
