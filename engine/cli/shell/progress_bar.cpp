#include "engine/cli/shell/progress_bar.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "engine/cli/shell/interrupt.hpp"
#include "engine/cli/shell/terminal.hpp"

namespace supple::cli {

ProgressBar::ProgressBar(bool quiet) : quiet_(quiet), terminal_(stderr_is_terminal()) {}

ProgressBar::~ProgressBar() {
  finish();
}

void ProgressBar::update(const std::string& stage, double done, double total, const std::string& detail) {
  if (quiet_) return;
  const auto now = Clock::now();
  if (stage != stage_) {
    finish();
    stage_ = stage;
    first_done_ = done;
    start_ = now;
    tenths_ = total > 0 ? static_cast<int>(10 * done / total) : 0;
    last_draw_ = now;
  }
  const double elapsed = std::chrono::duration<double>(now - start_).count();
  if (elapsed < 1) return;
  if (terminal_) {
    if (drawn_ && now - last_draw_ < std::chrono::milliseconds(100) && done < total) return;
    last_draw_ = now;
    draw(done, total, detail, elapsed);
  } else {
    const int tenths = total > 0 ? static_cast<int>(10 * done / total + 1e-9) : 0;
    if (tenths <= tenths_) return;
    tenths_ = tenths;
    draw(done, total, detail, elapsed);
  }
}

void ProgressBar::draw(double done, double total, const std::string& detail, double elapsed) {
  const double part = total > 0 ? std::clamp(done / total, 0.0, 1.0) : 0;
  std::string tail = fmt::format(" {:3.0f} %", std::floor(100 * part));
  if (done >= total)
    tail += fmt::format(", {} in all", format_duration(elapsed));
  else if (done > first_done_)
    tail += fmt::format(", {} left", format_duration(elapsed * (total - done) / (done - first_done_)));
  if (!detail.empty()) tail += ", " + detail;
  if (!terminal_) {
    fmt::print(stderr, "{}:{}\n", stage_, tail);
    return;
  }
  constexpr int bar = 24;
  const int filled = static_cast<int>(bar * part);
  std::string line = fmt::format("{} [{:#<{}}{: <{}}]{}", stage_, "", filled, "", bar - filled, tail);
  line.resize(std::min(line.size(), static_cast<std::size_t>(std::max(1, terminal_width() - 1))));
  fmt::print(stderr, "\r\033[K{}", line);
  std::fflush(stderr);
  drawn_ = true;
}

void ProgressBar::finish() {
  if (drawn_) {
    fmt::print(stderr, "\r\033[K");
    std::fflush(stderr);
  }
  drawn_ = false;
  stage_.clear();
}

Progress ProgressBar::progress() {
  return {[this](const std::string& stage, double done, double total, const std::string& detail) {
            update(stage, done, total, detail);
          },
          [] { return interrupted(); }};
}

std::string format_duration(double seconds) {
  if (seconds < 59.5) return seconds < 9.95 ? fmt::format("{:.1f} s", seconds) : fmt::format("{:.0f} s", seconds);
  const long whole = std::lround(seconds);
  if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} h {:02} min", whole / 3600, whole / 60 % 60);
}

}  // namespace supple::cli
