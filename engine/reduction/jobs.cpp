#include "engine/reduction/jobs.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "kernels/base/error.hpp"

extern char** environ;  // NOLINT: POSIX

namespace supple {

namespace {

std::string last_lines(const std::string& file, std::size_t most) {
  std::ifstream stream(file);
  std::string text((std::istreambuf_iterator<char>(stream)), std::istreambuf_iterator<char>());
  if (text.size() > most) text = text.substr(text.size() - most);
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

// The environment with one thread per worker.
std::vector<std::string> worker_environment() {
  std::vector<std::string> environment;
  for (char** entry = environ; *entry; ++entry) {
    const std::string text = *entry;
    if (text.rfind("OMP_NUM_THREADS=", 0) == 0 || text.rfind("OPENBLAS_NUM_THREADS=", 0) == 0) continue;
    environment.push_back(text);
  }
  environment.push_back("OMP_NUM_THREADS=1");
  environment.push_back("OPENBLAS_NUM_THREADS=1");
  return environment;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (std::string& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

}  // namespace

void run_workers(const std::string& executable, int jobs, const std::function<std::vector<std::string>(int)>& arguments,
                 const std::string& stage, double total, const std::function<double()>& done,
                 const Progress& progress) {
  struct Worker {
    pid_t process = -1;
    std::string log;
    int status = 0;
  };
  std::vector<Worker> workers(static_cast<std::size_t>(jobs));
  std::vector<std::string> environment = worker_environment();
  const std::vector<char*> environment_pointers = pointers(environment);
  for (int k = 0; k < jobs; ++k) {
    Worker& worker = workers[static_cast<std::size_t>(k)];
    worker.log =
        (std::filesystem::temp_directory_path() / fmt::format("supple-worker-{}-{}.log", getpid(), k)).string();
    std::vector<std::string> words = arguments(k);
    words.insert(words.begin(), executable);
    const std::vector<char*> argv = pointers(words);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 1, worker.log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_adddup2(&actions, 1, 2);
    // A process group of its own: Ctrl-C in a terminal reaches the parent only, which passes it on once.
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    const int error = posix_spawn(&worker.process, executable.c_str(), &actions, &attributes, argv.data(),
                                  environment_pointers.data());
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    if (error != 0) {
      for (const Worker& started : workers)
        if (started.process > 0) kill(started.process, SIGTERM);
      throw RunError("cannot start a worker process", "--jobs 1");
    }
  }
  int running = jobs;
  bool told = false;
  while (running > 0) {
    for (Worker& worker : workers) {
      if (worker.process <= 0) continue;
      if (waitpid(worker.process, &worker.status, WNOHANG) == worker.process) {
        worker.process = -1;
        --running;
      }
    }
    if (progress.stopped() && !told) {
      for (const Worker& worker : workers)
        if (worker.process > 0) kill(worker.process, SIGINT);
      told = true;
    }
    progress(stage, done(), total, fmt::format("{} jobs", running));
    if (running > 0) std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  std::string failure;
  for (const Worker& worker : workers) {
    const bool interrupted = told || (WIFEXITED(worker.status) && WEXITSTATUS(worker.status) == 130);
    if (interrupted) told = true;
    if (!interrupted && worker.status != 0 && failure.empty())
      failure = WIFSIGNALED(worker.status) ? fmt::format("a worker was killed by signal {}", WTERMSIG(worker.status))
                                           : "a worker failed:\n" + last_lines(worker.log, 2000);
    std::error_code error;
    std::filesystem::remove(worker.log, error);
  }
  if (told) throw Interrupted("stopped; finished paths are kept", "the same command with --resume");
  if (!failure.empty())
    throw RunError(failure, "run it again: finished paths are kept; --jobs 1 shows the worker's own messages");
}

}  // namespace supple
