#include "viewer/app/video.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <vector>

#include "kernels/base/error.hpp"

namespace supple::view {

namespace {

constexpr int no_program = 127;  // exit code of a child that could not start ffmpeg

}  // namespace

Video::Video(const std::string& path, int width, int height, long frames_per_second) : path_(path) {
  const bool gif = path.ends_with(".gif");
  aside_ = path + (gif ? ".part.gif" : ".part.mp4");
  std::vector<std::string> words{"ffmpeg",    "-y",
                                 "-loglevel", "error",
                                 "-f",        "rawvideo",
                                 "-pix_fmt",  "rgb24",
                                 "-s",        fmt::format("{}x{}", width, height),
                                 "-r",        std::to_string(frames_per_second),
                                 "-i",        "-"};
  if (gif)
    words.insert(words.end(), {"-vf", "split[a][b];[a]palettegen[p];[b][p]paletteuse=dither=none"});
  else  // even sides, which yuv420p asks for
    words.insert(words.end(), {"-vf", "pad=ceil(iw/2)*2:ceil(ih/2)*2", "-pix_fmt", "yuv420p", "-crf", "20"});
  words.push_back(aside_);
  std::vector<char*> raw;
  for (std::string& word : words) raw.push_back(word.data());
  raw.push_back(nullptr);
  std::signal(SIGPIPE, SIG_IGN);
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw RunError("no pipe to ffmpeg could be made", "close other programs");
  process_ = fork();
  if (process_ == 0) {
    setpgid(0, 0);  // Ctrl-C is for the program, which then ends the film
    dup2(ends[0], STDIN_FILENO);
    execvp("ffmpeg", raw.data());
    _exit(no_program);
  }
  close(ends[0]);
  pipe_ = fdopen(ends[1], "w");
}

Video::~Video() {
  if (process_ < 0) return;
  (void)end();
  std::remove(aside_.c_str());
}

// Closes the pipe and waits; ffmpeg's exit code, or -1.
int Video::end() {
  if (pipe_) std::fclose(pipe_);
  pipe_ = nullptr;
  int status = 0;
  if (process_ > 0) waitpid(process_, &status, 0);
  process_ = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

void Video::add(const Image& image) {
  if (std::fwrite(image.rgb.data(), 1, image.rgb.size(), pipe_) != image.rgb.size()) fail(end());
}

void Video::fail(int code) const {
  std::remove(aside_.c_str());
  if (code == no_program)
    throw CapabilityError("films are made by ffmpeg, which is not there",
                          "apt-get install ffmpeg, or a name that ends in .png");
  throw RunError(fmt::format("ffmpeg could not write '{}'", path_),
                 "its message stands above; is there room on the disk?");
}

void Video::finish() {
  const int code = end();
  if (code != 0) fail(code);
  if (std::rename(aside_.c_str(), path_.c_str()) != 0)
    throw InputError(fmt::format("'{}' cannot be written", path_), "another name with -o");
}

}  // namespace supple::view
