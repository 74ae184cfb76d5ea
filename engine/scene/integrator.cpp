#include "engine/scene/integrator.hpp"

#include <algorithm>

#include "kernels/base/error.hpp"

namespace supple {

const std::vector<std::string>& integrator_names() {
  static const std::vector<std::string> names{"implicit-euler", "implicit-euler-newton", "quasi-static"};
  return names;
}

std::string integrator_name(Integrator integrator) {
  return integrator_names().at(static_cast<std::size_t>(integrator));
}

Integrator integrator_of(const std::string& name) {
  const auto& names = integrator_names();
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) throw InputError("'" + name + "' is no integrator", "quasi-static");
  return static_cast<Integrator>(found - names.begin());
}

}  // namespace supple
