#include "engine/mesh/vtu_data.hpp"

#include <zlib.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/mesh/base64.hpp"

namespace supple {
namespace {

const char* const export_again = "export the mesh again, in ParaView with data mode ASCII";

// Source of the bytes of one binary array: base64 text or raw bytes, read from the front as often as needed.
struct Payload {
  std::string_view bytes;
  bool base64 = false;
  std::string front(std::size_t n) const {
    return base64 ? decode_base64(bytes, n) : std::string(bytes.substr(0, std::min(n, bytes.size())));
  }
};

std::uint64_t header_number(const std::string& bytes, std::size_t index, const VtuEncoding& encoding) {
  const std::size_t width = encoding.wide_header ? 8 : 4;
  std::uint64_t value = 0;
  for (std::size_t k = 0; k < width; ++k) {
    const std::size_t at = index * width + (encoding.big_endian ? k : width - 1 - k);
    value = value << 8 | static_cast<unsigned char>(bytes[at]);
  }
  return value;
}

[[noreturn]] void fail_binary(const std::string& problem, const Place& place) {
  throw InputError(problem, export_again, place);
}

// Uncompressed: one header number, the length in bytes, then the data.
// zlib: header numbers {blocks, bytes of a block, bytes of the last block (0 = full), compressed bytes of each}, then
// the blocks.
std::string decode_payload(const Payload& payload, const VtuEncoding& encoding, const Place& place) {
  const std::size_t width = encoding.wide_header ? 8 : 4;
  const std::size_t available = payload.bytes.size();
  if (!encoding.compressed) {
    std::string head = payload.front(width);
    if (head.empty()) return {};
    if (head.size() < width) fail_binary("a binary array has no length", place);
    const std::uint64_t length = header_number(head, 0, encoding);
    if (length > available)
      fail_binary("a binary array is said to have " + std::to_string(length) + " bytes (more than the file)", place);
    std::string all = payload.front(width + length);
    if (all.size() < width + length) fail_binary("a binary array is shorter than its header states", place);
    return all.substr(width);
  }
  const std::string head = payload.front(3 * width);
  if (head.empty()) return {};
  if (head.size() < width) fail_binary("a compressed array has no header", place);
  const std::uint64_t blocks = header_number(head, 0, encoding);
  if (blocks == 0) return {};
  if (head.size() < 3 * width || blocks > available / width)
    fail_binary("a compressed array has a wrong header", place);
  const std::uint64_t block = header_number(head, 1, encoding), partial = header_number(head, 2, encoding);
  const std::size_t head_size = (3 + blocks) * width;
  const std::string full_head = payload.front(head_size);
  if (full_head.size() < head_size) fail_binary("a compressed array has a wrong header", place);
  std::uint64_t stored = 0;
  for (std::size_t b = 0; b < blocks; ++b) {
    const std::uint64_t size = header_number(full_head, 3 + b, encoding);
    if (size > available || stored + size > available) fail_binary("a compressed array is longer than the file", place);
    stored += size;
  }
  const std::string all = payload.front(head_size + stored);
  if (all.size() < head_size + stored) fail_binary("a compressed array is shorter than its header states", place);
  std::string out;
  std::size_t at = head_size;
  for (std::size_t b = 0; b < blocks; ++b) {
    const std::uint64_t size = header_number(full_head, 3 + b, encoding);
    const std::uint64_t wanted = b + 1 == blocks && partial != 0 ? partial : block;
    // zlib cannot shrink by more than 1032 to 1.
    if (wanted > 1040 * size + 64) fail_binary("a compressed block has a wrong length", place);
    const std::size_t old = out.size();
    out.resize(old + wanted);
    uLongf got = static_cast<uLongf>(wanted);
    const int status = uncompress(reinterpret_cast<Bytef*>(out.data() + old), &got,
                                  reinterpret_cast<const Bytef*>(all.data() + at), static_cast<uLong>(size));
    if (status != Z_OK || got != wanted) fail_binary("a compressed block cannot be unpacked (zlib)", place);
    at += size;
  }
  return out;
}

template <class T, class Out>
void convert(const std::string& bytes, bool big_endian, std::vector<Out>& out, const Place& place) {
  if (bytes.size() % sizeof(T) != 0) fail_binary("a binary array ends inside a number", place);
  const bool swap = big_endian != (std::endian::native == std::endian::big);
  out.resize(bytes.size() / sizeof(T));
  for (std::size_t i = 0; i < out.size(); ++i) {
    T value;
    std::memcpy(&value, bytes.data() + i * sizeof(T), sizeof(T));
    if (swap) value = Scanner::swapped(value);
    if constexpr (std::is_floating_point_v<T>) {
      if (!std::isfinite(value)) fail_binary("a binary array holds a number that is not finite", place);
    } else if constexpr (std::is_same_v<T, std::uint64_t>) {
      value = std::min<T>(value, std::numeric_limits<std::int64_t>::max());
    }
    out[i] = static_cast<Out>(value);
  }
}

void convert_type(const std::string& type, const std::string& bytes, bool big, VtuArray& array) {
  if (type == "Float32")
    convert<float>(bytes, big, array.reals, array.element);
  else if (type == "Float64")
    convert<double>(bytes, big, array.reals, array.element);
  else if (type == "Int8")
    convert<std::int8_t>(bytes, big, array.integers, array.element);
  else if (type == "UInt8")
    convert<std::uint8_t>(bytes, big, array.integers, array.element);
  else if (type == "Int16")
    convert<std::int16_t>(bytes, big, array.integers, array.element);
  else if (type == "UInt16")
    convert<std::uint16_t>(bytes, big, array.integers, array.element);
  else if (type == "Int32")
    convert<std::int32_t>(bytes, big, array.integers, array.element);
  else if (type == "UInt32")
    convert<std::uint32_t>(bytes, big, array.integers, array.element);
  else if (type == "Int64")
    convert<std::int64_t>(bytes, big, array.integers, array.element);
  else
    convert<std::uint64_t>(bytes, big, array.integers, array.element);
}

// The text of the array inside the file, so that numbers keep their lines.
std::string_view text_of(const pugi::xml_node& element, VtuArray& array) {
  const pugi::xml_node text = element.first_child();
  if (!text || (text.type() != pugi::node_pcdata && text.type() != pugi::node_cdata)) return {};
  const std::string_view value = text.value();
  const std::ptrdiff_t offset = text.offset_debug();
  if (offset < 0) return {};
  array.begin = std::min(static_cast<std::size_t>(offset), array.encoding->bytes.size());
  array.end = std::min(array.begin + value.size(), array.encoding->bytes.size());
  return array.encoding->bytes.substr(array.begin, array.end - array.begin);
}

}  // namespace

Place place_of(const pugi::xml_node& node, const VtuEncoding& encoding) {
  const std::ptrdiff_t offset = node.offset_debug();
  const Scanner at(encoding.bytes, encoding.file, offset > 0 ? static_cast<std::size_t>(offset) : 0);
  Place place = at.place();
  place.column = 0;
  return place;
}

Place VtuArray::place(std::size_t index) const {
  if (begin == end) return element;
  Scanner scanner(encoding->bytes, encoding->file, begin, end);
  for (std::size_t i = 0; i <= index && !scanner.at_end(); ++i) scanner.word("a number");
  return scanner.place();
}

VtuArray read_vtu_array(const pugi::xml_node& element, const VtuEncoding& encoding) {
  VtuArray array;
  array.encoding = &encoding;
  array.element = place_of(element, encoding);
  const std::string type = element.attribute("type").value();
  const std::string format = element.attribute("format").as_string("ascii");
  array.is_real = type == "Float32" || type == "Float64";
  const bool known = array.is_real || type == "Int8" || type == "UInt8" || type == "Int16" || type == "UInt16" ||
                     type == "Int32" || type == "UInt32" || type == "Int64" || type == "UInt64";
  if (!known)
    throw InputError("a DataArray has the type " + quoted(type) + " (not a number type of VTK)", export_again,
                     array.element);
  if (format == "appended") {
    const std::string text = element.attribute("offset").value();
    Scanner number(text, encoding.file);
    const std::int64_t offset = text.empty() ? -1 : element.attribute("offset").as_llong(-1);
    if (offset < 0 || static_cast<std::uint64_t>(offset) > encoding.appended.size())
      throw InputError("a DataArray has the offset " + quoted(text) + " (outside the appended data)", export_again,
                       array.element);
    const Payload payload{encoding.appended.substr(static_cast<std::size_t>(offset)), encoding.appended_base64};
    convert_type(type, decode_payload(payload, encoding, array.element), encoding.big_endian, array);
    return array;
  }
  const std::string_view text = text_of(element, array);
  if (format == "binary") {
    convert_type(type, decode_payload({text, true}, encoding, array.element), encoding.big_endian, array);
    array.begin = array.end = 0;
    return array;
  }
  if (format != "ascii")
    throw InputError("a DataArray has the format " + quoted(format) + " (ascii, binary and appended can be read)",
                     export_again, array.element);
  Scanner scanner(encoding.bytes, encoding.file, array.begin, array.end);
  while (!scanner.at_end()) {
    if (array.is_real)
      array.reals.push_back(scanner.real("a number"));
    else
      array.integers.push_back(scanner.integer("a whole number"));
  }
  return array;
}

}  // namespace supple
