// Files appear whole, replace what was there, and leave nothing behind.

#include "kernels/base/atomic_file.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "kernels/base/error.hpp"

namespace supple {
namespace {

class AtomicFiles : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "supple-atomic-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string content() const {
    std::ifstream file(path(), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }
  std::string path() const { return (folder_ / "file").string(); }
  long files() const {
    return std::distance(std::filesystem::directory_iterator(folder_), std::filesystem::directory_iterator());
  }
  std::filesystem::path folder_;
};

TEST_F(AtomicFiles, WriteAndReplace) {
  for (const std::string& text : {std::string("one"), std::string(), std::string(3000000, '\0')}) {
    write_file(path(), text);
    EXPECT_EQ(content(), text);
    EXPECT_EQ(files(), 1);
  }
}

TEST_F(AtomicFiles, AFolderThatIsNotThereOrInTheWayIsAnInputError) {
  EXPECT_THROW(write_file(path() + "/no/file", "x"), InputError);
  std::filesystem::create_directories(path() + "/in/the/way");
  EXPECT_THROW(write_file(path(), "x"), InputError);
  EXPECT_EQ(files(), 1);
}

// The process may write only 100 kB to a file, which looks like a full disk.
TEST_F(AtomicFiles, AFullDiskIsARunErrorAndTheOldFileStays) {
  write_file(path(), "old");
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{100000, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  EXPECT_THROW(write_file(path(), std::string(200000, 'x')), RunError);
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(content(), "old");
  EXPECT_EQ(files(), 1);
}

}  // namespace
}  // namespace supple
