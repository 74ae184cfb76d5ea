#pragma once
// A thin layer over the HDF5 C library: arrays of double or 32/64-bit integers and texts by path, nothing else. Arrays
// are whole, but for those that grow row by row.
// Reading a foreign or damaged file throws InputError with the file's name and the object's path; sizes are checked
// before anything is allocated. Every byte that is written has a checksum: a flipped bit is an InputError or lies where
// nothing is stored. Files of HDF5 1.8 and later without checksums over their arrays are read too.

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "engine/io/data_file.hpp"
#include "kernels/base/atomic_file.hpp"

namespace supple {

/// The bytes of a file that was made in memory, once HDF5 is done with it.
struct MemoryImage {
  struct Free {
    void operator()(char* data) const { std::free(data); }
  };
  std::unique_ptr<char, Free> data;
  std::size_t size = 0;
};

/// An HDF5 file. One object may be used by one thread at a time.
class Hdf5File final : public DataSource, public DataSink {
 public:
  /// `create` makes the file in memory, `grow` beside its place on disk (FileAside): for files larger than memory
  /// should be. close() puts it there, and without close() there is none.
  enum class Mode { read, create, grow };
  Hdf5File(const std::string& path, Mode mode);
  ~Hdf5File() override;
  Hdf5File(const Hdf5File&) = delete;
  Hdf5File& operator=(const Hdf5File&) = delete;

  /// Written by Hdf5File, or otherwise in the format of HDF5 1.8 or later: damage to the file's structure is detected.
  bool checksummed() const;
  /// Whether the object exists. Throws InputError if damage to the file prevents the answer.
  bool has(const std::string& object) const override;
  std::vector<std::size_t> shape(const std::string& object) const override;
  /// Names of the objects in a group.
  std::vector<std::string> list(const std::string& group) const;

  using DataSource::read_doubles, DataSource::read_ints;
  std::vector<double> read_doubles(const std::string& object) const override;
  std::vector<int> read_ints(const std::string& object) const override;
  std::string read_text(const std::string& object) const override;
  std::int64_t read_int(const std::string& object) const override;
  /// `count` rows from row `first` of an array of numbers [rows, ...].
  std::vector<double> read_rows(const std::string& object, std::size_t first, std::size_t count) const;

  /// Parent groups are created. Row-major. A text longer than 32 KiB is stored as an array of one text.
  void write(const std::string& object, const std::vector<double>& values,
             const std::vector<std::size_t>& shape) override;
  void write(const std::string& object, const std::vector<int>& values, const std::vector<std::size_t>& shape) override;
  void write(const std::string& object, const std::string& text) override;
  void write(const std::string& object, double value) override;
  void write(const std::string& object, std::int64_t value) override;
  /// Mode::grow: reserves disk space for `bytes` of rows that will be added. Throws RunError where there is none; then
  /// the file is unchanged and can still be closed.
  void reserve(std::uintmax_t bytes);
  /// Adds rows of shape `row` (its extents above 0) to an array; the first call creates the array and sets the chunk
  /// size, in which rows are read and stored from then on.
  /// chunk_rows: of a chunk, where calls have different numbers of them; 0: those of the first call.
  void append(const std::string& object, const std::vector<double>& values, const std::vector<std::size_t>& row,
              std::size_t chunk_rows = 0);
  /// Writes the whole file as write_file (kernels/base/atomic_file.hpp) does, with its errors.
  void close();

  const std::string& path() const override { return path_; }

 private:
  std::int64_t open(const std::string& object) const;
  void check_storage(std::int64_t set, const std::string& object, std::size_t count, std::size_t size) const;
  template <class T>
  std::vector<T> read(const std::string& object, std::int64_t type) const;
  void write_raw(const std::string& object, const void* data, std::int64_t type, const std::vector<std::size_t>& shape);
  std::int64_t create(const std::string& object, std::int64_t type, std::int64_t space, std::int64_t properties) const;

  std::string path_;
  std::int64_t file_ = -1;
  MemoryImage image_;
  std::unique_ptr<FileAside> aside_;
  mutable std::vector<std::string> checked_;  // objects whose storage read_rows has looked at
};

/// Makes a file: `fill` is called with it. Readers see the old file or the whole new one.
template <class Fill>
void write_hdf5_atomically(const std::string& path, Fill fill) {
  Hdf5File file(path, Hdf5File::Mode::create);
  fill(file);
  file.close();
}

}  // namespace supple
