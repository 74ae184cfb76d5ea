#pragma once
// A thin layer over the HDF5 C library: whole arrays of double or 32/64-bit integers and texts by path, nothing else.
// Reading a foreign or damaged file throws InputError with the file's name and the object's path; sizes are checked
// before anything is allocated.

#include <cstdint>
#include <string>
#include <vector>

namespace supple {

class Hdf5File {
 public:
  enum class Mode { read, create };  // create truncates
  Hdf5File(const std::string& path, Mode mode);
  ~Hdf5File();
  Hdf5File(const Hdf5File&) = delete;
  Hdf5File& operator=(const Hdf5File&) = delete;

  // Written by Hdf5File, or otherwise in the format of HDF5 1.8 or later: damage outside of the numbers is detected.
  bool checksummed() const;
  bool has(const std::string& object) const;
  std::vector<std::size_t> shape(const std::string& object) const;
  // Names of the objects in a group.
  std::vector<std::string> list(const std::string& group) const;

  std::vector<double> read_doubles(const std::string& object) const;
  std::vector<int> read_ints(const std::string& object) const;
  std::string read_text(const std::string& object) const;
  double read_double(const std::string& object) const;
  std::int64_t read_int(const std::string& object) const;
  // As above, and the array must have exactly this shape.
  std::vector<double> read_doubles(const std::string& object, const std::vector<std::size_t>& shape) const;
  std::vector<int> read_ints(const std::string& object, const std::vector<std::size_t>& shape) const;

  // Groups on the way are created. Row-major.
  void write(const std::string& object, const std::vector<double>& values, const std::vector<std::size_t>& shape);
  void write(const std::string& object, const std::vector<int>& values, const std::vector<std::size_t>& shape);
  void write(const std::string& object, const std::string& text);
  void write(const std::string& object, double value);
  void write(const std::string& object, std::int64_t value);
  // Writes everything to disk; throws RunError when the disk is full.
  void close();

  const std::string& path() const { return path_; }

 private:
  [[noreturn]] void fail(const std::string& object, const std::string& problem) const;
  std::int64_t open(const std::string& object) const;
  void check_storage(std::int64_t set, const std::string& object, std::size_t count, std::size_t size) const;
  template <class T>
  std::vector<T> read(const std::string& object, std::int64_t type) const;
  void write_raw(const std::string& object, const void* data, std::int64_t type, const std::vector<std::size_t>& shape);

  std::string path_;
  std::int64_t file_ = -1;
};

// Writes a file under a temporary name beside `path` and renames it when `fill` is done: readers see the old file or
// the whole new one.
template <class Fill>
void write_hdf5_atomically(const std::string& path, Fill fill);
// The two halves of it.
std::string temporary_name(const std::string& path);
void replace_file(const std::string& temporary, const std::string& path);

template <class Fill>
void write_hdf5_atomically(const std::string& path, Fill fill) {
  const std::string temporary = temporary_name(path);
  {
    Hdf5File file(temporary, Hdf5File::Mode::create);
    fill(file);
    file.close();
  }
  replace_file(temporary, path);
}

}  // namespace supple
