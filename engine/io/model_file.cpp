#include "engine/io/model_file.hpp"

#include "engine/io/hdf5_file.hpp"
#include "kernels/base/error.hpp"

namespace supple {

void write_model(const ReducedModel& model, const std::string& path) {
  write_hdf5_atomically(path, [&](Hdf5File& file) { write_model_data(model, file); });
}

bool is_model_file(const std::string& path) {
  try {
    const Hdf5File file(path, Hdf5File::Mode::read);
    return file.checksummed() && is_model_data(file);
  } catch (const InputError&) {
    return false;
  }
}

ReducedModel read_model(const std::string& path) {
  const Hdf5File file(path, Hdf5File::Mode::read);
  // Without checksums HDF5 does not detect damage in the structure of a file.
  if (!file.checksummed() || !is_model_data(file))
    throw InputError("this HDF5 file is not a reduced model", "give a .rom.h5 written by `supple reduce`",
                     {path, 0, 0, ""});
  return read_model_data(file);
}

}  // namespace supple
