#pragma once
// The flat file of the runtime: the objects of a DataSource one after the other, found by a table. It is read without
// any library, from a file or from memory.
//
// All numbers are little-endian. Layout, format 1:
//   head [64 bytes]   "SUPPLEFL", format (u32), 0 (u32), number of objects (u64), where the table begins (u64), size of
//                     the file (u64), xxHash64 of all that follows the head (u64), zeros
//   data              of each object, from a multiple of 64 bytes on
//   table             for each object in the order of their names: length of the name (u32), kind (u32: 0 double,
//                     1 int32, 2 text, 3 int64), rank (u32), 0 (u32), extents (u64 each), place and bytes (u64 each),
//                     the name, zeros up to a multiple of 8

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "engine/io/data_file.hpp"

namespace supple {

inline constexpr std::uint32_t flat_file_format = 1;
enum class FlatKind : std::uint32_t { real = 0, integer = 1, text = 2, whole = 3 };

class FlatSource final : public DataSource {
 public:
  /// `bytes` must outlive this object; `path` stands for them in messages. Throws InputError for bytes that are no flat
  /// file, of another format, cut off, or damaged.
  FlatSource(std::string_view bytes, std::string path);
  static bool is_flat(std::string_view bytes);

  const std::string& path() const override { return path_; }
  bool has(const std::string& object) const override;
  std::vector<std::size_t> shape(const std::string& object) const override;
  using DataSource::read_doubles, DataSource::read_ints;
  std::vector<double> read_doubles(const std::string& object) const override;
  std::vector<int> read_ints(const std::string& object) const override;
  std::int64_t read_int(const std::string& object) const override;
  std::string read_text(const std::string& object) const override;

 private:
  struct Object {
    FlatKind kind;
    std::vector<std::size_t> shape;
    std::string_view data;
  };
  const Object& find(const std::string& object) const;
  template <class T>
  std::vector<T> numbers(const std::string& object) const;

  std::string path_;
  std::map<std::string, Object> objects_;
};

class FlatSink final : public DataSink {
 public:
  void write(const std::string& object, const std::vector<double>& values,
             const std::vector<std::size_t>& shape) override;
  void write(const std::string& object, const std::vector<int>& values, const std::vector<std::size_t>& shape) override;
  void write(const std::string& object, const std::string& text) override;
  void write(const std::string& object, double value) override;
  void write(const std::string& object, std::int64_t value) override;
  /// The whole file.
  std::string bytes() const;

 private:
  struct Object {
    FlatKind kind;
    std::vector<std::size_t> shape;
    std::string data;
  };
  void add(const std::string& object, FlatKind kind, const void* data, std::size_t bytes,
           const std::vector<std::size_t>& shape);

  std::map<std::string, Object> objects_;
};

}  // namespace supple
