// Verbs that compute on a device: the same answers as on the CPU. A GPU, or the emulated one.
#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <set>

#include "tests/devices.hpp"
#include "tests/engine/cli/program.hpp"

namespace supple::test {
namespace {

using nlohmann::json;

class Reported : public Cli {
 protected:
  void SetUp() override {
    Cli::SetUp();
    std::ofstream(path("scene.toml"), std::ios::app)
        << "[reduce]\nstates = 12\nvalidation_states = 4\nmodes_tolerance = 1e-3\n";
  }
  json reported(std::vector<std::string> arguments) {
    for (const char* more : {"--json", "report.json", "--force"}) arguments.emplace_back(more);
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return outcome.code == 0 ? json::parse(read_text(path("report.json"))) : json();
  }
  json bench(const std::vector<std::string>& more) {
    std::vector<std::string> words{"bench",   "--case", "forward/beam", "--model", "beam.rom.h5",
                                   "--batch", "6",      "--threads",    "1"};
    words.insert(words.end(), more.begin(), more.end());
    return reported(words);
  }
};

class VerbsOnDevice : public Reported, public testing::WithParamInterface<Device> {
 protected:
  void SetUp() override {
    Reported::SetUp();
    need_device(GetParam());
  }
  std::string device() const { return to_string(GetParam()); }
};
INSTANTIATE_TEST_SUITE_P(Devices, VerbsOnDevice, testing::Values(cuda(0)), device_name);

TEST_P(VerbsOnDevice, Reduce) {
  const json one = reported({"reduce", ".", "-o", "one.rom.h5"}),
             there = reported({"reduce", ".", "-o", "there.rom.h5", "--batch", "4", "--device", device()});
  ASSERT_FALSE(HasFailure());
  EXPECT_EQ(there["device"], device());
  EXPECT_EQ(there["modes"], one["modes"]);
  // The same snapshots to rounding; the choice of elements may turn on it, the quality of the model does not.
  const double expected = one["validation"]["shape_error_mean"], found = there["validation"]["shape_error_mean"];
  EXPECT_LT(found, 0.05);
  EXPECT_LT(std::abs(found - expected), 0.5 * expected);
}

TEST_P(VerbsOnDevice, Bench) {
  ASSERT_EQ(run({"reduce", ".", "-o", "beam.rom.h5"}).code, 0);
  const json here = bench({"--device", "cpu", "--seconds", "10 ms"});
  ASSERT_FALSE(HasFailure());
  for (const std::vector<std::string>& way :
       {std::vector<std::string>{}, {"--resident"}, {"--resident", "--fused"}, {"--resident", "--precision", "fp32"}}) {
    std::vector<std::string> more{"--device", device(), "--seconds", "10 ms"};
    more.insert(more.end(), way.begin(), way.end());
    const json found = bench(more);
    ASSERT_FALSE(HasFailure());
    EXPECT_EQ(found[0]["batch"], 6);
    EXPECT_NEAR(found[0]["error"].get<double>(), here[0]["error"].get<double>(), 1e-3);
  }
}

// Of the emulated GPU: neither the order of threads nor when queued work is done changes a bit.
class CudaModes : public Reported {};

TEST_F(CudaModes, StatesHaveEqualHashes) {
  const char* mode = std::getenv("SUPPLE_EMULATION");
  if (mode == nullptr) GTEST_SKIP() << "not on the emulated GPU";
  const std::string own = mode;
  if (!own.starts_with("now,up")) GTEST_SKIP() << "once for all modes";
  ASSERT_EQ(run({"reduce", ".", "-o", "beam.rom.h5"}).code, 0);
  for (const std::vector<std::string>& way :
       {std::vector<std::string>{"--precision", "fp64"}, {"--resident"}, {"--resident", "--fused"}}) {
    std::vector<std::string> more{"--device", "cuda:0", "--steps", "200"};
    more.insert(more.end(), way.begin(), way.end());
    std::set<std::string> hashes;
    for (const char* other : {"now,up", "late,down,front", "late,random:1", "late,random:2,front", "now,random:3"}) {
      ASSERT_EQ(setenv("SUPPLE_EMULATION", other, 1), 0);
      const json found = bench(more);
      ASSERT_FALSE(HasFailure()) << other;
      hashes.insert(found[0]["state_hash"].get<std::string>());
    }
    EXPECT_EQ(hashes.size(), 1u) << way.front();
  }
  ASSERT_EQ(setenv("SUPPLE_EMULATION", own.c_str(), 1), 0);
}

}  // namespace
}  // namespace supple::test
