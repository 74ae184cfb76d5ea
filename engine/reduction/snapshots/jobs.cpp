#include "engine/reduction/snapshots/jobs.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
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

struct Worker {
  pid_t process = -1;
  std::string log;
  int status = 0;
};

// The child's part of a start: nothing but system calls between fork and exec, as other threads may hold locks.
[[noreturn]] void become(const char* executable, char* const* arguments, char* const* environment, const char* log,
                         pid_t parent, const sigset_t& mask) {
  // Dies with its parent, also by SIGKILL; a parent that was gone before this took effect has been replaced already.
  if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent) _exit(127);
  // A process group of its own: Ctrl-C in a terminal reaches the parent only, which passes it on once.
  setpgid(0, 0);
  // The parent's handlers would swallow a signal that comes before exec.
  signal(SIGINT, SIG_DFL);
  signal(SIGTERM, SIG_DFL);
  sigprocmask(SIG_SETMASK, &mask, nullptr);
  const int in = open("/dev/null", O_RDONLY);
  const int out = open(log, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0600);
  if (in < 0 || out < 0 || dup2(in, 0) < 0 || dup2(out, 1) < 0 || dup2(out, 2) < 0) _exit(127);
  execve(executable, arguments, environment);
  static const char words[] = "the program cannot be started\n";
  (void)!write(2, words, sizeof words - 1);
  _exit(127);
}

void remove_log(const Worker& worker) {
  std::error_code error;
  std::filesystem::remove(worker.log, error);
}

}  // namespace

void run_workers(const std::vector<std::string>& program, int jobs, const std::string& folder,
                 const std::function<std::vector<std::string>(int)>& arguments, const std::string& stage, double total,
                 const std::function<double()>& done, const Progress& progress) {
  std::vector<Worker> workers(static_cast<std::size_t>(jobs));
  std::vector<std::string> environment = worker_environment();
  const std::vector<char*> environment_pointers = pointers(environment);
  const pid_t parent = getpid();
  for (int k = 0; k < jobs; ++k) {
    Worker& worker = workers[static_cast<std::size_t>(k)];
    worker.log = (std::filesystem::path(folder) / fmt::format("worker-{}-{}.log", parent, k)).string();
    std::vector<std::string> words = arguments(k);
    words.insert(words.begin(), program.begin(), program.end());
    const std::vector<char*> argv = pointers(words);
    sigset_t all, mask;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &mask);
    worker.process = fork();
    if (worker.process == 0)
      become(argv.front(), argv.data(), environment_pointers.data(), worker.log.c_str(), parent, mask);
    pthread_sigmask(SIG_SETMASK, &mask, nullptr);
    if (worker.process < 0) {
      for (const Worker& started : workers)
        if (started.process > 0) {
          kill(started.process, SIGKILL);
          waitpid(started.process, nullptr, 0);
          remove_log(started);
        }
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
  std::string failure, log;
  for (const Worker& worker : workers) {
    const bool interrupted = told || (WIFEXITED(worker.status) && WEXITSTATUS(worker.status) == 130);
    if (interrupted) told = true;
    if (interrupted || worker.status == 0) {
      remove_log(worker);
    } else if (failure.empty()) {
      failure = WIFSIGNALED(worker.status) ? fmt::format("a worker was killed by signal {}", WTERMSIG(worker.status))
                                           : fmt::format("a worker failed:\n{}", last_lines(worker.log, 2000));
      log = worker.log;
    }
  }
  if (told) throw Interrupted("stopped; finished paths are kept", "the same command with --resume");
  if (!failure.empty())
    throw RunError(failure, fmt::format("run it again: finished paths are kept; all the worker said is in {}", log));
}

}  // namespace supple
