#pragma once
// What this program and this machine are: printed by `supple info`, written into every JSON.

#include <string>
#include <utility>
#include <vector>

#include "kernels/base/version.hpp"

namespace supple::cli {

std::string isa();             // instruction set it was compiled for, "x86-64-v4 (AVX-512)"
std::string processor();       // model of this machine's processor
std::string compiler_flags();  // compiler and flags of the build, "g++ 12.2.0 -O3 -DNDEBUG -march=native"

// Label and value, for people.
std::vector<std::pair<std::string, std::string>> build_facts();

}  // namespace supple::cli
