#pragma once
// Cursor over the bytes of a file: words and numbers of text, raw bytes of binary parts, and errors that say where.

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "kernels/base/error.hpp"

namespace supple {

class Scanner {
 public:
  Scanner(std::string_view bytes, std::string file, std::size_t begin = 0)
      : Scanner(bytes, std::move(file), begin, bytes.size()) {}
  Scanner(std::string_view bytes, std::string file, std::size_t begin, std::size_t end)
      : bytes_(bytes), file_(std::move(file)), position_(begin), end_(end), mark_(begin) {}

  // True when only white space is left.
  bool at_end();
  // Next word between white space. Error at the end of the file, saying that `what` was expected.
  std::string_view word(const char* what);
  // Next word without moving on; "" at the end.
  std::string_view peek();
  // Rest of the current line, without its end; moves to the next line.
  std::string_view line();
  // Finite number.
  double real(const char* what);
  std::int64_t integer(const char* what);
  // A number of things that take at least bytes_each bytes of the rest of the file, and fit an int.
  int count(const char* what, std::size_t bytes_each);
  int checked_count(std::int64_t number, const char* what, std::size_t bytes_each) const;

  // Next n bytes as they are.
  std::string_view take(std::size_t n, const char* what);
  template <class T>
  T binary(bool swap, const char* what) {
    T value;
    std::memcpy(&value, take(sizeof(T), what).data(), sizeof(T));
    return swap ? swapped(value) : value;
  }
  template <class T>
  static T swapped(T value) {
    char raw[sizeof(T)], turned[sizeof(T)];
    std::memcpy(raw, &value, sizeof(T));
    for (std::size_t i = 0; i < sizeof(T); ++i) turned[i] = raw[sizeof(T) - 1 - i];
    std::memcpy(&value, turned, sizeof(T));
    return value;
  }

  std::size_t position() const { return position_; }
  void seek(std::size_t position) { mark_ = position_ = position < end_ ? position : end_; }
  std::size_t remaining() const { return end_ - position_; }
  std::string_view rest() const { return bytes_.substr(position_, end_ - position_); }
  const std::string& file() const { return file_; }

  // Binary parts have no lines: errors then name the byte instead.
  void set_text(bool text) { text_ = text; }
  // Of the word read last.
  Place place() const;
  [[noreturn]] void fail(const std::string& problem, const std::string& suggestion) const;

 private:
  void skip_space();

  std::string_view bytes_;
  std::string file_;
  std::size_t position_, end_;
  std::size_t mark_;  // start of the word read last
  bool text_ = true;
};

// Whole file as bytes. InputError if it cannot be read.
std::string read_bytes(const std::string& path, const char* kind);

// Printable start of something found in a file, for messages.
std::string quoted(std::string_view text);

}  // namespace supple
