#pragma once
// Where a model's full-order states lie unless told otherwise.

#include <string>

namespace supple::cli {

// a.rom.h5 -> a.snapshots.
inline std::string default_snapshots(const std::string& model) {
  std::string stem = model;
  for (const char* ending : {".h5", ".rom"})
    if (stem.ends_with(ending)) stem.resize(stem.size() - std::string(ending).size());
  return stem + ".snapshots";
}

}  // namespace supple::cli
