// Verbs that compute on a device: the same answers as on the CPU. A GPU, or the emulated one.
#include <cmath>
#include <nlohmann/json.hpp>

#include "tests/cli/program.hpp"
#include "tests/devices.hpp"

namespace supple::test {
namespace {

using nlohmann::json;

class VerbsOnDevice : public Cli, public testing::WithParamInterface<Device> {
 protected:
  void SetUp() override {
    Cli::SetUp();
    need_device(GetParam());
    std::ofstream(path("scene.toml"), std::ios::app)
        << "[reduce]\nstates = 12\nvalidation_states = 4\nmodes_tolerance = 1e-3\n";
  }
  std::string device() const { return to_string(GetParam()); }
  json reported(std::vector<std::string> arguments) {
    for (const char* more : {"--json", "report.json"}) arguments.emplace_back(more);
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return outcome.code == 0 ? json::parse(read_text(path("report.json"))) : json();
  }
};
INSTANTIATE_TEST_SUITE_P(Devices, VerbsOnDevice, every_device(), device_name);

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
  const std::vector<std::string> words{"bench", "--case", "forward/beam.rom", "--model", "beam.rom.h5", "--seconds", "10 ms",
                                       "--batch", "6", "--force", "--threads", "1"};
  const auto row = [&](std::vector<std::string> more) {
    more.insert(more.begin(), words.begin(), words.end());
    return reported(more);
  };
  const json here = row({"--device", "cpu"});
  ASSERT_FALSE(HasFailure());
  for (const std::vector<std::string>& way :
       {std::vector<std::string>{}, {"--resident"}, {"--resident", "--fused"}, {"--resident", "--precision", "fp32"}}) {
    std::vector<std::string> more{"--device", device()};
    more.insert(more.end(), way.begin(), way.end());
    const json found = row(more);
    ASSERT_FALSE(HasFailure());
    EXPECT_EQ(found[0]["device"], device());
    EXPECT_EQ(found[0]["batch"], 6);
    EXPECT_NEAR(found[0]["error"].get<double>(), here[0]["error"].get<double>(), 1e-3);
  }
}

}  // namespace
}  // namespace supple::test
