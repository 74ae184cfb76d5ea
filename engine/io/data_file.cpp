#include "engine/io/data_file.hpp"

#include "kernels/base/error.hpp"

namespace supple {

void DataSource::fail(const std::string& object, const std::string& problem) const {
  throw InputError("'" + object + "' " + problem, "the file is damaged or of another kind: write it again",
                   {path(), 0, 0, ""});
}

double DataSource::read_double(const std::string& object) const {
  const std::vector<double> values = read_doubles(object);
  if (values.size() != 1) fail(object, "is not one number");
  return values.front();
}

std::vector<double> DataSource::read_doubles(const std::string& object,
                                             const std::vector<std::size_t>& expected) const {
  if (shape(object) != expected) fail(object, "does not have the shape it should");
  return read_doubles(object);
}

std::vector<int> DataSource::read_ints(const std::string& object, const std::vector<std::size_t>& expected) const {
  if (shape(object) != expected) fail(object, "does not have the shape it should");
  return read_ints(object);
}

}  // namespace supple
