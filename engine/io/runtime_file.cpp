#include "engine/io/runtime_file.hpp"

#include <fstream>
#include <iterator>

#include "engine/io/flat_file.hpp"
#include "engine/io/model_data.hpp"
#include "kernels/base/atomic_file.hpp"
#include "kernels/base/error.hpp"

namespace supple {

void write_runtime_file(const ReducedModel& model, const std::string& path) {
  FlatSink file;
  write_model_data(model, file);
  write_file(path, file.bytes());
}

ReducedModel read_runtime_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw InputError("cannot read '" + path + "'", "check the path", {path, 0, 0, ""});
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  return read_runtime_bytes(bytes, path);
}

ReducedModel read_runtime_bytes(std::string_view bytes, const std::string& name) {
  const FlatSource file(bytes, name);
  if (!is_model_data(file))
    throw InputError("'" + name + "' does not hold a reduced model", "supple export --format runtime",
                     {name, 0, 0, ""});
  return read_model_data(file);
}

}  // namespace supple
