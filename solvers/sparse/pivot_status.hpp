#pragma once

namespace supple {

/// Vanished: a pivot fell below the least share of its diagonal entry, on either side of zero.
enum class PivotStatus { ok, vanished, negative };

}  // namespace supple
