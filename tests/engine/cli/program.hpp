#pragma once
// Runs the `supple` program in a folder of its own, as a user would.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "engine/mesh/generate.hpp"
#include "engine/mesh/write.hpp"

namespace supple::test {

// Of a bundle its path is relative to the root; the emulated GPU's tests run another.
inline std::filesystem::path program_under_test() {
  const char* other = std::getenv("SUPPLE_TEST_BINARY");
  return std::filesystem::absolute(other == nullptr ? SUPPLE_BINARY : other);
}

struct Outcome {
  int code = -1;
  std::string out, err;
};

inline std::string read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

inline void write_text(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

// A temporary folder, the working directory of the programs, and a small beam to simulate in it: scene.toml, held at
// x = 0, cables "lift" (N) and "bend" (mm).
class Cli : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/supple-cli-XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    folder_ = name;
    write_msh(folder_ + "/beam.msh", box_hexahedra({{0, 0, 0}}, {{0.2, 0.04, 0.04}}, 5, 1, 1));
    write_text(folder_ + "/scene.toml", R"(name = "beam"
time_step = "10 ms"
duration = "50 ms"
[body]
order = 1
dilatation = "points"
mesh = {file = "beam.msh", unit = "m"}
density = "1000 kg/m^3"
[[body.material]]
young = "500 kPa"
poisson = 0.3
[[fix]]
group = "x-"
[[actuator]]
name = "lift"
type = "cable"
points = [["200 mm", "20 mm", "40 mm"]]
pull_point = ["200 mm", "20 mm", "1 m"]
control = "force"
range = ["0 N", "2 N"]
[[actuator]]
name = "bend"
type = "cable"
points = [["200 mm", "20 mm", "0 mm"]]
pull_point = ["0 mm", "20 mm", "-100 mm"]
range = ["0 mm", "20 mm"]
[[effector]]
name = "tip"
point = ["200 mm", "20 mm", "20 mm"]
)");
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  // Starts the program; its output goes to files "out" and "err" of the folder.
  pid_t start(const std::vector<std::string>& arguments) { return start(program_under_test(), arguments); }
  pid_t start(const std::string& program, const std::vector<std::string>& arguments) {
    const pid_t child = fork();
    if (child != 0) return child;
    std::vector<char*> pointers{const_cast<char*>(program.c_str())};
    for (const std::string& argument : arguments) pointers.push_back(const_cast<char*>(argument.c_str()));
    pointers.push_back(nullptr);
    if (chdir(folder_.c_str()) != 0) _exit(126);
    dup2(open("out", O_CREAT | O_TRUNC | O_WRONLY, 0644), STDOUT_FILENO);
    dup2(open("err", O_CREAT | O_TRUNC | O_WRONLY, 0644), STDERR_FILENO);
    execvp(program.c_str(), pointers.data());
    _exit(127);
  }

  Outcome finish(pid_t child) {
    int status = 0;
    waitpid(child, &status, 0);
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status), read_text(path("out")),
            read_text(path("err"))};
  }

  Outcome run(const std::vector<std::string>& arguments) { return finish(start(arguments)); }

  // The answers to these lines on standard input: converse("run m.rom.h5", "{}\n").
  std::vector<nlohmann::json> converse(const std::string& words, const std::string& lines) {
    write_text(path("lines"), lines);
    EXPECT_EQ(system(("cd " + folder_ + " && '" + program_under_test().string() + "' " + words +
                      " --stdin < lines > answers 2> err")
                         .c_str()),
              0)
        << read_text(path("err"));
    std::vector<nlohmann::json> answers;
    std::istringstream text(read_text(path("answers")));
    for (std::string line; std::getline(text, line);) answers.push_back(nlohmann::json::parse(line));
    return answers;
  }

  std::string path(const std::string& name) const { return folder_ + "/" + name; }
  bool exists(const std::string& name) const { return std::filesystem::exists(path(name)); }
  std::string folder_;
};

inline testing::AssertionResult contains(const std::string& text, const std::string& part) {
  if (text.find(part) != std::string::npos) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "no '" << part << "' in:\n" << text;
}

}  // namespace supple::test
