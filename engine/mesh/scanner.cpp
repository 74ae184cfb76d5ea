#include "engine/mesh/scanner.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>
#include <system_error>

namespace supple {
namespace {

bool is_space(char c) {
  return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\f' || c == '\v';
}

std::string printable(std::string_view text) {
  std::string out;
  for (const char c : text) out += (c == '\t' || static_cast<unsigned char>(c) >= 32) && c != 127 ? c : '?';
  return out;
}

const char* const cut_short = "the file may have been cut short: copy or export it again";

}  // namespace

std::string quoted(std::string_view text) {
  std::string out(1, '"');
  out += printable(text.substr(0, 40));
  out += text.size() > 40 ? "...\"" : "\"";
  return out;
}

void Scanner::skip_space() {
  while (position_ < end_ && is_space(bytes_[position_])) ++position_;
}

bool Scanner::at_end() {
  skip_space();
  return position_ >= end_;
}

std::string_view Scanner::peek() {
  skip_space();
  std::size_t stop = position_;
  while (stop < end_ && !is_space(bytes_[stop])) ++stop;
  return bytes_.substr(position_, stop - position_);
}

std::string_view Scanner::word(const char* what) {
  const std::string_view found = peek();
  mark_ = position_;
  if (found.empty()) fail(std::string("expected ") + what + ", found nothing more", cut_short);
  position_ += found.size();
  return found;
}

std::string_view Scanner::line() {
  mark_ = position_;
  const std::size_t stop = std::min(bytes_.find('\n', position_), end_);
  std::string_view found = bytes_.substr(position_, stop - position_);
  position_ = std::min(stop + 1, end_);
  if (!found.empty() && found.back() == '\r') found.remove_suffix(1);
  return found;
}

double Scanner::real(const char* what) {
  const std::string_view text = word(what);
  const char* first = text.data() + (text.front() == '+' ? 1 : 0);
  const char* last = text.data() + text.size();
  double value = 0;
  const auto [stop, error] = std::from_chars(first, last, value);
  // Out of range is either far too large or an underflow, which is 0.
  if (error == std::errc::result_out_of_range && stop == last) value = std::strtod(std::string(text).c_str(), nullptr);
  const bool number = (error == std::errc() || error == std::errc::result_out_of_range) && stop == last;
  if (!number)
    fail(std::string("expected ") + what + ", found " + quoted(text) + " (not a number)",
         "correct this line or export the file again");
  if (!std::isfinite(value))
    fail(std::string(what) + " is " + quoted(text) + " (not a finite number)",
         "correct this line or export the file again");
  return value;
}

std::int64_t Scanner::integer(const char* what) {
  const std::string_view text = word(what);
  const char* first = text.data() + (text.front() == '+' ? 1 : 0);
  const char* last = text.data() + text.size();
  std::int64_t value = 0;
  const auto [stop, error] = std::from_chars(first, last, value);
  if (error != std::errc() || stop != last)
    fail(std::string("expected ") + what + ", found " + quoted(text) + " (not a whole number)",
         "correct this line or export the file again");
  return value;
}

int Scanner::count(const char* what, std::size_t bytes_each) {
  return checked_count(integer(what), what, bytes_each);
}

int Scanner::checked_count(std::int64_t number, const char* what, std::size_t bytes_each) const {
  if (number < 0) fail(std::string(what) + " is " + std::to_string(number) + " (negative)", "export the file again");
  // One byte of slack: the last word of a text needs no white space after it.
  if (static_cast<std::uint64_t>(number) > (remaining() + 1) / bytes_each || number > std::numeric_limits<int>::max())
    fail(std::string(what) + " is " + std::to_string(number) + " (the rest of the file has only " +
             std::to_string(remaining()) + " bytes)",
         cut_short);
  return static_cast<int>(number);
}

std::string_view Scanner::take(std::size_t n, const char* what) {
  mark_ = position_;
  if (n > remaining())
    fail(std::string("the file ends inside ") + what + " (" + std::to_string(n) + " bytes wanted, " +
             std::to_string(remaining()) + " left)",
         cut_short);
  position_ += n;
  return bytes_.substr(mark_, n);
}

Place Scanner::place() const {
  Place place{file_, 0, 0, ""};
  if (!text_) return place;
  const std::string_view before = bytes_.substr(0, mark_);
  place.line = 1 + static_cast<int>(std::count(before.begin(), before.end(), '\n'));
  const std::size_t start = before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
  place.column = static_cast<int>(std::min<std::size_t>(mark_ - start, 1u << 30)) + 1;
  std::string_view text = bytes_.substr(start, std::min<std::size_t>(bytes_.find_first_of("\r\n", start) - start, 160));
  place.text = printable(text);
  return place;
}

void Scanner::fail(const std::string& problem, const std::string& suggestion) const {
  if (text_) throw InputError(problem, suggestion, place());
  throw InputError(problem + ", at byte " + std::to_string(mark_), suggestion, place());
}

std::string read_bytes(const std::string& path, const char* kind) {
  std::error_code error;
  const std::string suggestion = "check the path; relative paths start at the current folder, or at the scene's file";
  if (std::filesystem::is_directory(path, error))
    throw InputError(std::string("cannot read the ") + kind + " file (it is a folder)", suggestion, {path, 0, 0, ""});
  std::ifstream file(path, std::ios::binary);
  if (!file)
    throw InputError(std::string("cannot read the ") + kind + " file (" +
                         (std::filesystem::exists(path, error) ? "no permission" : "no such file") + ")",
                     suggestion, {path, 0, 0, ""});
  std::ostringstream bytes;
  bytes << file.rdbuf();
  if (file.bad()) throw InputError(std::string("reading the ") + kind + " file failed", suggestion, {path, 0, 0, ""});
  return std::move(bytes).str();
}

}  // namespace supple
