// The module supple._core: the engine as Python sees it. Units are SI, arrays are views of the engine's own memory.
// supple/__init__.py adds what is better written in Python.

#include "python/src/bindings.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <omp.h>

#include <chrono>
#include <nlohmann/json.hpp>

#include "engine/cli/shell/command.hpp"
#include "engine/cli/shell/program.hpp"
#include "engine/cli/shell/terminal.hpp"
#include "kernels/base/version.hpp"

namespace supple::python {

nb::object to_python(const nlohmann::ordered_json& json) {
  using Kind = nlohmann::ordered_json::value_t;
  switch (json.type()) {
    case Kind::object: {
      nb::dict dict;
      for (const auto& [key, value] : json.items()) dict[nb::str(key.c_str(), key.size())] = to_python(value);
      return dict;
    }
    case Kind::array: {
      nb::list list;
      for (const auto& value : json) list.append(to_python(value));
      return list;
    }
    case Kind::string:
      return nb::cast(json.get_ref<const std::string&>());
    case Kind::boolean:
      return nb::cast(json.get<bool>());
    case Kind::number_integer:
      return nb::cast(json.get<std::int64_t>());
    case Kind::number_unsigned:
      return nb::cast(json.get<std::uint64_t>());
    case Kind::number_float:
      return nb::cast(json.get<double>());
    default:
      return nb::none();
  }
}

struct Watch::State {
  nb::object callback;
  std::optional<nb::python_error> problem;
  std::chrono::steady_clock::time_point last{};
  bool stop = false;

  // The lock is asked for a few times a second only.
  bool due() {
    const auto now = std::chrono::steady_clock::now();
    if (now - last < std::chrono::milliseconds(50)) return false;
    last = now;
    return true;
  }
  template <class Action>
  void in_python(const Action& action) {
    const nb::gil_scoped_acquire lock;
    try {
      action();
      if (PyErr_CheckSignals() != 0) throw nb::python_error();
    } catch (nb::python_error& error) {
      if (!problem) problem.emplace(std::move(error));
      stop = true;
    }
  }
};

Watch::Watch(nb::object callback) : state_(std::make_unique<State>()) {
  state_->callback = std::move(callback);
  progress_.stop = [this] { return stopped(); };
  if (state_->callback.is_none()) return;
  progress_.report = [this](const std::string& stage, double done, double total, const std::string& detail) {
    if (state_->stop || (!state_->due() && done < total)) return;
    state_->in_python([&] { state_->callback(stage, total > 0 ? done / total : 1.0, detail); });
  };
}

Watch::~Watch() = default;

bool Watch::stopped() {
  if (!state_->stop && state_->due()) state_->in_python([] {});
  return state_->stop;
}

void Watch::rethrow() {
  if (!state_->problem) return;
  nb::python_error problem = std::move(*state_->problem);
  state_->problem.reset();
  throw problem;
}

void bind_command_line(nb::module_& module) {
  module.def(
      "set_threads",
      [](int threads) {
        if (threads < 1) throw nb::value_error("set_threads(threads): 1 or more");
        omp_set_num_threads(threads);
      },
      nb::arg("threads"),
      "How many threads batches that are made from now on may use, and reductions. Each thread of Python has its own\n"
      "number.");
  module.def(
      "command_line",
      [](std::vector<std::string> words, std::vector<std::string> program) {
        cli::start_again_by(std::move(program));
        std::string name = "supple";
        std::vector<char*> pointers{name.data()};
        for (std::string& word : words) pointers.push_back(word.data());
        const int count = static_cast<int>(pointers.size());
        pointers.push_back(nullptr);
        const nb::gil_scoped_release unlocked;
        return cli::run_program(count, pointers.data(), cli::all_commands());
      },
      nb::arg("arguments"), nb::arg("program"),
      "Runs the command `supple` with these arguments and returns its exit code. `program`: the words that start the\n"
      "command again, for workers. It takes over the process's signals: for a process that does nothing else.");
}

}  // namespace supple::python

NB_MODULE(_core, module) {
  using namespace supple::python;
  module.attr("version") = supple::version();
  module.attr("commit") = supple::commit();
  bind_errors(module);
  bind_units(module);
  bind_scene(module);
  bind_model(module);
  bind_simulation(module);
  bind_rollout(module);
  bind_statics(module);
  bind_predictive_control(module);
  bind_state_estimator(module);
  bind_error_estimator(module);
  bind_reduction(module);
  bind_recording(module);
  bind_command_line(module);
}
