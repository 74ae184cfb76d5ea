#include "engine/io/hdf5_file.hpp"

#include <hdf5.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>

#include "kernels/base/error.hpp"

namespace supple {

namespace {

// An HDF5 object that closes itself.
class Handle {
 public:
  Handle(hid_t id, herr_t (*close)(hid_t)) : id_(id), close_(close) {}
  ~Handle() {
    if (id_ >= 0) close_(id_);
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  operator hid_t() const { return id_; }  // NOLINT: reads like the C library

 private:
  hid_t id_;
  herr_t (*close_)(hid_t);
};

// Each thread has errors of its own.
void silence() {
  thread_local const bool once = [] {
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
    return true;
  }();
  (void)once;
}

// Up to this size data lie in the object's header, which has a checksum of its own (HDF5 allows 64 KiB) [bytes].
constexpr std::size_t largest_compact = std::size_t{1} << 15;
// Larger data are chunked, which is what checksums of data need: one chunk up to this size, else equal ones [bytes].
constexpr std::size_t largest_chunk = std::size_t{1} << 26;

// A file that is made grows in memory by this [bytes].
constexpr std::size_t memory_increment = std::size_t{1} << 20;

// The memory of a file that is made: HDF5 gives it back when the file is closed and complete, and it is kept as
// `image`. (H5Fget_file_image of 1.10 gives a superblock with a wrong checksum.)
H5FD_file_image_callbacks_t image_callbacks(MemoryImage& image) {
  H5FD_file_image_callbacks_t callbacks{};
  callbacks.image_malloc = [](std::size_t size, H5FD_file_image_op_t, void*) { return std::malloc(size); };
  callbacks.image_memcpy = [](void* to, const void* from, std::size_t size, H5FD_file_image_op_t, void*) {
    return std::memcpy(to, from, size);
  };
  callbacks.image_realloc = [](void* data, std::size_t size, H5FD_file_image_op_t, void* kept) {
    void* const grown = std::realloc(data, size);
    if (grown) static_cast<MemoryImage*>(kept)->size = size;
    return grown;
  };
  callbacks.image_free = [](void* data, H5FD_file_image_op_t, void* kept) -> herr_t {
    static_cast<MemoryImage*>(kept)->data.reset(static_cast<char*>(data));
    return 0;
  };
  callbacks.udata_copy = [](void* kept) { return kept; };
  callbacks.udata_free = [](void*) -> herr_t { return 0; };
  callbacks.udata = &image;
  return callbacks;
}

// HDF5 cannot release the error stack of a thread when the program ends, and prints an error.
void forget_errors() {
  H5Eclear2(H5E_DEFAULT);
}

constexpr std::size_t superblock = 48;  // bytes of it

// What HDF5 may write beside the rows that are added, and in closing [bytes].
constexpr std::uintmax_t room = std::uintmax_t{1} << 22;

// Where a closed file ends by its own superblock (version 2 or 3: little-endian at byte 28, after two other addresses).
std::size_t end_of_file(const char* image) {
  std::uint64_t end = 0;
  for (int i = 7; i >= 0; --i) end = end << 8 | static_cast<unsigned char>(image[28 + i]);
  return end;
}

// The extent of a chunk: whole rows of the first index, divided evenly so that the last chunk is nearly full.
std::vector<hsize_t> chunk_of(std::vector<hsize_t> extent, std::size_t bytes) {
  const hsize_t chunks = std::min<hsize_t>(extent[0], (bytes + largest_chunk - 1) / largest_chunk);
  extent[0] = (extent[0] + chunks - 1) / chunks;
  return extent;
}

// No array of a file may be larger than this many entries (a damaged header is told from a large model).
constexpr hssize_t largest_array = hssize_t{1} << 33;

}  // namespace

Hdf5File::Hdf5File(const std::string& path, Mode mode) : path_(path) {
  silence();
  if (mode != Mode::read) {
    const Handle creation(H5Pcreate(H5P_FILE_CREATE), H5Pclose), access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
    H5Pset_obj_track_times(creation, false);
    // The format of HDF5 1.10 and later has checksums over everything but the numbers themselves, the places of chunks
    // included; write_raw adds theirs.
    H5Pset_libver_bounds(access, H5F_LIBVER_V110, H5F_LIBVER_LATEST);
    // HDF5 1.10 crashes on a full disk: it writes to memory, or where there is room.
    H5FD_file_image_callbacks_t callbacks = image_callbacks(image_);
    if (mode == Mode::create) {
      H5Pset_fapl_core(access, memory_increment, false);
      H5Pset_file_image_callbacks(access, &callbacks);
    } else {
      aside_ = std::make_unique<FileAside>(path, true);
      aside_->reserve(room);
    }
    file_ = H5Fcreate(aside_ ? aside_->name().c_str() : path.c_str(), H5F_ACC_TRUNC, creation, access);
    if (file_ < 0)
      throw RunError("cannot make '" + path + "'", "is there memory and room on the disk left?", {path, 0, 0, ""});
    return;
  }
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error))
    throw InputError("there is no file '" + path + "'", "check the path", {path, 0, 0, ""});
  if (H5Fis_hdf5(path.c_str()) <= 0)
    throw InputError("'" + path + "' is not an HDF5 file, or it is cut off",
                     "give a file written by supple; if it was, write it again", {path, 0, 0, ""});
  file_ = H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  forget_errors();
  if (file_ < 0)
    throw InputError("'" + path + "' cannot be opened (damaged or still being written)", "write it again",
                     {path, 0, 0, ""});
}

Hdf5File::~Hdf5File() {
  if (file_ >= 0) H5Fclose(file_);
  forget_errors();
}

void Hdf5File::close() {
  if (file_ < 0) return;
  if (aside_) {
    const bool closed = H5Fclose(file_) >= 0;
    file_ = -1;
    std::array<char, superblock> begin{};
    std::ifstream file(aside_->name(), std::ios::binary);
    if (!closed || !file.read(begin.data(), superblock))
      throw RunError("writing '" + path_ + "' failed", "is the disk full?", {path_, 0, 0, ""});
    aside_->finish(end_of_file(begin.data()));
    aside_.reset();
    return;
  }
  const ssize_t size = H5Fflush(file_, H5F_SCOPE_GLOBAL) < 0 ? -1 : H5Fget_file_image(file_, nullptr, 0);
  const bool closed = H5Fclose(file_) >= 0;
  file_ = -1;
  if (size < 0 || !closed || !image_.data || image_.size < static_cast<std::size_t>(size))
    throw RunError("writing '" + path_ + "' failed", "is there memory left?", {path_, 0, 0, ""});
  // The image may be longer: it grew by memory_increment. And closing may have given back space at the end.
  write_file(path_, {image_.data.get(), std::min(static_cast<std::size_t>(size), end_of_file(image_.data.get()))});
  image_.data.reset();
}

bool Hdf5File::checksummed() const {
  H5F_info2_t info;
  return H5Fget_info2(file_, &info) >= 0 && info.super.version >= 2;
}

bool Hdf5File::has(const std::string& object) const {
  // Every link on the way must exist: H5Lexists fails on a missing group.
  const auto linked = [this](const std::string& name) {
    const htri_t there = H5Lexists(file_, name.c_str(), H5P_DEFAULT);
    if (there < 0) fail(name, "cannot be looked up");
    return there > 0;
  };
  for (std::size_t end = object.find('/', 1); end != std::string::npos; end = object.find('/', end + 1))
    if (!linked(object.substr(0, end))) return false;
  return linked(object);
}

std::int64_t Hdf5File::open(const std::string& object) const {
  if (!has(object)) fail(object, "is missing");
  const hid_t set = H5Dopen2(file_, object.c_str(), H5P_DEFAULT);
  if (set < 0) fail(object, "cannot be opened");
  return set;
}

std::vector<std::size_t> Hdf5File::shape(const std::string& object) const {
  const Handle set(open(object), H5Dclose);
  const Handle space(H5Dget_space(set), H5Sclose);
  const int rank = H5Sget_simple_extent_ndims(space);
  if (rank < 0 || rank > 8) fail(object, "has no usable shape");
  std::vector<hsize_t> extent(static_cast<std::size_t>(rank));
  H5Sget_simple_extent_dims(space, extent.data(), nullptr);
  return {extent.begin(), extent.end()};
}

std::vector<std::string> Hdf5File::list(const std::string& group) const {
  const Handle id(H5Gopen2(file_, group.c_str(), H5P_DEFAULT), H5Gclose);
  if (id < 0) fail(group, "is not a group");
  H5G_info_t info;
  if (H5Gget_info(id, &info) < 0) fail(group, "cannot be listed");
  std::vector<std::string> names;
  for (hsize_t i = 0; i < info.nlinks; ++i) {
    const ssize_t length = H5Lget_name_by_idx(id, ".", H5_INDEX_NAME, H5_ITER_INC, i, nullptr, 0, H5P_DEFAULT);
    if (length <= 0) continue;
    std::string name(static_cast<std::size_t>(length) + 1, '\0');
    H5Lget_name_by_idx(id, ".", H5_INDEX_NAME, H5_ITER_INC, i, name.data(), name.size(), H5P_DEFAULT);
    name.pop_back();
    names.push_back(name);
  }
  return names;
}

// Data lie in this file and are not larger than it can hold: a damaged header could ask for any amount of memory, or
// for the content of other files.
void Hdf5File::check_storage(std::int64_t set, const std::string& object, std::size_t count, std::size_t size) const {
  const Handle properties(H5Dget_create_plist(set), H5Pclose);
  const H5D_layout_t layout = H5Pget_layout(properties);
  if (layout != H5D_CONTIGUOUS && layout != H5D_COMPACT && layout != H5D_CHUNKED) fail(object, "is not stored in it");
  if (layout == H5D_CONTIGUOUS && H5Pget_external_count(properties) != 0) fail(object, "is not stored in it");
  std::error_code error;
  std::uintmax_t bytes = std::filesystem::file_size(path_, error);
  // Deflate makes a thousandth of the best data.
  if (layout == H5D_CHUNKED) bytes = 1100 * std::min<std::uintmax_t>(bytes, H5Dget_storage_size(set));
  if (error || size == 0 || count > bytes / size) fail(object, "has an impossible size");
}

template <class T>
std::vector<T> Hdf5File::read(const std::string& object, std::int64_t type) const {
  const Handle set(open(object), H5Dclose);
  const Handle space(H5Dget_space(set), H5Sclose), stored(H5Dget_type(set), H5Tclose);
  const H5T_class_t kind = H5Tget_class(stored);
  if (kind != H5T_FLOAT && kind != H5T_INTEGER) fail(object, "does not hold numbers");
  const hssize_t count = H5Sget_simple_extent_npoints(space);
  if (count < 0 || count > largest_array) fail(object, "has an impossible size");
  check_storage(set, object, static_cast<std::size_t>(count), H5Tget_size(stored));
  std::vector<T> values(static_cast<std::size_t>(count));
  if (count > 0 && H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()) < 0)
    fail(object, "cannot be read, or not as it was written");
  return values;
}

std::vector<double> Hdf5File::read_doubles(const std::string& object) const {
  return read<double>(object, H5T_NATIVE_DOUBLE);
}
std::vector<int> Hdf5File::read_ints(const std::string& object) const {
  return read<int>(object, H5T_NATIVE_INT);
}

std::vector<double> Hdf5File::read_rows(const std::string& object, std::size_t first, std::size_t count) const {
  const std::vector<std::size_t> whole = shape(object);
  if (whole.empty() || first > whole[0] || count > whole[0] - first) fail(object, "has fewer rows than it should");
  const Handle set(open(object), H5Dclose);
  const Handle space(H5Dget_space(set), H5Sclose), stored(H5Dget_type(set), H5Tclose);
  if (H5Tget_class(stored) != H5T_FLOAT) fail(object, "does not hold numbers");
  const hssize_t entries = H5Sget_simple_extent_npoints(space);
  if (entries < 0 || entries > largest_array) fail(object, "has an impossible size");
  // Once: HDF5 counts all chunks for it.
  if (std::find(checked_.begin(), checked_.end(), object) == checked_.end()) {
    check_storage(set, object, static_cast<std::size_t>(entries), H5Tget_size(stored));
    checked_.push_back(object);
  }
  std::vector<hsize_t> start(whole.size()), extent(whole.begin(), whole.end());
  start[0] = first;
  extent[0] = count;
  std::size_t size = 1;
  for (const hsize_t n : extent) size *= n;
  std::vector<double> values(size);
  if (size == 0) return values;
  const Handle memory(H5Screate_simple(static_cast<int>(extent.size()), extent.data(), nullptr), H5Sclose);
  if (H5Sselect_hyperslab(space, H5S_SELECT_SET, start.data(), nullptr, extent.data(), nullptr) < 0 ||
      H5Dread(set, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, values.data()) < 0)
    fail(object, "cannot be read, or not as it was written");
  return values;
}

std::int64_t Hdf5File::read_int(const std::string& object) const {
  const auto values = read<std::int64_t>(object, H5T_NATIVE_INT64);
  if (values.size() != 1) fail(object, "is not one number");
  return values.front();
}

std::string Hdf5File::read_text(const std::string& object) const {
  const Handle set(open(object), H5Dclose);
  const Handle stored(H5Dget_type(set), H5Tclose);
  if (H5Tget_class(stored) != H5T_STRING || H5Tis_variable_str(stored) > 0) fail(object, "is not a text");
  const Handle space(H5Dget_space(set), H5Sclose);
  if (H5Sget_simple_extent_npoints(space) != 1) fail(object, "is not one text");
  const std::size_t size = H5Tget_size(stored);
  check_storage(set, object, 1, size);
  std::string text(size, '\0');
  if (size > 0 && H5Dread(set, stored, H5S_ALL, H5S_ALL, H5P_DEFAULT, text.data()) < 0)
    fail(object, "cannot be read, or not as it was written");
  while (!text.empty() && text.back() == '\0') text.pop_back();
  return text;
}

void Hdf5File::write_raw(const std::string& object, const void* data, std::int64_t type,
                         const std::vector<std::size_t>& extent) {
  std::vector<hsize_t> dimensions(extent.begin(), extent.end());
  std::size_t bytes = H5Tget_size(type);
  for (const std::size_t n : extent) bytes *= n;
  // A single value cannot be chunked.
  if (dimensions.empty() && bytes > largest_compact) dimensions = {1};
  const int rank = static_cast<int>(dimensions.size());
  const Handle space(rank == 0 ? H5Screate(H5S_SCALAR) : H5Screate_simple(rank, dimensions.data(), nullptr), H5Sclose);
  const Handle creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  if (bytes > largest_compact) {
    H5Pset_chunk(creation, rank, chunk_of(dimensions, bytes).data());
    H5Pset_fletcher32(creation);
    H5Pset_fill_time(creation, H5D_FILL_TIME_ALLOC);  // what of the last chunk lies outside
  } else if (bytes > 0) {
    H5Pset_layout(creation, H5D_COMPACT);
  }
  const Handle set(create(object, type, space, creation), H5Dclose);
  if (set < 0 || H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) < 0)
    throw RunError("writing '" + object + "' to '" + path_ + "' failed", "is there memory left?", {path_, 0, 0, ""});
}

// An array, and the groups on the way to it.
std::int64_t Hdf5File::create(const std::string& object, std::int64_t type, std::int64_t space,
                              std::int64_t properties) const {
  // No time stamps: equal data give equal bytes.
  const Handle group(H5Pcreate(H5P_GROUP_CREATE), H5Pclose);
  H5Pset_obj_track_times(group, false);
  H5Pset_obj_track_times(properties, false);
  for (std::size_t end = object.find('/', 1); end != std::string::npos; end = object.find('/', end + 1))
    if (const std::string parent = object.substr(0, end); !has(parent))
      Handle(H5Gcreate2(file_, parent.c_str(), H5P_DEFAULT, group, H5P_DEFAULT), H5Gclose);
  return H5Dcreate2(file_, object.c_str(), type, space, H5P_DEFAULT, properties, H5P_DEFAULT);
}

void Hdf5File::reserve(std::uintmax_t bytes) {
  hsize_t size = 0;
  if (H5Fget_filesize(file_, &size) < 0)
    throw RunError("writing '" + path_ + "' failed", "is there memory left?", {path_, 0, 0, ""});
  if (aside_) aside_->reserve(size + bytes + room);
}

void Hdf5File::append(const std::string& object, const std::vector<double>& values, const std::vector<std::size_t>& row,
                      std::size_t chunk_rows) {
  std::vector<hsize_t> extent{0}, start{0};
  extent.insert(extent.end(), row.begin(), row.end());
  start.resize(extent.size());
  hsize_t width = 1;
  for (std::size_t i = 1; i < extent.size(); ++i) width *= extent[i];
  const hsize_t rows = values.size() / width;
  if (rows == 0) return;
  const auto refuse = [&] {
    throw RunError("writing '" + object + "' to '" + path_ + "' failed", "is there memory and room on the disk left?",
                   {path_, 0, 0, ""});
  };
  const int rank = static_cast<int>(extent.size());
  if (!has(object)) {
    std::vector<hsize_t> most = extent, chunk = extent;
    most[0] = H5S_UNLIMITED;
    chunk[0] = chunk_rows > 0 ? chunk_rows : rows;
    const Handle space(H5Screate_simple(rank, extent.data(), most.data()), H5Sclose);
    const Handle creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    H5Pset_chunk(creation, rank, chunk.data());
    H5Pset_fletcher32(creation);
    H5Pset_fill_time(creation, H5D_FILL_TIME_ALLOC);
    if (const Handle made(create(object, H5T_NATIVE_DOUBLE, space, creation), H5Dclose); made < 0) refuse();
  }
  const Handle set(open(object), H5Dclose);
  start[0] = shape(object)[0];
  extent[0] = start[0] + rows;
  if (H5Dset_extent(set, extent.data()) < 0) refuse();
  extent[0] = rows;
  const Handle where(H5Dget_space(set), H5Sclose), memory(H5Screate_simple(rank, extent.data(), nullptr), H5Sclose);
  if (H5Sselect_hyperslab(where, H5S_SELECT_SET, start.data(), nullptr, extent.data(), nullptr) < 0 ||
      H5Dwrite(set, H5T_NATIVE_DOUBLE, memory, where, H5P_DEFAULT, values.data()) < 0)
    refuse();
}

void Hdf5File::write(const std::string& object, const std::vector<double>& values,
                     const std::vector<std::size_t>& extent) {
  write_raw(object, values.data(), H5T_NATIVE_DOUBLE, extent);
}
void Hdf5File::write(const std::string& object, const std::vector<int>& values,
                     const std::vector<std::size_t>& extent) {
  write_raw(object, values.data(), H5T_NATIVE_INT, extent);
}
void Hdf5File::write(const std::string& object, double value) {
  write_raw(object, &value, H5T_NATIVE_DOUBLE, {});
}
void Hdf5File::write(const std::string& object, std::int64_t value) {
  write_raw(object, &value, H5T_NATIVE_INT64, {});
}
void Hdf5File::write(const std::string& object, const std::string& text) {
  const Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
  H5Tset_size(type, text.size() + 1);
  write_raw(object, text.c_str(), type, {});
}

}  // namespace supple
