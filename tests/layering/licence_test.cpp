// No program that is shipped loads a library under the GPL: `ldd` over everything that stands beside the command.

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

namespace supple {
namespace {

// GPL (or AGPL) libraries that a linear-algebra, meshing or terminal dependency could bring in.
const std::vector<std::string> forbidden = {"libcholmod",  "libumfpack", "libspqr",  "libspex", "libgsl",
                                            "libreadline", "libhistory", "libfftw3", "libgmsh", "libCGAL",
                                            "libglpk",     "libtet",     "libgdbm",  "libpari", "libginac",
                                            "libmpfrc++",  "libavcodec", "libx264",  "libSofa", "libsofa"};

std::string forbidden_library(const std::string& ldd_output) {
  std::istringstream words(ldd_output);
  std::string word;
  while (words >> word) {
    const std::string name = word.substr(word.find_last_of('/') + 1);
    for (const std::string& library : forbidden)
      if (name.rfind(library, 0) == 0) return name;
  }
  return {};
}

std::string ldd(const std::filesystem::path& program) {
  const std::string command = "ldd '" + program.string() + "' 2>&1";
  std::string output;
  if (FILE* pipe = popen(command.c_str(), "r")) {
    std::array<char, 4096> buffer;
    while (std::fgets(buffer.data(), static_cast<int>(buffer.size()), pipe)) output += buffer.data();
    pclose(pipe);
  }
  return output;
}

TEST(Licence, GateSeesForbiddenLibraries) {
  EXPECT_EQ(forbidden_library("\tlibcholmod.so.3 => /usr/lib/libcholmod.so.3 (0x00007f)\n"), "libcholmod.so.3");
  EXPECT_EQ(forbidden_library("\tliblapack.so.3 => /usr/lib/liblapack.so.3 (0x00007f)\n"), "");
}

TEST(Licence, ShippedProgramsLoadNothingUnderTheGpl) {
  const std::filesystem::path command = SUPPLE_BINARY;
  if (!std::filesystem::exists(command)) GTEST_SKIP() << command << " is not built";
  for (const char* name : {"supple", "supple-view", "supple-mpi"}) {
    const std::filesystem::path program = command.parent_path() / name;
    if (!std::filesystem::exists(program)) continue;
    const std::string output = ldd(program);
    EXPECT_NE(output.find("libc.so"), std::string::npos) << output;
    EXPECT_EQ(output.find("not found"), std::string::npos) << output;
    EXPECT_EQ(forbidden_library(output), "") << program;
  }
}

}  // namespace
}  // namespace supple
