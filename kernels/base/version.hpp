#pragma once
// What this build is.

namespace supple {

const char* version();     // "0.1.0"
const char* commit();      // of the source tree at build time, "-dirty" if it had changes; "unknown" outside git
const char* build_type();  // "Release", ...

}  // namespace supple
