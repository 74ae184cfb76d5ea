#include "engine/cli/shell/terminal.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>

namespace supple::cli {

namespace {

constexpr const char* red = "\033[1;31m";
constexpr const char* green = "\033[1;32m";
constexpr const char* plain = "\033[0m";

void paint(std::string& text, const std::string& word, const char* colour) {
  const auto at = text.find(word);
  if (at != std::string::npos) text.replace(at, word.size(), colour + word + plain);
}

}  // namespace

bool stderr_is_terminal() {
  return isatty(STDERR_FILENO) != 0;
}

int terminal_width() {
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

std::string coloured_report(const Error& error) {
  std::string text = error.report();
  if (!stderr_is_terminal() || std::getenv("NO_COLOR") != nullptr) return text;
  paint(text, "error:", error.exit_code() == 130 ? green : red);
  paint(text, "\n  try:", green);
  return text;
}

void print_note(const std::string& text) {
  std::fprintf(stderr, "note: %s\n", text.c_str());
}

void print_warning(const std::string& text) {
  if (text.empty()) return;
  std::string line = "warning: " + text;
  if (stderr_is_terminal() && std::getenv("NO_COLOR") == nullptr) paint(line, "warning:", red);
  std::fprintf(stderr, "%s\n", line.c_str());
}

std::string shell_quoted(const std::string& argument) {
  constexpr const char* harmless = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=:,+@%";
  if (!argument.empty() && argument.find_first_not_of(harmless) == std::string::npos) return argument;
  std::string quoted = "'";
  for (const char c : argument) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

namespace {
std::vector<std::string> program_words;
}

std::vector<std::string> this_program() {
  if (!program_words.empty()) return program_words;
  std::error_code error;
  return {std::filesystem::read_symlink("/proc/self/exe", error).string()};
}

void start_again_by(std::vector<std::string> words) {
  program_words = std::move(words);
}

}  // namespace supple::cli
