// Arrays and texts of every size come back, and no flipped bit goes unnoticed.

#include "engine/io/hdf5_file.hpp"

#include <sys/resource.h>

#include <cmath>
#include <csignal>
#include <filesystem>
#include <thread>

#include "kernels/base/error.hpp"
#include "tests/engine/bodies/flipped_bits.hpp"

namespace supple {
namespace {

using reduced_bodies::TemporaryFolder;

std::vector<double> numbers(std::size_t count) {
  std::vector<double> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = std::sin(0.1 * static_cast<double>(i));
  return values;
}

class Hdf5 : public testing::Test {
 protected:
  template <class Fill>
  void write(const Fill& fill) {
    write_hdf5_atomically(path_, fill);
  }
  Hdf5File read() const { return Hdf5File(path_, Hdf5File::Mode::read); }

  TemporaryFolder folder_;
  std::string path_ = folder_ / "file.h5";
};

// 4096 doubles and 32768 letters lie in a header, more in a chunk, more than 2^23 doubles in several chunks.
TEST_F(Hdf5, ArraysOfEverySizeComeBack) {
  for (const auto& [rows, columns] : std::vector<std::pair<std::size_t, std::size_t>>{
           {0, 3}, {1, 1}, {4096, 1}, {4097, 1}, {1, 5000}, {3, 3000001}, {4200001, 2}}) {
    const std::vector<double> values = numbers(rows * columns);
    const std::vector<int> counts(values.size(), 7);
    write([&](Hdf5File& file) {
      file.write("/a/values", values, {rows, columns});
      file.write("/a/counts", counts, {rows, columns});
    });
    EXPECT_EQ(read().read_doubles("/a/values", {rows, columns}), values) << rows << " x " << columns;
    EXPECT_EQ(read().read_ints("/a/counts", {rows, columns}), counts) << rows << " x " << columns;
    // 12 bytes an entry, and less than half as much for what of the last chunk lies outside.
    EXPECT_LT(std::filesystem::file_size(path_), 17 * values.size() + 4000) << rows << " x " << columns;
  }
}

TEST_F(Hdf5, TextsOfEverySizeComeBack) {
  for (const std::size_t length : {0U, 1U, 32766U, 32767U, 32768U, 100000U}) {
    const std::string text(length, 'x');
    write([&](Hdf5File& file) { file.write("/text", text); });
    EXPECT_EQ(read().read_text("/text"), text) << length;
  }
}

TEST_F(Hdf5, EveryFlippedBitIsSeen) {
  const std::vector<double> small = numbers(20), large = numbers(5000);
  const std::string text(500, 'x');
  write([&](Hdf5File& file) {
    file.write("/number", 1.5);
    file.write("/count", std::int64_t{42});
    file.write("/text", text);
    file.write("/a/small", small, {4, 5});
    file.write("/a/large", large, {5000});
    // So many names that HDF5 keeps them in a tree of their own.
    for (int i = 0; i < 20; ++i) file.write("/names/" + std::to_string(i), std::int64_t{i});
  });
  const auto same = [&](const std::string& path) {
    const Hdf5File file(path, Hdf5File::Mode::read);
    bool equal = file.read_double("/number") == 1.5 && file.read_int("/count") == 42 && file.read_text("/text") == text;
    equal = equal && file.read_doubles("/a/small", {4, 5}) == small && file.read_doubles("/a/large", {5000}) == large;
    for (int i = 0; i < 20; ++i) equal = equal && file.read_int("/names/" + std::to_string(i)) == i;
    return equal && file.list("/names").size() == 20 && !file.has("/a/other");
  };
  ASSERT_TRUE(same(path_));
  // Nearly everything is used.
  EXPECT_GT(flipped_bits::refused(path_, 11, same), 0.8);
}

// On a thread of its own, whose errors nobody else clears away.
TEST_F(Hdf5, AFileThatIsCutOffIsRefusedWithoutAWordOfHdf5) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the leak checker has words of its own when a process of several threads ends";
#endif
  write([](Hdf5File& file) { file.write("/a", numbers(5000), {5000}); });
  std::filesystem::resize_file(path_, 20000);
  const auto open_twice = [&] {
    for (int k = 0; k < 2; ++k) std::thread([&] { EXPECT_THROW(read(), InputError); }).join();
    std::exit(testing::Test::HasFailure() ? 1 : 0);
  };
  EXPECT_EXIT(open_twice(), testing::ExitedWithCode(0), testing::Eq(""));
}

TEST_F(Hdf5, NothingIsLeftOfAFileThatWasNotFinished) {
  EXPECT_THROW(write([](Hdf5File& file) {
                 file.write("/a", 1.0);
                 throw RunError("stopped", "");
               }),
               RunError);
  EXPECT_TRUE(std::filesystem::is_empty(folder_ / "."));
}

// A process that may write only 100 kB to a file sees a full disk.
TEST_F(Hdf5, AFullDiskIsARunErrorAndTheOldFileStays) {
  write([](Hdf5File& file) { file.write("/a", 1.0); });
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{100000, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  EXPECT_THROW(write([](Hdf5File& file) { file.write("/a", numbers(20000), {20000}); }), RunError);
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(read().read_double("/a"), 1.0);
}

}  // namespace
}  // namespace supple
