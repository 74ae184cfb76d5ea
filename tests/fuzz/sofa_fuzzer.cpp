// Any bytes are one of SOFA's files or an InputError, and what was read is written and read again as the same. The
// first byte chooses the kind of file.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "engine/sofa/sofa_files.hpp"
#include "kernels/base/error.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace supple;
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const auto expect = [](bool same) {
    if (!same) std::abort();
  };
  try {
    if (data[0] % 3 == 0) {
      const SofaModes modes = parse_sofa_modes(text, "fuzz");
      const SofaModes again =
          parse_sofa_modes(format_sofa_modes(modes.values, modes.rows, modes.modes, SofaDigits::exact), "fuzz");
      expect(again.rows == modes.rows && again.modes == modes.modes && again.values == modes.values);
    } else if (data[0] % 3 == 1) {
      const auto elements = parse_sofa_elements(text, "fuzz");
      expect(parse_sofa_elements(format_sofa_elements(elements), "fuzz") == elements);
    } else {
      const auto weights = parse_sofa_weights(text, "fuzz");
      expect(parse_sofa_weights(format_sofa_weights(weights, SofaDigits::exact), "fuzz") == weights);
    }
  } catch (const InputError& error) {
    if (error.report().empty()) std::abort();
  }
  return 0;
}
