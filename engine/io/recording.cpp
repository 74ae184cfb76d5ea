#include "engine/io/recording.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <filesystem>
#include <sstream>

#include "engine/io/model_file.hpp"
#include "engine/scene/fingerprint.hpp"
#include "engine/scene/integrator.hpp"
#include "engine/scene/reader.hpp"
#include "kernels/base/contract.hpp"
#include "kernels/base/error.hpp"
#include "kernels/base/hash.hpp"

namespace supple {

namespace {

namespace fs = std::filesystem;

constexpr const char* format_name = "supple recording";
constexpr std::int64_t format_version = 1;
// Frames are written and read by the megabyte, but not more at once than this.
constexpr std::size_t block_bytes = std::size_t{1} << 20, most_block_frames = 1024, contacts_at_once = 1024;

// One number a frame.
struct Number {
  const char* name;
  double (*get)(const RecordedFrame&);
  void (*set)(RecordedFrame&, double);
};
constexpr Number numbers[] = {
    {"/frames/step", [](const RecordedFrame& f) { return f.step; }, [](RecordedFrame& f, double x) { f.step = x; }},
    {"/frames/time", [](const RecordedFrame& f) { return f.state.time; },
     [](RecordedFrame& f, double x) { f.state.time = f.other.time = x; }},
    {"/frames/inverse", [](const RecordedFrame& f) { return f.inverse ? 1.0 : 0.0; },
     [](RecordedFrame& f, double x) { f.inverse = x != 0; }},
    {"/frames/held", [](const RecordedFrame& f) { return f.held ? 1.0 : 0.0; },
     [](RecordedFrame& f, double x) { f.held = x != 0; }},
    {"/frames/saturated", [](const RecordedFrame& f) { return f.saturated; },
     [](RecordedFrame& f, double x) { f.saturated = x; }},
    {"/frames/step_seconds", [](const RecordedFrame& f) { return f.step_seconds; },
     [](RecordedFrame& f, double x) { f.step_seconds = x; }},
    {"/frames/other_seconds", [](const RecordedFrame& f) { return f.other_seconds; },
     [](RecordedFrame& f, double x) { f.other_seconds = x; }},
    {"/frames/qp_seconds", [](const RecordedFrame& f) { return f.qp_seconds; },
     [](RecordedFrame& f, double x) { f.qp_seconds = x; }},
};

// Several numbers a frame; an array without any is not in the file.
template <class Frame, class Action>
void each_array(Frame& frame, Action action) {
  const auto state = [&](const std::string& at, auto& s) {
    action(at + "/q", s.q);
    action(at + "/v", s.v);
    action(at + "/multipliers", s.multipliers);
    action(at + "/contact_forces", s.contact_forces);
    action(at + "/commands", s.commands);
    action(at + "/motions", s.motions);
    action(at + "/motion_velocities", s.motion_velocities);
    action(at + "/history", s.history);
    action(at + "/viscous", s.viscous);
  };
  state("/frames", frame.state);
  state("/frames/beside", frame.other);
  action(std::string("/frames/goals"), frame.goals);
  action(std::string("/frames/steered"), frame.steered);
  action(std::string("/frames/pull"), frame.pull);
  action(std::string("/frames/sensors"), frame.sensors);
}

std::size_t bytes_of(const RecordedFrame& frame) {
  std::size_t count = std::size(numbers);
  each_array(frame, [&](const std::string&, const std::vector<double>& values) { count += values.size(); });
  for (const State* state : {&frame.state, &frame.other})
    for (const std::vector<SurfaceForce>& own : state->surface_forces) count += own.size() * surface_force_columns;
  return count * sizeof(double);
}

void write_robot(Hdf5File& file, const std::string& at, const RecordedRobot& robot) {
  std::error_code error;
  const fs::path here = fs::absolute(file.path(), error).parent_path(), there = fs::absolute(robot.file, error);
  file.write(at + "/file", there.lexically_normal().string());
  file.write(at + "/near", there.lexically_relative(here).string());
  file.write(at + "/fingerprint", std::bit_cast<std::int64_t>(robot.fingerprint));
}

RecordedRobot read_robot(const Hdf5File& file, const std::string& at) {
  std::error_code error;
  const std::string absolute = file.read_text(at + "/file"), near = file.read_text(at + "/near");
  const fs::path beside = fs::absolute(file.path(), error).parent_path() / near;
  return {absolute, std::bit_cast<std::uint64_t>(file.read_int(at + "/fingerprint")),
          near.empty() ? "" : beside.lexically_normal().string()};
}

// "" if the file is that robot, or why it is not.
std::string differs(const std::string& file, std::uint64_t fingerprint) {
  std::error_code error;
  if (!fs::is_regular_file(file, error)) return "is not there";
  try {
    // A damaged model does not call itself one; its name does.
    const bool model = is_model_file(file) || file.ends_with(".h5");
    const std::uint64_t now = model               ? hash_file(file)
                              : is_assembly(file) ? assembly_fingerprint(read_assembly(file))
                                                  : scene_fingerprint(read_scene(file));
    return now == fingerprint ? "" : "has changed since this was recorded, or is another robot";
  } catch (const Error& problem) {
    return std::string("cannot be read: ") + problem.what();
  }
}

}  // namespace

RecordingWriter::RecordingWriter(const std::string& path, const RecordingFacts& facts)
    : file_(path, Hdf5File::Mode::grow) {
  file_.write("/format", std::string(format_name));
  file_.write("/format_version", format_version);
  file_.write("/integrator", integrator_name(facts.integrator));
  file_.write("/time_step", facts.time_step);
  write_robot(file_, "/robot", facts.robot);
  if (facts.beside) write_robot(file_, "/beside", *facts.beside);
  std::string names;
  for (const std::string& name : facts.sensors) names += name + "\n";
  if (!names.empty()) file_.write("/sensors/names", names);
}

void RecordingWriter::add(const RecordedFrame& frame) {
  if (block_ == 0) {
    block_ = std::clamp<std::size_t>(block_bytes / bytes_of(frame), 1, most_block_frames);
    file_.write("/frames_per_block", static_cast<std::int64_t>(block_));
  }
  waiting_.push_back(frame);
  ++frames_;
  if (waiting_.size() == block_) write_block();
}

void RecordingWriter::write_block() {
  if (waiting_.empty()) return;
  try {
    std::size_t bytes = 0;
    for (const RecordedFrame& frame : waiting_) bytes += bytes_of(frame);
    // A chunk of contacts is on the disk as a whole.
    if (!waiting_.front().state.surface_forces.empty())
      bytes += 2 * contacts_at_once * surface_force_columns * sizeof(double);
    file_.reserve(std::max(bytes, block_ * bytes_of(waiting_.front())));
  } catch (const RunError& error) {
    const auto lost = static_cast<long>(waiting_.size());
    waiting_.clear();
    if (frames_ == lost) throw;
    frames_ -= lost;
    file_.close();
    throw RunError(
        std::string(error.what()) + "; the recording ends after its first " + std::to_string(frames_) + " frames",
        error.suggestion(), error.place());
  }
  std::vector<double> values;
  for (const Number& number : numbers) {
    values.clear();
    for (const RecordedFrame& frame : waiting_) values.push_back(number.get(frame));
    file_.append(number.name, values, {});
  }
  std::vector<std::vector<double>> arrays;
  for (const RecordedFrame& frame : waiting_) {
    std::size_t k = 0;
    each_array(frame, [&](const std::string&, const std::vector<double>& row) {
      if (arrays.size() == k) arrays.emplace_back();
      arrays[k].insert(arrays[k].end(), row.begin(), row.end());
      ++k;
    });
  }
  std::size_t k = 0;
  each_array(waiting_.front(), [&](const std::string& name, const std::vector<double>& row) {
    SUPPLE_EXPECT(arrays[k].size() == waiting_.size() * row.size());
    if (!row.empty()) file_.append(name, arrays[k], {row.size()});
    ++k;
  });
  write_surface_forces("/frames", &RecordedFrame::state, surface_rows_);
  write_surface_forces("/frames/beside", &RecordedFrame::other, other_surface_rows_);
  waiting_.clear();
}

// As many rows a frame as there are contacts, so that a column tells where those of a frame end.
void RecordingWriter::write_surface_forces(const std::string& at, State RecordedFrame::*state, std::size_t& rows) {
  if ((waiting_.front().*state).surface_forces.empty()) return;
  std::vector<double> ends, forces;
  for (const RecordedFrame& frame : waiting_) {
    const std::vector<double> own = surface_force_rows(frame.*state);
    forces.insert(forces.end(), own.begin(), own.end());
    rows += own.size() / surface_force_columns;
    ends.push_back(static_cast<double>(rows));
  }
  file_.append(at + "/surface_ends", ends, {});
  if (!forces.empty()) file_.append(at + "/surface_forces", forces, {surface_force_columns}, contacts_at_once);
}

void RecordingWriter::finish() {
  write_block();
  file_.close();
}

RecordingReader::RecordingReader(const std::string& path, Check check) : file_(path, Hdf5File::Mode::read) {
  const auto refuse = [&](const std::string& problem, const std::string& remedy) {
    throw InputError(problem, remedy, {path, 0, 0, ""});
  };
  const char* const another = "give a .rec.h5 that `supple view` or --record has written";
  if (!file_.checksummed() || !file_.has("/format") || file_.read_text("/format") != format_name)
    refuse("this HDF5 file is not a recording", another);
  const std::int64_t version = file_.read_int("/format_version");
  if (version != format_version)
    refuse("the recording has format " + std::to_string(version) + ", this program reads format " +
               std::to_string(format_version),
           version > format_version ? "use a newer supple" : "record it again");
  facts_.integrator = integrator_of(file_.read_text("/integrator"));
  facts_.time_step = file_.read_double("/time_step");
  if (!(facts_.time_step > 0) || !std::isfinite(facts_.time_step)) refuse("its time step is impossible", another);
  if (!file_.has("/frames/time")) refuse("the recording has no frames", another);
  const auto frames = file_.shape("/frames/time");
  if (frames.size() != 1 || frames[0] == 0) refuse("the recording has no frames", another);
  frames_ = static_cast<long>(frames[0]);
  const std::int64_t block = file_.read_int("/frames_per_block");
  if (block < 1 || block > static_cast<std::int64_t>(most_block_frames))
    refuse("its number of frames in a block is impossible", another);
  block_ = static_cast<long>(block);
  for (const Number& number : numbers)
    if (file_.shape(number.name) != frames) refuse("'" + std::string(number.name) + "' has a wrong shape", another);
  const RecordedFrame none;
  each_array(none, [&](const std::string& name, const std::vector<double>&) {
    if (!file_.has(name)) return;
    const auto shape = file_.shape(name);
    if (shape.size() != 2 || shape[0] != frames[0]) refuse("'" + name + "' has a wrong shape", another);
  });
  if (check == Check::whole)
    for (long first = block_; first < frames_; first += block_) read_block(first);
  read_block(0);
  facts_.robot = read_robot(file_, "/robot");
  if (file_.has("/beside")) facts_.beside = read_robot(file_, "/beside");
  if (!file_.has("/sensors/names")) return;
  std::istringstream names(file_.read_text("/sensors/names"));
  for (std::string name; std::getline(names, name);) facts_.sensors.push_back(name);
}

void RecordingReader::read_block(long first) {
  first_ = first;
  const auto from = static_cast<std::size_t>(first);
  const auto count = static_cast<std::size_t>(std::min(block_, frames_ - first));
  read_.assign(count, {});
  const auto check = [&](const std::string& name, const std::vector<double>& values) {
    if (!std::all_of(values.begin(), values.end(), [](double x) { return std::isfinite(x); }))
      throw InputError("'" + name + "' holds numbers that are not finite", "record it again", {path(), 0, 0, ""});
  };
  for (const Number& number : numbers) {
    const std::vector<double> values = file_.read_rows(number.name, from, count);
    check(number.name, values);
    for (std::size_t k = 0; k < count; ++k) number.set(read_[k], values[k]);
  }
  std::vector<std::vector<double>> arrays;
  each_array(read_.front(), [&](const std::string& name, std::vector<double>&) {
    arrays.push_back(file_.has(name) ? file_.read_rows(name, from, count) : std::vector<double>());
    check(name, arrays.back());
  });
  for (std::size_t k = 0; k < count; ++k) {
    std::size_t a = 0;
    each_array(read_[k], [&](const std::string&, std::vector<double>& row) {
      const auto width = static_cast<std::ptrdiff_t>(arrays[a].size() / count);
      const auto begin = arrays[a].begin() + static_cast<std::ptrdiff_t>(k) * width;
      row.assign(begin, begin + width);
      ++a;
    });
  }
  read_surface_forces("/frames", &RecordedFrame::state, from);
  read_surface_forces("/frames/beside", &RecordedFrame::other, from);
}

void RecordingReader::read_surface_forces(const std::string& at, State RecordedFrame::*state, std::size_t from) {
  const std::string ends_name = at + "/surface_ends", forces_name = at + "/surface_forces";
  if (!file_.has(ends_name)) return;
  const auto refuse = [&] {
    throw InputError("'" + forces_name + "' is impossible", "record it again", {path(), 0, 0, ""});
  };
  const auto shape =
      file_.has(forces_name) ? file_.shape(forces_name) : std::vector<std::size_t>{0, surface_force_columns};
  if (file_.shape(ends_name) != std::vector<std::size_t>{static_cast<std::size_t>(frames_)} || shape.size() != 2 ||
      shape[1] != surface_force_columns)
    refuse();
  // The end of the frame before, then those of these.
  std::vector<double> ends = from == 0 ? std::vector<double>{0} : file_.read_rows(ends_name, from - 1, 1);
  const std::vector<double> own = file_.read_rows(ends_name, from, read_.size());
  ends.insert(ends.end(), own.begin(), own.end());
  for (std::size_t k = 0; k < ends.size(); ++k)
    if (!(ends[k] >= (k == 0 ? 0 : ends[k - 1]) && ends[k] <= static_cast<double>(shape[0]) &&
          ends[k] == std::floor(ends[k])))
      refuse();
  const auto first = static_cast<std::size_t>(ends.front()), count = static_cast<std::size_t>(ends.back()) - first;
  const std::vector<double> rows = count > 0 ? file_.read_rows(forces_name, first, count) : std::vector<double>();
  for (std::size_t k = 0; k < read_.size(); ++k) {
    const auto begin = static_cast<std::size_t>(ends[k]) - first, end = static_cast<std::size_t>(ends[k + 1]) - first;
    const auto of_frame = std::span(rows).subspan(begin * surface_force_columns, (end - begin) * surface_force_columns);
    if (!set_surface_forces(read_[k].*state, of_frame)) refuse();
  }
}

const RecordedFrame& RecordingReader::frame(long k) {
  SUPPLE_EXPECT(k >= 0 && k < frames_);
  if (k < first_ || k >= first_ + static_cast<long>(read_.size())) read_block(k / block_ * block_);
  return read_[static_cast<std::size_t>(k - first_)];
}

std::string find_robot(const RecordedRobot& robot, const std::string& recording) {
  std::string found;
  std::vector<std::string> places{robot.file};
  if (!robot.moved.empty() && robot.moved != robot.file) places.insert(places.begin(), robot.moved);
  for (const std::string& file : places) {
    const std::string why = differs(file, robot.fingerprint);
    if (why.empty()) return file;
    if (!found.empty()) found += ", ";
    found.append("'").append(file).append("' ").append(why);
  }
  throw InputError("the robot of this recording is not to be found (" + found + ")",
                   "put its file back as it was, or beside the recording, or record it again", {recording, 0, 0, ""});
}

bool is_recording_file(const std::string& path) {
  try {
    const Hdf5File file(path, Hdf5File::Mode::read);
    return file.checksummed() && file.has("/format") && file.read_text("/format") == format_name;
  } catch (const InputError&) {
    return false;
  }
}

}  // namespace supple
