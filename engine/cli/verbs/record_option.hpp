#pragma once
// --record FILE of the verbs that simulate (engine/run/run_recorder.hpp).

#include <string>

namespace supple::cli {

class Options;
struct Context;

void declare_record(Options& options, std::string& file);
// Throws InputError where the file could not be written, or is there already (unless --force). "": nothing is recorded.
void check_record(const Context& context, const std::string& file, const std::string& robot);

}  // namespace supple::cli
