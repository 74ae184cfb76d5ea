#pragma once
// Named arrays and texts in a tree, whatever file they lie in: HDF5 (hdf5_file.hpp), or the flat file of the runtime
// (flat_file.hpp). Names are paths, "/robot/actuators/00/range". Reading throws InputError with the file's name and the
// object's path where an object is missing or is not what it should be.

#include <cstdint>
#include <string>
#include <vector>

namespace supple {

class DataSource {
 public:
  virtual ~DataSource() = default;
  /// The file, for messages.
  virtual const std::string& path() const = 0;
  /// Whether the object, or a group of objects, exists.
  virtual bool has(const std::string& object) const = 0;
  virtual std::vector<std::size_t> shape(const std::string& object) const = 0;
  /// Numbers of any kind, as those.
  virtual std::vector<double> read_doubles(const std::string& object) const = 0;
  virtual std::vector<int> read_ints(const std::string& object) const = 0;
  virtual std::int64_t read_int(const std::string& object) const = 0;
  virtual std::string read_text(const std::string& object) const = 0;

  double read_double(const std::string& object) const;
  /// As above, and the array must have exactly this shape.
  std::vector<double> read_doubles(const std::string& object, const std::vector<std::size_t>& shape) const;
  std::vector<int> read_ints(const std::string& object, const std::vector<std::size_t>& shape) const;

 protected:
  [[noreturn]] void fail(const std::string& object, const std::string& problem) const;
};

class DataSink {
 public:
  virtual ~DataSink() = default;
  /// Parent groups are created. Row-major.
  virtual void write(const std::string& object, const std::vector<double>& values,
                     const std::vector<std::size_t>& shape) = 0;
  virtual void write(const std::string& object, const std::vector<int>& values,
                     const std::vector<std::size_t>& shape) = 0;
  virtual void write(const std::string& object, const std::string& text) = 0;
  virtual void write(const std::string& object, double value) = 0;
  virtual void write(const std::string& object, std::int64_t value) = 0;
};

}  // namespace supple
