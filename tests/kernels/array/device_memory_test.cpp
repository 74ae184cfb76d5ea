// Memory of a device: what has no room is an error that the program survives.

#include <gtest/gtest.h>

#include <vector>

#include "kernels/array/addresses.hpp"
#include "kernels/array/array.hpp"
#include "kernels/array/launch.hpp"
#include "kernels/array/room.hpp"
#include "tests/devices.hpp"

namespace supple {
namespace {

class DeviceMemory : public test::OnDevice {};
INSTANTIATE_TEST_SUITE_P(Devices, DeviceMemory, test::every_device(), test::device_name);

// On every device, also where memory was used before.
TEST_P(DeviceMemory, IsZeroAtFirst) {
  for (int round = 0; round < 2; ++round) {
    Array<double> array(GetParam(), 1000);
    std::vector<double> values(array.size(), 7);
    array.download(values);
    EXPECT_EQ(values, std::vector<double>(array.size(), 0.0));
    array.upload(std::vector<double>(array.size(), 3.0));
  }
}

// CUDA keeps its last error until somebody asks: the next launch must not be blamed for it.
TEST_P(DeviceMemory, WorkGoesOnAfterWhatHadNoRoom) {
  if (GetParam() == cpu()) GTEST_SKIP() << "the main memory is not limited";
  const std::size_t free = free_bytes(GetParam());
  EXPECT_THROW(Array<double>(GetParam(), free / sizeof(double) + (1 << 20)), CapabilityError);
  Array<std::byte*> addresses(GetParam(), 4);
  Array<std::byte> data(GetParam(), 64);
  launch(GetParam(), 4, AddressOp{data.data(), 16, addresses.data()});
  std::vector<std::byte*> found(4);
  addresses.download(found);
  for (int k = 0; k < 4; ++k) EXPECT_EQ(found[static_cast<std::size_t>(k)], data.data() + 16 * k);
}

TEST_P(DeviceMemory, NeededMemoryIsSaidBeforeItIsTaken) {
  const std::size_t free = free_bytes(GetParam());
  EXPECT_NO_THROW(need_memory(GetParam(), 1000, "a test", "nothing"));
  try {
    need_memory(GetParam(), free + free / 4, "a batch of 7 robots", "a smaller batch");
    FAIL() << "there is no room";
  } catch (const CapabilityError& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("a batch of 7 robots takes "), std::string::npos) << text;
    EXPECT_NE(text.find("are free"), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace supple
