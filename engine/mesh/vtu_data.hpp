#pragma once
// Numbers of the DataArray elements of a .vtu file. Internal to engine/mesh.

#include <cstdint>
#include <pugixml.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "engine/mesh/scanner.hpp"

namespace supple {

// Encoding of all arrays of a VTKFile element, from its attributes.
struct VtuEncoding {
  std::string_view bytes;  // the whole file
  std::string file;
  bool big_endian = false;
  bool wide_header = false;   // UInt64 instead of UInt32
  bool compressed = false;    // zlib
  std::string_view appended;  // after the underscore of AppendedData
  bool appended_base64 = false;
};

// One array as numbers. Text arrays remember where they stand, so that a number found wrong later still has its line.
struct VtuArray {
  std::vector<double> reals;           // of Float32 and Float64
  std::vector<std::int64_t> integers;  // of the others
  bool is_real = false;
  std::size_t size() const { return is_real ? reals.size() : integers.size(); }
  // Where number `index` is.
  Place place(std::size_t index) const;

  const VtuEncoding* encoding = nullptr;
  std::size_t begin = 0, end = 0;  // of the text; 0, 0 for binary arrays
  Place element;                   // of the DataArray element
};

// encoding must outlive the array. Throws InputError.
VtuArray read_vtu_array(const pugi::xml_node& element, const VtuEncoding& encoding);

Place place_of(const pugi::xml_node& node, const VtuEncoding& encoding);

}  // namespace supple
