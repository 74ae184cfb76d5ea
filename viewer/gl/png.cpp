#include <fmt/format.h>
#include <stb_image.h>
#include <stb_image_write.h>

#include <algorithm>
#include <cstdio>
#include <memory>

#include "kernels/base/error.hpp"
#include "viewer/gl/offscreen.hpp"

namespace supple::view {

void write_png(const std::string& path, const Image& image) {
  const std::string aside = path + ".new";
  if (stbi_write_png(aside.c_str(), image.width, image.height, 3, image.rgb.data(), 3 * image.width) == 0 ||
      std::rename(aside.c_str(), path.c_str()) != 0) {
    std::remove(aside.c_str());
    throw InputError(fmt::format("'{}' cannot be written", path), "a folder that exists and has room");
  }
}

Image read_png(const std::string& path) {
  Image image;
  int channels = 0;
  const std::unique_ptr<stbi_uc, void (*)(void*)> pixels(
      stbi_load(path.c_str(), &image.width, &image.height, &channels, 3), stbi_image_free);
  if (!pixels) throw InputError(fmt::format("'{}' is not a picture", path), "a PNG file");
  image.rgb.assign(pixels.get(),
                   pixels.get() + 3 * static_cast<std::size_t>(image.width) * static_cast<std::size_t>(image.height));
  return image;
}

}  // namespace supple::view
