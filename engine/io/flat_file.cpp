#include "engine/io/flat_file.hpp"

#include <fmt/format.h>

#include <bit>
#include <cstring>
#include <functional>
#include <limits>
#include <numeric>

#include "kernels/base/contract.hpp"
#include "kernels/base/error.hpp"
#include "kernels/base/hash.hpp"

namespace supple {

static_assert(std::endian::native == std::endian::little, "flat files are little-endian, and read as they are");

namespace {

constexpr std::string_view magic = "SUPPLEFL";
constexpr std::size_t head_size = 64, alignment = 64, most_rank = 8;

std::size_t size_of(FlatKind kind) {
  switch (kind) {
    case FlatKind::real:
    case FlatKind::whole:
      return 8;
    case FlatKind::integer:
      return 4;
    case FlatKind::text:
      break;
  }
  return 1;
}

template <class T>
T value_at(std::string_view bytes, std::size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}
template <class T>
void append(std::string& bytes, T value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}
void pad(std::string& bytes, std::size_t multiple) {
  bytes.resize((bytes.size() + multiple - 1) / multiple * multiple, '\0');
}

// Reads the table entry by entry, and never beyond its end.
class Table {
 public:
  Table(std::string_view bytes, std::size_t at) : bytes_(bytes), at_(at) {}
  template <class T>
  bool take(T& value) {
    if (bytes_.size() - at_ < sizeof value) return false;
    value = value_at<T>(bytes_, at_);
    at_ += sizeof value;
    return true;
  }
  bool take_size(std::size_t& value) {
    std::uint64_t wide = 0;
    if (!take(wide) || wide > std::numeric_limits<std::size_t>::max() / 2) return false;
    value = static_cast<std::size_t>(wide);
    return true;
  }
  bool take_name(std::size_t length, std::string& name) {
    const std::size_t padded = (length + 7) / 8 * 8;
    if (length == 0 || length > 4096 || bytes_.size() - at_ < padded) return false;
    name.assign(bytes_.substr(at_, length));
    at_ += padded;
    return true;
  }

 private:
  std::string_view bytes_;
  std::size_t at_;
};

}  // namespace

bool FlatSource::is_flat(std::string_view bytes) {
  return bytes.size() >= head_size && bytes.substr(0, magic.size()) == magic;
}

FlatSource::FlatSource(std::string_view bytes, std::string path) : path_(std::move(path)) {
  const auto reject = [this](const std::string& problem, const std::string& remedy) {
    throw InputError("'" + path_ + "' " + problem, remedy, {path_, 0, 0, ""});
  };
  const char* again = "write it again: supple export --format runtime";
  if (!is_flat(bytes)) reject("is not a model of the runtime, or it is cut off", again);
  const auto format = value_at<std::uint32_t>(bytes, 8);
  if (format != flat_file_format)
    reject(fmt::format("has format {}, this program reads format {}", format, flat_file_format), again);
  const auto count = value_at<std::uint64_t>(bytes, 16), table = value_at<std::uint64_t>(bytes, 24),
             size = value_at<std::uint64_t>(bytes, 32), sum = value_at<std::uint64_t>(bytes, 40);
  if (size != bytes.size() || table < head_size || table > size || count > size / 32) reject("is cut off", again);
  if (hash_bytes(bytes.data() + head_size, bytes.size() - head_size) != sum)
    reject("is damaged: its bytes are not those that were written", again);
  Table entries(bytes, static_cast<std::size_t>(table));
  for (std::uint64_t k = 0; k < count; ++k) {
    std::uint32_t length = 0, kind = 0, rank = 0, zero = 0;
    Object object{};
    std::string name;
    std::size_t place = 0, length_of_data = 0;
    bool fits = entries.take(length) && entries.take(kind) && entries.take(rank) && entries.take(zero);
    fits = fits && kind <= static_cast<std::uint32_t>(FlatKind::whole) && rank <= most_rank;
    std::size_t values = 1;
    for (std::uint32_t d = 0; fits && d < rank; ++d) {
      std::size_t extent = 0;
      fits = entries.take_size(extent) && (extent == 0 || values <= bytes.size() / extent);
      if (fits) values *= extent;
      object.shape.push_back(extent);
    }
    object.kind = static_cast<FlatKind>(kind);
    fits = fits && entries.take_size(place) && entries.take_size(length_of_data) && entries.take_name(length, name);
    fits = fits && place % alignment == 0 && place <= table && length_of_data <= table - place &&
           length_of_data == values * size_of(object.kind);
    if (!fits) reject("has a table that does not fit its contents", again);
    object.data = bytes.substr(place, length_of_data);
    objects_[name] = std::move(object);
  }
}

bool FlatSource::has(const std::string& object) const {
  const auto found = objects_.lower_bound(object);
  return found != objects_.end() && (found->first == object || found->first.rfind(object + "/", 0) == 0);
}

const FlatSource::Object& FlatSource::find(const std::string& object) const {
  const auto found = objects_.find(object);
  if (found == objects_.end()) fail(object, "is missing");
  return found->second;
}

std::vector<std::size_t> FlatSource::shape(const std::string& object) const {
  return find(object).shape;
}

template <class T>
std::vector<T> FlatSource::numbers(const std::string& name) const {
  const Object& object = find(name);
  if (object.kind == FlatKind::text) fail(name, "does not hold numbers");
  const std::size_t size = size_of(object.kind);
  std::vector<T> values(object.data.size() / size);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (object.kind == FlatKind::real)
      values[i] = static_cast<T>(value_at<double>(object.data, i * size));
    else if (object.kind == FlatKind::integer)
      values[i] = static_cast<T>(value_at<std::int32_t>(object.data, i * size));
    else
      values[i] = static_cast<T>(value_at<std::int64_t>(object.data, i * size));
  }
  return values;
}

std::vector<double> FlatSource::read_doubles(const std::string& object) const {
  return numbers<double>(object);
}

std::vector<int> FlatSource::read_ints(const std::string& object) const {
  if (find(object).kind != FlatKind::integer) fail(object, "does not hold whole numbers");
  return numbers<int>(object);
}

std::int64_t FlatSource::read_int(const std::string& object) const {
  if (find(object).kind == FlatKind::real) fail(object, "is not a whole number");
  const std::vector<std::int64_t> values = numbers<std::int64_t>(object);
  if (values.size() != 1) fail(object, "is not one number");
  return values.front();
}

std::string FlatSource::read_text(const std::string& object) const {
  const Object& found = find(object);
  if (found.kind != FlatKind::text) fail(object, "is not a text");
  return std::string(found.data);
}

void FlatSink::add(const std::string& object, FlatKind kind, const void* data, std::size_t bytes,
                   const std::vector<std::size_t>& shape) {
  [[maybe_unused]] const std::size_t values =
      std::accumulate(shape.begin(), shape.end(), std::size_t{1}, std::multiplies<>());
  SUPPLE_EXPECT(values * size_of(kind) == bytes && shape.size() <= most_rank);
  objects_[object] = {kind, shape, std::string(static_cast<const char*>(data), bytes)};
}

void FlatSink::write(const std::string& object, const std::vector<double>& values,
                     const std::vector<std::size_t>& shape) {
  add(object, FlatKind::real, values.data(), values.size() * sizeof(double), shape);
}
void FlatSink::write(const std::string& object, const std::vector<int>& values, const std::vector<std::size_t>& shape) {
  static_assert(sizeof(int) == 4);
  add(object, FlatKind::integer, values.data(), values.size() * sizeof(int), shape);
}
void FlatSink::write(const std::string& object, const std::string& text) {
  add(object, FlatKind::text, text.data(), text.size(), {text.size()});
}
void FlatSink::write(const std::string& object, double value) {
  add(object, FlatKind::real, &value, sizeof value, {});
}
void FlatSink::write(const std::string& object, std::int64_t value) {
  add(object, FlatKind::whole, &value, sizeof value, {});
}

std::string FlatSink::bytes() const {
  std::string bytes(head_size, '\0'), table;
  for (const auto& [name, object] : objects_) {
    pad(bytes, alignment);
    append(table, static_cast<std::uint32_t>(name.size()));
    append(table, static_cast<std::uint32_t>(object.kind));
    append(table, static_cast<std::uint32_t>(object.shape.size()));
    append(table, std::uint32_t{0});
    for (const std::size_t extent : object.shape) append(table, static_cast<std::uint64_t>(extent));
    append(table, static_cast<std::uint64_t>(bytes.size()));
    append(table, static_cast<std::uint64_t>(object.data.size()));
    table += name;
    pad(table, 8);
    bytes += object.data;
  }
  pad(bytes, alignment);
  const std::uint64_t begin = bytes.size();
  bytes += table;
  std::string head(magic);
  append(head, flat_file_format);
  append(head, std::uint32_t{0});
  append(head, static_cast<std::uint64_t>(objects_.size()));
  append(head, begin);
  append(head, static_cast<std::uint64_t>(bytes.size()));
  append(head, hash_bytes(bytes.data() + head_size, bytes.size() - head_size));
  bytes.replace(0, head.size(), head);
  return bytes;
}

}  // namespace supple
