#pragma once
// A film from pictures, by ffmpeg: .mp4 or .gif.

#include <sys/types.h>

#include <cstdio>
#include <string>

#include "viewer/gl/offscreen.hpp"

namespace supple::view {

class Video {
 public:
  // Starts ffmpeg, which writes aside; the film takes its name when it is finished.
  Video(const std::string& path, int width, int height, long frames_per_second);
  // A film that was not finished leaves nothing behind.
  ~Video();
  Video(const Video&) = delete;
  Video& operator=(const Video&) = delete;
  // Throws RunError if ffmpeg takes no more, CapabilityError if there is none.
  void add(const Image& image);
  void finish();

 private:
  int end();
  [[noreturn]] void fail(int code) const;
  std::string path_, aside_;
  std::FILE* pipe_ = nullptr;
  pid_t process_ = -1;
};

}  // namespace supple::view
