// The C interface over BatchSimulation: no exception leaves it.

#include "engine/runtime/supple.h"

#include <algorithm>
#include <exception>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/io/runtime_file.hpp"
#include "engine/run/batch_simulation.hpp"
#include "kernels/base/error.hpp"
#include "kernels/base/extent.hpp"
#include "kernels/base/version.hpp"

struct supple_model {
  std::shared_ptr<const supple::ReducedModel> model;
  std::vector<supple::SensorNumber> sensors;
};
struct supple_simulation {
  supple_simulation(std::unique_ptr<supple::SimulatedBody> body, const supple::BatchSimulationSettings& settings)
      : batch(std::move(body), settings) {}
  supple::BatchSimulation batch;
};

namespace {

using supple::Robot;

std::string& last_error() {
  thread_local std::string text;
  return text;
}

int fail(int code, const std::string& problem, const std::string& suggestion) noexcept {
  try {
    last_error() = suggestion.empty() ? problem : problem + " (try: " + suggestion + ")";
  } catch (...) {
    last_error().clear();
  }
  return code;
}

// Runs `action` and turns what it throws into a code and a text.
template <class Action>
int guarded(const Action& action) noexcept {
  try {
    return action();
  } catch (const supple::InputError& error) {
    return fail(SUPPLE_BAD_INPUT, error.what(), error.suggestion());
  } catch (const supple::CapabilityError& error) {
    return fail(SUPPLE_NOT_SUPPORTED, error.what(), error.suggestion());
  } catch (const supple::Error& error) {
    return fail(SUPPLE_RUN_FAILED, error.what(), error.suggestion());
  } catch (const std::bad_alloc&) {
    return fail(SUPPLE_RUN_FAILED, "out of memory", "a smaller batch");
  } catch (const std::exception& error) {
    return fail(SUPPLE_RUN_FAILED, error.what(), "");
  } catch (...) {
    return fail(SUPPLE_RUN_FAILED, "an unknown failure", "");
  }
}

int need(bool condition, const char* problem) {
  if (!condition) throw supple::InputError(problem, "see supple.h");
  return SUPPLE_OK;
}

template <class Read>
supple_model* load(const Read& read) noexcept {
  supple_model* model = nullptr;
  (void)guarded([&] {
    auto own = std::make_shared<const supple::ReducedModel>(read());
    std::vector<supple::SensorNumber> sensors = supple::sensor_numbers(own->robot);
    model = new supple_model{std::move(own), std::move(sensors)};
    return SUPPLE_OK;
  });
  return model;
}

template <class Names>
const char* name_in(const Names& list, int i) {
  return i >= 0 && static_cast<std::size_t>(i) < list.size() ? list[static_cast<std::size_t>(i)].name.c_str() : nullptr;
}

}  // namespace

extern "C" {

int supple_abi_version(void) {
  return SUPPLE_ABI_VERSION;
}
const char* supple_version(void) {
  return supple::version();
}
const char* supple_error(void) {
  return last_error().c_str();
}

supple_model* supple_model_load(const char* path) {
  return load([&] {
    need(path != nullptr, "the path is null");
    return supple::read_runtime_file(path);
  });
}

supple_model* supple_model_read(const void* bytes, size_t size) {
  return load([&] {
    need(bytes != nullptr, "the bytes are null");
    return supple::read_runtime_bytes({static_cast<const char*>(bytes), size}, "model in memory");
  });
}

void supple_model_free(supple_model* model) {
  delete model;
}

int supple_count(const supple_model* model, int kind) {
  return guarded([&] {
    need(model != nullptr, "the model is null");
    const Robot& robot = model->model->robot;
    switch (kind) {
      case SUPPLE_ACTUATORS:
        return static_cast<int>(robot.actuators.size());
      case SUPPLE_MOTIONS:
        return static_cast<int>(robot.motions.size());
      case SUPPLE_EFFECTORS:
        return static_cast<int>(robot.effectors.size());
      case SUPPLE_OBSTACLES:
        return static_cast<int>(robot.obstacles.size());
      case SUPPLE_PROBES:
        return static_cast<int>(robot.probes.size());
      case SUPPLE_SENSORS:
        return static_cast<int>(model->sensors.size());
      default:
        return need(false, "there is no such kind of thing");
    }
  });
}

const char* supple_name(const supple_model* model, int kind, int i) {
  if (model == nullptr) return nullptr;
  const Robot& robot = model->model->robot;
  switch (kind) {
    case SUPPLE_ACTUATORS:
      return name_in(robot.actuators, i);
    case SUPPLE_MOTIONS:
      return name_in(robot.motions, i);
    case SUPPLE_EFFECTORS:
      return name_in(robot.effectors, i);
    case SUPPLE_OBSTACLES:
      return name_in(robot.obstacles, i);
    case SUPPLE_PROBES:
      return name_in(robot.probes, i);
    case SUPPLE_SENSORS:
      return name_in(model->sensors, i);
    default:
      return nullptr;
  }
}

double supple_model_error(const supple_model* model) {
  return model != nullptr && model->model->errors.states > 0 ? model->model->errors.goal_mean : -1;
}

supple_settings supple_default_settings(void) {
  return {sizeof(supple_settings), 1, 0, SUPPLE_INTEGRATOR_OF_MODEL, 0};
}

supple_simulation* supple_simulation_new(const supple_model* model, const supple_settings* settings) {
  supple_simulation* simulation = nullptr;
  (void)guarded([&] {
    need(model != nullptr, "the model is null");
    const supple_settings asked = settings != nullptr ? *settings : supple_default_settings();
    need(asked.size == sizeof(supple_settings),
         "the settings are of another version: begin with supple_default_settings()");
    supple::BatchSimulationSettings own;
    own.robots = asked.robots;
    need(asked.integrator >= SUPPLE_IMPLICIT_EULER && asked.integrator <= SUPPLE_INTEGRATOR_OF_MODEL,
         "there is no such integrator");
    if (asked.integrator == SUPPLE_IMPLICIT_EULER) own.integrator = supple::Integrator::implicit_euler;
    if (asked.integrator == SUPPLE_IMPLICIT_EULER_NEWTON) own.integrator = supple::Integrator::implicit_euler_newton;
    if (asked.integrator == SUPPLE_QUASI_STATIC) own.integrator = supple::Integrator::quasi_static;
    if (asked.time_step != 0) own.time_step = asked.time_step;
    if (asked.inverse != 0) own.inverse = supple::InverseSettings{};
    simulation = new supple_simulation(supple::body_of(model->model), own);
    return SUPPLE_OK;
  });
  return simulation;
}

void supple_simulation_free(supple_simulation* simulation) {
  delete simulation;
}

int supple_step(supple_simulation* simulation, long count) {
  return guarded([&] {
    need(simulation != nullptr && count >= 0, "the simulation is null, or the number of steps is negative");
    supple::BatchSimulation& batch = simulation->batch;
    (void)batch.step(count);
    if (!batch.all_failed()) return static_cast<int>(SUPPLE_OK);
    const supple::FailedRobot& failure = batch.failures().front();
    return fail(SUPPLE_RUN_FAILED, supple::failure_text(failure, batch.time_step()),
                supple::failure_remedy(failure.report.status, batch.integrator()));
  });
}

int supple_settle(supple_simulation* simulation) {
  return guarded([&] {
    need(simulation != nullptr, "the simulation is null");
    simulation->batch.settle();
    return SUPPLE_OK;
  });
}

int supple_reset(supple_simulation* simulation, const int* robots, int count) {
  return guarded([&] {
    need(simulation != nullptr && (robots == nullptr || count >= 0),
         "the simulation is null, or the number is negative");
    if (robots == nullptr)
      simulation->batch.reset();
    else
      simulation->batch.reset(std::span(robots, static_cast<std::size_t>(count)));
    return SUPPLE_OK;
  });
}

int supple_copy_state(supple_simulation* simulation, supple_simulation* from) {
  return guarded([&] {
    need(simulation != nullptr && from != nullptr, "a simulation is null");
    simulation->batch.set_state(from->batch.state());
    if (!simulation->batch.sensor_numbers().empty()) simulation->batch.set_sensor_memory(from->batch.sensor_memory());
    return SUPPLE_OK;
  });
}

double supple_time(supple_simulation* simulation) {
  return simulation != nullptr ? simulation->batch.state().time : 0;
}
double supple_time_step(const supple_simulation* simulation) {
  return simulation != nullptr ? simulation->batch.time_step() : 0;
}

int supple_failed(const supple_simulation* simulation, unsigned char* mask) {
  return guarded([&] {
    need(simulation != nullptr, "the simulation is null");
    const supple::BatchSimulation& batch = simulation->batch;
    if (mask != nullptr)
      for (int b = 0; b < batch.robots(); ++b) mask[b] = batch.failed(b) ? 1 : 0;
    return static_cast<int>(batch.failures().size());
  });
}

uint64_t supple_hash(supple_simulation* simulation) {
  return simulation != nullptr ? supple::hash(simulation->batch.state()) : 0;
}

int supple_steer(supple_simulation* simulation, int effector, int steered) {
  return guarded([&] {
    need(simulation != nullptr && simulation->batch.inverse(),
         "the simulation is null, or there are no goals in it (settings.inverse = 1)");
    const std::span<unsigned char> effectors = simulation->batch.steered();
    need(effector >= 0 && static_cast<std::size_t>(effector) < effectors.size(), "there is no such effector");
    effectors[static_cast<std::size_t>(effector)] = steered != 0;
    return SUPPLE_OK;
  });
}

double* supple_get_array(supple_simulation* simulation, supple_array which, size_t shape[4]) {
  double* data = nullptr;
  (void)guarded([&] {
    need(simulation != nullptr, "the simulation is null");
    supple::BatchSimulation& batch = simulation->batch;
    const Robot& robot = batch.robot();
    const auto B = static_cast<std::size_t>(batch.robots());
    // Of an array without numbers too.
    static double nothing = 0;
    const auto set = [&](std::span<const double> values, std::size_t a, std::size_t b = 1, std::size_t c = 1) {
      data = values.empty() ? &nothing : const_cast<double*>(values.data());
      if (shape == nullptr) return;
      const std::size_t extents[] = {B, a, b, c};
      std::copy_n(extents, 4, shape);
    };
    const auto own = [&](const std::vector<double>& values) { set(values, values.size() / B); };
    if (which == SUPPLE_GOALS || which == SUPPLE_KNOWN || which == SUPPLE_GOAL_ERRORS)
      need(batch.inverse(), "there are no goals in a simulation under commands (settings.inverse = 1)");
    const supple::State& state = batch.state();
    switch (which) {
      case SUPPLE_COMMANDS:
        set(batch.commands(), robot.actuators.size());
        break;
      case SUPPLE_MOTION_COMMANDS:
        set(batch.motions(), robot.motions.size());
        break;
      case SUPPLE_GOALS:
        set(batch.goals(), robot.effectors.size(), 3);
        break;
      case SUPPLE_KNOWN:
        set(batch.known(), robot.actuators.size());
        break;
      case SUPPLE_Q:
        own(state.q);
        break;
      case SUPPLE_V:
        own(state.v);
        break;
      case SUPPLE_FORCES:
        own(state.multipliers);
        break;
      case SUPPLE_APPLIED:
        own(state.commands);
        break;
      case SUPPLE_CONTACT_FORCES:
        set(state.contact_forces, static_cast<std::size_t>(robot.collision_points), robot.obstacles.size(), 3);
        break;
      case SUPPLE_EFFECTOR_VALUES:
        set(batch.effectors(), robot.effectors.size(), 3);
        break;
      case SUPPLE_POINTS:
        set(batch.outputs(), static_cast<std::size_t>(robot.outputs()) / 3, 3);
        break;
      case SUPPLE_GOAL_ERRORS:
        set(batch.goal_errors(), robot.effectors.size());
        break;
      case SUPPLE_SENSOR_READINGS:
        set(batch.sensors(), batch.sensor_numbers().size());
        break;
      default:
        return need(false, "there is no such array");
    }
    return static_cast<int>(SUPPLE_OK);
  });
  return data;
}

int supple_skin_size(supple_simulation* simulation, int* nodes, int* triangles) {
  return guarded([&] {
    need(simulation != nullptr && nodes != nullptr && triangles != nullptr, "an argument is null");
    *nodes = static_cast<int>(simulation->batch.skin().nodes.size());
    *triangles = static_cast<int>(simulation->batch.skin().triangles.size());
    return SUPPLE_OK;
  });
}

int supple_skin_triangles(supple_simulation* simulation, int* corners) {
  return guarded([&] {
    need(simulation != nullptr && corners != nullptr, "an argument is null");
    for (const auto& triangle : simulation->batch.skin().triangles) corners = std::copy_n(triangle.begin(), 3, corners);
    return SUPPLE_OK;
  });
}

int supple_skin_nodes(supple_simulation* simulation, int robot, double* nodes) {
  return guarded([&] {
    need(simulation != nullptr && nodes != nullptr && robot >= 0 && robot < simulation->batch.robots(),
         "an argument is null, or there is no such robot");
    simulation->batch.skin_nodes(robot, {nodes, 3 * simulation->batch.skin().nodes.size()});
    return SUPPLE_OK;
  });
}

}  // extern "C"
