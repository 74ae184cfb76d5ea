#include "engine/mesh/base64.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

namespace supple {
namespace {

constexpr std::string_view alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

constexpr std::array<std::int8_t, 256> make_values() {
  std::array<std::int8_t, 256> values{};
  values.fill(-1);
  for (std::size_t i = 0; i < alphabet.size(); ++i)
    values[static_cast<unsigned char>(alphabet[i])] = static_cast<std::int8_t>(i);
  return values;
}
constexpr auto values = make_values();

}  // namespace

std::string decode_base64(std::string_view text, std::size_t limit) {
  std::string out;
  out.reserve(std::min(limit, text.size() / 4 * 3 + 3));
  std::uint32_t bits = 0;
  int in_group = 0, padding = 0;
  for (const char c : text) {
    if (out.size() >= limit) break;
    if (c == ' ' || c == '\n' || c == '\t' || c == '\r') continue;
    const int value = c == '=' ? 0 : values[static_cast<unsigned char>(c)];
    if (value < 0 || (padding > 0 && c != '=')) break;
    padding += c == '=' ? 1 : 0;
    bits = bits << 6 | static_cast<std::uint32_t>(value);
    if (++in_group < 4) continue;
    for (int k = 0; k < 3 - padding; ++k) out += static_cast<char>(bits >> (16 - 8 * k) & 255u);
    bits = 0;
    in_group = padding = 0;
  }
  if (out.size() > limit) out.resize(limit);
  return out;
}

std::string encode_base64(std::string_view bytes) {
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t n = std::min<std::size_t>(3, bytes.size() - i);
    std::uint32_t bits = 0;
    for (std::size_t k = 0; k < 3; ++k) bits = bits << 8 | (k < n ? static_cast<unsigned char>(bytes[i + k]) : 0u);
    for (std::size_t k = 0; k < 4; ++k) out += k <= n ? alphabet[bits >> (18 - 6 * k) & 63u] : '=';
  }
  return out;
}

}  // namespace supple
