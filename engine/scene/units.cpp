#include "engine/scene/units.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <udunits2.h>

#include <array>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <memory>
#include <mutex>
#include <numbers>
#include <system_error>

namespace supple {
namespace {

// Dimensions no key has, named only to say what was found instead.
constexpr std::array<std::array<std::string_view, 2>, 4> other_dimensions{
    {{"m^2", "an area"}, {"W", "a power"}, {"K", "a temperature"}, {"A", "a current"}}};

struct FreeUnit {
  void operator()(ut_unit* unit) const { ut_free(unit); }
};
using Unit = std::unique_ptr<ut_unit, FreeUnit>;

// UDUNITS keeps parser state in globals: every call happens under one lock.
class UnitSystem {
 public:
  static UnitSystem& instance() {
    static UnitSystem system;
    return system;
  }

  // Size of `unit` in `dimension`, or a message why there is none.
  double scale(const std::string& unit, Dimension dimension, std::string* problem) {
    const std::lock_guard lock(mutex_);
    const Unit parsed(ut_parse(system_, unit.c_str(), UT_ASCII));
    if (!parsed) {
      *problem = "is no unit";
      return 0;
    }
    const Unit target(ut_parse(system_, dimension == Dimension::number ? "1" : si_unit(dimension).data(), UT_ASCII));
    if (!same_dimension(parsed.get(), target.get())) {
      *problem = describe(parsed.get());
      return 0;
    }
    // Radian is 1 to UDUNITS.
    if (dimension == Dimension::number && unit != "%") {
      *problem = dimension_name(Dimension::angle);
      return 0;
    }
    cv_converter* const converter = ut_get_converter(parsed.get(), target.get());
    if (converter == nullptr) {
      *problem = "is no unit";
      return 0;
    }
    // Quantities are pure multiples; a unit with an offset (degC) or a logarithm has another value at 0 or is not
    // linear.
    const double zero = cv_convert_double(converter, 0), one = cv_convert_double(converter, 1);
    const double two = cv_convert_double(converter, 2);
    cv_free(converter);
    if (zero != 0 || !(one > 0) || !std::isfinite(one) || std::abs(two - 2 * one) > 1e-12 * one) {
      *problem = "is no unit to multiply with";
      return 0;
    }
    return one;
  }

 private:
  UnitSystem() {
    ut_set_error_message_handler(ut_ignore);
    system_ = ut_read_xml(nullptr);
    if (system_ == nullptr) {
      // A bundle carries the database beside its programs.
      std::error_code error;
      const auto program = std::filesystem::read_symlink("/proc/self/exe", error);
      const auto bundled = program.parent_path().parent_path() / "share" / "udunits" / "udunits2.xml";
      if (!error && std::filesystem::exists(bundled, error)) system_ = ut_read_xml(bundled.c_str());
    }
    if (system_ == nullptr) {
      // A Python package has it beside the module that holds this code.
      Dl_info module{};
      std::error_code error;
      if (dladdr(reinterpret_cast<const void*>(&dimension_name), &module) != 0) {
        const auto beside = std::filesystem::path(module.dli_fname).parent_path() / "udunits" / "udunits2.xml";
        if (beside.is_absolute() && std::filesystem::exists(beside, error)) system_ = ut_read_xml(beside.c_str());
      }
    }
    if (system_ == nullptr)
      throw CapabilityError("the unit database udunits2.xml is missing (UDUNITS-2 cannot read any unit without it)",
                            "install libudunits2-data, or set UDUNITS2_XML_PATH to the file");
    add("deg", std::numbers::pi / 180);
    add("rev", 2 * std::numbers::pi);
  }
  ~UnitSystem() { ut_free_system(system_); }

  void add(const char* name, double radians) {
    const Unit radian(ut_parse(system_, "radian", UT_ASCII));
    const Unit unit(ut_scale(radians, radian.get()));
    ut_map_name_to_unit(name, UT_ASCII, unit.get());
  }

  // UDUNITS converts reciprocals too, N/m to m/N.
  static bool same_dimension(ut_unit* a, ut_unit* b) {
    if (ut_are_convertible(a, b) == 0) return false;
    cv_converter* const converter = ut_get_converter(a, b);
    if (converter == nullptr) return true;
    const double one = cv_convert_double(converter, 1), two = cv_convert_double(converter, 2);
    cv_free(converter);
    return !(std::abs(2 * two - one) < 1e-12 * std::abs(one));
  }

  std::string describe(ut_unit* unit) {
    const auto matches = [&](std::string_view si) {
      const Unit candidate(ut_parse(system_, si.data(), UT_ASCII));
      return same_dimension(unit, candidate.get());
    };
    for (int d = 1; d < dimension_count; ++d)
      if (matches(si_unit(static_cast<Dimension>(d)))) return std::string(dimension_name(static_cast<Dimension>(d)));
    for (const auto& [si, name] : other_dimensions)
      if (matches(si)) return std::string(name);
    return "something else";
  }

  std::mutex mutex_;
  ut_system* system_ = nullptr;
};

std::string_view trim(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

// Unit text in plain ASCII; "" if it holds anything but names, powers, products and quotients.
std::string plain_unit(std::string_view text) {
  constexpr std::array<std::array<std::string_view, 2>, 6> symbols{
      {{"µ", "u"}, {"μ", "u"}, {"°", "deg"}, {"²", "^2"}, {"³", "^3"}, {"·", "*"}}};
  std::string plain;
  while (!text.empty()) {
    bool replaced = false;
    for (const auto& [symbol, ascii] : symbols)
      if (text.starts_with(symbol)) {
        plain += ascii;
        text.remove_prefix(symbol.size());
        replaced = true;
        break;
      }
    if (replaced) continue;
    const char c = text.front();
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (!letter && std::string_view("_%^*/.-() ").find(c) == std::string_view::npos) return "";
    plain += c;
    text.remove_prefix(1);
  }
  return plain;
}

[[noreturn]] void fail(std::string_view text, const std::string& why, Dimension dimension, const Place& place) {
  throw InputError(fmt::format("'{}' {}", text, why),
                   fmt::format("units of {}: {}", dimension_name(dimension), sample_units(dimension)), place);
}

double unit_scale(std::string_view whole, std::string_view unit, Dimension dimension, const Place& place) {
  constexpr std::size_t longest = 40;
  const std::string plain = unit.size() <= longest ? plain_unit(unit) : "";
  std::string problem = "is no unit";
  double scale = 0;
  if (!plain.empty()) {
    problem.clear();
    scale = UnitSystem::instance().scale(plain, dimension, &problem);
  }
  if (problem.empty()) return scale;
  if (problem.starts_with("is "))
    fail(unit, fmt::format("{}, {} is expected", problem, dimension_name(dimension)), dimension, place);
  fail(whole, fmt::format("is {}, {} is expected", problem, dimension_name(dimension)), dimension, place);
}

}  // namespace

double parse_quantity(std::string_view text, Dimension dimension, const Place& place) {
  const std::string_view whole = trim(text);
  std::string_view rest = whole;
  if (rest.starts_with('+') && !rest.starts_with("+-")) rest.remove_prefix(1);
  // from_chars would take "inf" and "nan".
  const std::size_t digit = rest.starts_with('-') ? 1 : 0;
  const bool numeric = rest.size() > digit && (rest[digit] == '.' || (rest[digit] >= '0' && rest[digit] <= '9'));
  double value = 0;
  const auto [end, status] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
  if (!numeric || status == std::errc::invalid_argument)
    fail(whole, fmt::format("does not start with a number, {} is expected", dimension_name(dimension)), dimension,
         place);
  if (status != std::errc()) fail(whole, "is out of range", dimension, place);
  const std::string_view unit = trim(rest.substr(static_cast<std::size_t>(end - rest.data())));
  if (unit.empty()) return value;
  // "1 200 mm" must not become 200 mm.
  if (unit.front() == '.' || unit.front() == '-' || (unit.front() >= '0' && unit.front() <= '9'))
    if (unit != "1/s") fail(whole, "has two numbers", dimension, place);
  const double result = value * unit_scale(whole, unit, dimension, place);
  if (!std::isfinite(result)) fail(whole, "is out of range", dimension, place);
  return result;
}

double parse_unit(std::string_view text, Dimension dimension, const Place& place) {
  const std::string_view unit = trim(text);
  if (unit.empty())
    fail(text, fmt::format("is no unit, that of {} is expected", dimension_name(dimension)), dimension, place);
  return unit_scale(unit, unit, dimension, place);
}

}  // namespace supple
