#pragma once
// What a robot did, frame by frame, as one HDF5 file (docs/reference/recording.md): enough to draw every frame again
// and to simulate on from it. Written and read block by block, so that neither takes more memory than some frames.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/io/hdf5_file.hpp"
#include "engine/model/state.hpp"
#include "engine/scene/scene.hpp"

namespace supple {

struct RecordedRobot {
  std::string file;               // scene or reduced model
  std::uint64_t fingerprint = 0;  // scene_fingerprint, assembly_fingerprint, or the hash of the model's file
  std::string moved = {};         // of one that was read: where it is if it was moved along with the recording, or ""
};

struct RecordingFacts {
  RecordedRobot robot;
  std::optional<RecordedRobot> beside;  // that followed the commands of the first
  Integrator integrator = Integrator::implicit_euler;
  double time_step = 0;                   // s
  std::vector<std::string> sensors = {};  // name and unit of each reading: "imu acceleration x [m/s^2]"
};

struct RecordedFrame {
  double step = 0;            // steps since the simulation was reset
  bool inverse = false;       // the commands were found for the goals; false: they were given
  bool held = false;          // no commands were found, the last ones were held
  double saturated = 0;       // limits that held the robot back
  double step_seconds = 0;    // the step took, of the first robot,
  double other_seconds = 0;   // of the one beside it,
  double qp_seconds = 0;      // and of that the quadratic program
  State state, other;         // one robot each
  std::vector<double> goals;  // [3 x effectors]
  /// Whether each effector was led to its goal [effectors]; empty: all of them were.
  std::vector<double> steered;
  std::vector<double> sensors;  // readings, SI; empty: the robot has none, or they were not recorded
  /// The spring of the mouse that pulled at the skin [8]: triangle (-1: none), weights of its corners, its end [m], its
  /// stiffness [N/m]; empty: none.
  std::vector<double> pull;
};

class RecordingWriter {
 public:
  /// The file is written beside `path` and takes its name in finish(); without finish() there is none. Throws
  /// InputError.
  RecordingWriter(const std::string& path, const RecordingFacts& facts);
  /// All frames have the same sizes. Throws RunError if the disk is full: the recording is finished with the blocks
  /// that it has; without any block there is no recording.
  void add(const RecordedFrame& frame);
  /// Throws as add() does, and RunError where another program has made the file meanwhile.
  void finish();
  long frames() const { return frames_; }
  const std::string& path() const { return file_.path(); }

 private:
  void write_block();

  void write_surface_forces(const std::string& at, State RecordedFrame::*state, std::size_t& rows);

  Hdf5File file_;
  long frames_ = 0;
  std::size_t block_ = 0;  // frames
  std::size_t surface_rows_ = 0, other_surface_rows_ = 0;
  std::vector<RecordedFrame> waiting_;  // not in the file yet
};

class RecordingReader {
 public:
  /// `whole` reads all of the file once; `as_read` reads only requested frames, so that damage is found when it is
  /// read. Throws InputError for a file that is not a recording, is damaged, or is of another version.
  enum class Check { whole, as_read };
  explicit RecordingReader(const std::string& path, Check check = Check::whole);
  /// Files are where they were (find_robot).
  const RecordingFacts& facts() const { return facts_; }
  long frames() const { return frames_; }
  /// Frame k of frames(). Throws InputError if the file has been damaged since.
  const RecordedFrame& frame(long k);
  const std::string& path() const { return file_.path(); }

 private:
  void read_block(long first);
  void read_surface_forces(const std::string& at, State RecordedFrame::*state, std::size_t from);

  Hdf5File file_;
  RecordingFacts facts_;
  long frames_ = 0, block_ = 1, first_ = 0;
  std::vector<RecordedFrame> read_;  // from frame first_ on
};

/// Where a robot of a recording is now: beside the recording as it was, or where it was, whichever has its fingerprint.
/// Throws InputError where neither has, with what is there.
std::string find_robot(const RecordedRobot& robot, const std::string& recording);

/// True if the file is HDF5 and is marked as a recording.
bool is_recording_file(const std::string& path);

}  // namespace supple
