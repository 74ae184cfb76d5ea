#include "engine/io/web_page.hpp"

#include <zlib.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>

#include "engine/io/flat_file.hpp"
#include "engine/io/model_data.hpp"
#include "kernels/base/error.hpp"

#ifdef SUPPLE_PAGE
// The page without a robot, from scripts/web.sh.
__asm__(
    ".section .rodata\n.global supple_page_begin\n.global supple_page_end\nsupple_page_begin:\n.incbin \"" SUPPLE_PAGE
    "\"\nsupple_page_end:\n.byte 0\n.previous\n");
extern "C" const char supple_page_begin[], supple_page_end[];
#endif

namespace supple {

namespace {

std::string_view empty_page() {
#ifdef SUPPLE_PAGE
  return {supple_page_begin, static_cast<std::size_t>(supple_page_end - supple_page_begin)};
#else
  throw CapabilityError("this program was built without the page for browsers", "scripts/web.sh, which makes it");
#endif
}

// To multiples of a power of two, so that most of the bytes of each number are zero.
void round_modes(std::vector<double>& modes) {
  double most = 0;
  for (const double x : modes) most = std::max(most, std::abs(x));
  if (!(most > 0)) return;
  const double step = std::exp2(std::ceil(std::log2(most / skin_steps)));
  for (double& x : modes) x = step * std::round(x / step);
}

// All first bytes of the numbers of eight, then all second ones: bytes that are alike stand together.
std::string byte_planes(std::string_view bytes) {
  const std::size_t count = (bytes.size() + 7) / 8;
  std::string planes(8 * count, '\0');
  for (std::size_t k = 0; k < bytes.size(); ++k) planes[k % 8 * count + k / 8] = bytes[k];
  return planes;
}

std::string gzip(std::string_view bytes) {
  if (bytes.size() > std::numeric_limits<uInt>::max() / 2)
    throw InputError("the model is too large for a page", "a mesh with a coarser skin");
  z_stream stream{};
  constexpr int window = 15 + 16;  // + 16: with the head of a gzip file
  if (deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, window, 9, Z_DEFAULT_STRATEGY) != Z_OK)
    throw RunError("zlib does not start", "more memory");
  std::string packed(deflateBound(&stream, bytes.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  const int code = deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  if (code != Z_STREAM_END) throw RunError("zlib did not take the model", "a smaller skin");
  return packed;
}

std::string base64(std::string_view bytes) {
  constexpr char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t k = 0; k < bytes.size(); k += 3) {
    const auto byte = [&](std::size_t i) {
      return i < bytes.size() ? static_cast<unsigned>(static_cast<unsigned char>(bytes[i])) : 0U;
    };
    const unsigned three = byte(k) << 16 | byte(k + 1) << 8 | byte(k + 2);
    for (const int shift : {18, 12, 6, 0}) text += letters[three >> shift & 63];
  }
  if (bytes.size() % 3 > 0)
    text.replace(text.size() - (3 - bytes.size() % 3), std::string::npos, 3 - bytes.size() % 3, '=');
  return text;
}

}  // namespace

std::string web_page(const ReducedModel& model, const std::string& facts) {
  if (model.on_frame)
    throw InputError("pages do not show free-floating models on a frame yet",
                     "rigid_motion = \"linearised\" in [reduce], or `supple view`");
  const std::string_view page = empty_page();
  ReducedModel shown = model;
  round_modes(shown.skin.modes);
  // Of frames that turn, which pages do not have.
  shown.first_moments.clear();
  shown.second_moments.clear();
  FlatSink file;
  write_model_data(shown, file);
  std::string said;  // in JSON "<" stands in texts alone; there "</script>" and "<!--" have a meaning in HTML
  for (const char letter : facts) said += letter == '<' ? std::string("\\u003c") : std::string(1, letter);
  std::string text;
  std::size_t from = 0;
  const auto put = [&](std::string_view place, const std::string& what) {
    const std::size_t at = page.find(place, from);
    if (at == std::string_view::npos)
      throw RunError("the page of this build has no place for the robot", "scripts/web.sh");
    text.append(page.substr(from, at - from)).append(what);
    from = at + place.size();
  };
  put("@SUPPLE_FACTS@", said);
  put("@SUPPLE_MODEL@", base64(gzip(byte_planes(file.bytes()))));
  return text.append(page.substr(from));
}

}  // namespace supple
