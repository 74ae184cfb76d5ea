#pragma once
// RFC 4648 base64 as VTK uses it. Internal to engine/mesh.

#include <string>
#include <string_view>

namespace supple {

// The first `limit` bytes, or fewer where the text ends at a character outside the alphabet. White space is skipped.
// Padding ends a group, not the text: VTK writes header and data as two texts, one behind the other.
std::string decode_base64(std::string_view text, std::size_t limit);
std::string encode_base64(std::string_view bytes);

}  // namespace supple
