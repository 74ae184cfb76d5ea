#pragma once
// Single flipped bits all over a file: what reads it must refuse it or find everything as it was.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "kernels/base/error.hpp"
#include "tests/engine/bodies/reduced_bodies.hpp"

namespace supple::flipped_bits {

inline std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// Flips one bit of every stride-th byte in copies of the file; `same` reads a copy and compares. Returns the fraction
// of the copies that were refused.
template <class Same>
double refused(const std::string& path, std::size_t stride, const Same& same) {
  const reduced_bodies::TemporaryFolder folder;
  const std::string whole = bytes_of(path);
  int copies = 0, errors = 0;
  for (std::size_t at = 0; at < whole.size(); at += stride, ++copies) {
    std::string bytes = whole;
    bytes[at] = static_cast<char>(bytes[at] ^ (1 << (copies % 8)));
    // A new file each time: HDF5 may hold on to a damaged one that it gave up.
    const std::string copy = folder / std::to_string(at);
    std::ofstream(copy, std::ios::binary) << bytes;
    try {
      EXPECT_TRUE(same(copy)) << "bit " << copies % 8 << " of byte " << at << " of " << whole.size();
    } catch (const InputError& error) {
      EXPECT_FALSE(error.report().empty());
      ++errors;
    }
    std::filesystem::remove(copy);
  }
  return static_cast<double>(errors) / std::max(1, copies);
}

}  // namespace supple::flipped_bits
