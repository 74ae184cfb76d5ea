#pragma once
// `supple export --format sofa`: a reduced model as the text files of SOFA's ModelOrderReduction.

#include <string>

namespace supple::cli {

struct Context;

struct SofaExport {
  std::string model;      // .rom.h5
  std::string scene;      // that it was made from
  std::string modes;      // modes.txt of its import; or
  std::string snapshots;  // folder of its reduction; without both NAME.snapshots
  bool five_decimals = false;
  std::string folder;
};
// Writes the files and --json; returns the exit code. Throws InputError.
int export_to_sofa(Context& context, const SofaExport& arguments);

}  // namespace supple::cli
