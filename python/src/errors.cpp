// Errors of the engine as the exceptions of supple/_errors.py, with place and remedy.

#include "kernels/base/error.hpp"

#include <nanobind/stl/string.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

#include "engine/scene/units.hpp"
#include "python/src/bindings.hpp"

namespace supple::python {

namespace {

const char* class_of(const Error& error) {
  if (dynamic_cast<const InputError*>(&error) != nullptr) return "InputError";
  if (dynamic_cast<const CapabilityError*>(&error) != nullptr) return "CapabilityError";
  if (dynamic_cast<const Interrupted*>(&error) != nullptr) return "Interrupted";
  return "RunError";
}

// Options of the command line as arguments: "--time-step" is time_step.
std::string in_python(std::string text) {
  for (std::size_t at = text.find("--"); at != std::string::npos; at = text.find("--", at)) {
    std::size_t end = at + 2;
    while (end < text.size() && (std::isalpha(static_cast<unsigned char>(text[end])) != 0 || text[end] == '-')) ++end;
    if (end == at + 2) {
      at = end;
      continue;
    }
    std::string name = text.substr(at + 2, end - at - 2);
    std::ranges::replace(name, '-', '_');
    text.replace(at, end - at, name);
    at += name.size();
  }
  return text;
}

void translate(const std::exception_ptr& thrown, void*) {
  try {
    std::rethrow_exception(thrown);
  } catch (const Error& error) {
    const nb::object type = nb::module_::import_("supple._errors").attr(class_of(error));
    const Place& place = error.place();
    std::string report = error.report();
    if (report.rfind("error: ", 0) == 0) report.erase(0, 7);  // the name of the exception stands before it
    const nb::object value = type(std::string(error.what()), in_python(error.suggestion()), place.file, place.line,
                                  place.column, in_python(report));
    PyErr_SetObject(type.ptr(), value.ptr());
  }
}

constexpr std::array<std::pair<std::string_view, Dimension>, 17> dimensions{{{"number", Dimension::number},
                                                                             {"length", Dimension::length},
                                                                             {"mass", Dimension::mass},
                                                                             {"time", Dimension::time},
                                                                             {"angle", Dimension::angle},
                                                                             {"acceleration", Dimension::acceleration},
                                                                             {"stress", Dimension::stress},
                                                                             {"density", Dimension::density},
                                                                             {"force", Dimension::force},
                                                                             {"stiffness", Dimension::stiffness},
                                                                             {"frequency", Dimension::frequency},
                                                                             {"speed", Dimension::speed},
                                                                             {"force rate", Dimension::force_rate},
                                                                             {"stress rate", Dimension::stress_rate},
                                                                             {"volume", Dimension::volume},
                                                                             {"volume rate", Dimension::volume_rate},
                                                                             {"compliance", Dimension::compliance}}};

Dimension dimension_of(const std::string& name) {
  for (const auto& [known, dimension] : dimensions)
    if (known == name) return dimension;
  std::vector<std::string> names;
  for (const auto& [known, dimension] : dimensions) names.emplace_back(known);
  const std::string near = nearest_word(name, names);
  throw InputError("'" + name + "' is not a dimension", near.empty() ? "\"length\", \"force\", \"stress\", ..." : near);
}

}  // namespace

std::string word_of(Dimension dimension) {
  for (const auto& [word, known] : dimensions)
    if (known == dimension) return std::string(word);
  return {};
}

void bind_errors(nb::module_&) {
  nb::register_exception_translator(translate);
}

void bind_units(nb::module_& module) {
  module.def(
      "quantity",
      [](const std::string& text, const std::string& dimension) {
        return parse_quantity(text, dimension_of(dimension));
      },
      nb::arg("text"), nb::arg("dimension"),
      "The SI value of a quantity with a unit: quantity(\"40 mm\", \"length\") is 0.04.\n\n"
      "A number without a unit is SI. Raises InputError for an unknown unit or one of another dimension.");
  module.def(
      "format_quantity",
      [](double value, const std::string& dimension) { return format_quantity(value, dimension_of(dimension)); },
      nb::arg("value"), nb::arg("dimension"),
      "An SI value for people, with a handy unit: format_quantity(0.04, \"length\") is '40 mm'.");
}

}  // namespace supple::python
