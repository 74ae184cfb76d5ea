#include "engine/sofa/sofa_audit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "kernels/base/extent.hpp"

namespace supple {

namespace {

// Rounding to five decimals moves an inner product of two unit vectors by 4e-6 (standard deviation), that of one with
// itself by 6e-6; over all pairs of a hundred modes five times that.
constexpr double five_decimals_defect = 5e-5;
// Inner products of unit columns above this are named.
constexpr double similar = 0.05;
constexpr std::size_t most_named = 5;
// Of a column's length outside of the span of those before.
constexpr double dependent = 1e-6, nearly_dependent = 0.5;

double dot(const double* a, const double* b, int n) {
  return std::inner_product(a, a + n, b, 0.0);
}

const double* column(std::span<const double> basis, int rows, int m) {
  return basis.data() + extent(m, rows);
}

struct Pair {
  int first, second;
  double product;
};

// "3, 17, 20 and 4 more".
std::string list(const std::vector<int>& numbers) {
  const std::size_t named = std::min(numbers.size(), most_named);
  std::string text = fmt::format("{}", fmt::join(numbers.begin(), numbers.begin() + static_cast<long>(named), ", "));
  if (named < numbers.size()) text += fmt::format(" and {} more", numbers.size() - named);
  return text;
}

Place line_of(const std::string& file, int index) {
  return {file, sofa_line(index), 0, ""};
}

}  // namespace

const char* describe(AuditLevel level) {
  static const char* const words[] = {"good", "note", "warning", "error"};
  return words[static_cast<int>(level)];
}

bool has_five_decimals(std::span<const double> values) {
  return std::all_of(values.begin(), values.end(), [](double x) {
    const double scaled = 1e5 * x;
    return std::abs(scaled - std::round(scaled)) <= 1e-6 * std::max(1.0, 1e-5 * std::abs(scaled));
  });
}

Orthonormalised orthonormalise(std::span<const double> basis, int rows, int modes) {
  Orthonormalised result;
  std::vector<double> v(static_cast<std::size_t>(rows));
  for (int m = 0; m < modes; ++m) {
    std::copy_n(column(basis, rows, m), rows, v.begin());
    const double length = std::sqrt(dot(v.data(), v.data(), rows));
    for (int pass = 0; pass < 2; ++pass)
      for (std::size_t k = 0; k < result.kept.size(); ++k) {
        const double* u = column(result.basis, rows, static_cast<int>(k));
        const double s = dot(u, v.data(), rows);
        for (int i = 0; i < rows; ++i) v[static_cast<std::size_t>(i)] -= s * u[i];
      }
    const double left = std::sqrt(dot(v.data(), v.data(), rows));
    result.remaining.push_back(length > 0 ? left / length : 0);
    if (!(result.remaining.back() > dependent)) continue;
    result.kept.push_back(m);
    for (const double x : v) result.basis.push_back(x / left);
  }
  return result;
}

Audit audit_basis(std::span<const double> basis, int rows, int modes, bool rounded) {
  Audit audit;
  std::vector<double> length;
  for (int m = 0; m < modes; ++m)
    length.push_back(std::sqrt(dot(column(basis, rows, m), column(basis, rows, m), rows)));
  Pair worst{0, 0, -1};  // of Phi^T Phi - I
  std::vector<Pair> near;
  for (int a = 0; a < modes; ++a)
    for (int b = a; b < modes; ++b) {
      const double product = dot(column(basis, rows, a), column(basis, rows, b), rows);
      const double defect = std::abs(product - (a == b ? 1 : 0));
      if (defect > worst.product) worst = {a, b, defect};
      const double lengths = length[static_cast<std::size_t>(a)] * length[static_cast<std::size_t>(b)];
      if (a != b && lengths > 0 && std::abs(product) > similar * lengths) near.push_back({a, b, product / lengths});
    }
  const bool by_rounding = rounded && worst.product <= five_decimals_defect;
  AuditLine line{
      "orthonormality",
      worst.product <= 1e-9 ? AuditLevel::good
      : by_rounding         ? AuditLevel::note
                            : AuditLevel::warning,
      fmt::format("max |Phi^T Phi - I| = {:.2g} (columns {} and {})", worst.product, worst.first, worst.second),
      "--orthonormalise",
      worst.product,
      {}};
  if (by_rounding) line.finding += ", as five decimals leave it";
  audit.push_back(line);

  if (!near.empty()) {
    std::sort(near.begin(), near.end(),
              [](const Pair& a, const Pair& b) { return std::abs(a.product) > std::abs(b.product); });
    std::string text;
    for (std::size_t k = 0; k < std::min(near.size(), most_named); ++k)
      text += fmt::format("{}columns {} and {}: inner product {:.3f}", k > 0 ? "; " : "", near[k].first, near[k].second,
                          near[k].product);
    if (near.size() > most_named) text += fmt::format("; {} pairs more", near.size() - most_named);
    audit.push_back({"similar columns", AuditLevel::warning, text, "--orthonormalise", std::abs(near[0].product), {}});
  }

  const std::vector<double> remaining = orthonormalise(basis, rows, modes).remaining;
  const auto least = std::min_element(remaining.begin(), remaining.end());
  line = {"independence", AuditLevel::good, "", "", *least, {}};
  line.finding = fmt::format("column {} is nearest to the span of those before it: {:.3g} % of its length is outside",
                             least - remaining.begin(), 100 * *least);
  if (*least < nearly_dependent) {
    line.level = *least > dependent ? AuditLevel::warning : AuditLevel::error;
    line.remedy = *least > dependent ? "--orthonormalise" : "--orthonormalise drops it";
  }
  audit.push_back(line);
  audit.push_back(
      {"digits of the modes",
       rounded ? AuditLevel::note : AuditLevel::good,
       rounded ? "rounded to five decimals: every value may have an error of 5e-6" : "more than five decimals",
       "",
       std::nan(""),
       {}});
  return audit;
}

Audit audit_nodes(const SofaModes& modes, const FullModel& model, std::span<const int> node_of_file) {
  Audit audit;
  const auto value = [&](std::size_t node, int k, int m) {
    return modes.values[extent(m, modes.rows) + 3 * node + static_cast<std::size_t>(k)];
  };
  int held = 0, still = 0, held_and_still = 0, unused = 0, worst_row = -1, worst_mode = 0;
  double worst = 0, unused_worst = 0;
  for (std::size_t i = 0; i < node_of_file.size(); ++i) {
    double largest = 0;
    int row = 0, mode = 0;
    for (int m = 0; m < modes.modes; ++m)
      for (int k = 0; k < 3; ++k)
        if (std::abs(value(i, k, m)) > largest) {
          largest = std::abs(value(i, k, m));
          row = 3 * static_cast<int>(i) + k;
          mode = m;
        }
    const int node = node_of_file[i];
    if (node < 0) {
      ++unused;
      unused_worst = std::max(unused_worst, largest);
      continue;
    }
    const bool is_held = model.node_unknown[static_cast<std::size_t>(node)] < 0;
    held += is_held ? 1 : 0;
    still += largest == 0 ? 1 : 0;
    held_and_still += is_held && largest == 0 ? 1 : 0;
    if (is_held && largest > worst) {
      worst = largest;
      worst_row = row;
      worst_mode = mode;
    }
  }
  AuditLine line{"held nodes", AuditLevel::good, "", "", worst, {}};
  if (held_and_still < held) {
    line.level = AuditLevel::warning;
    line.finding = fmt::format(
        "the scene holds {} nodes, the modes move {} of them (at most {:.3g}: column {}, node {}): set to zero there",
        held, held - held_and_still, worst, worst_mode, worst_row / 3);
    line.remedy = "the fixed regions and the order of nodes that SOFA had";
    line.place = line_of(modes.file, worst_row);
  } else if (held == 0) {
    line.finding = "the scene holds no node";
  } else {
    line.finding = fmt::format("the scene holds {} nodes, every mode is zero there", held);
  }
  audit.push_back(line);
  if (still > held_and_still)
    audit.push_back({"still nodes",
                     AuditLevel::note,
                     fmt::format("{} nodes that the scene does not hold move in no mode", still - held_and_still),
                     "",
                     std::nan(""),
                     {}});
  if (unused > 0)
    audit.push_back({"nodes without elements",
                     unused_worst > 0 ? AuditLevel::warning : AuditLevel::note,
                     fmt::format("{} nodes of the mesh belong to no element: their rows are left out (values up to "
                                 "{:.3g})",
                                 unused, unused_worst),
                     unused_worst > 0 ? "the mesh that SOFA had" : "",
                     unused_worst,
                     {}});
  return audit;
}

Audit audit_domain(const SofaDomain& domain, const ElementField& field) {
  Audit audit;
  const int total = field.elements();
  const auto add = [&](const char* check, AuditLevel level, std::string finding, std::string remedy = "",
                       double value = std::nan(""), Place place = {}) {
    audit.push_back({fmt::format("{}: {}", field.name, check), level, std::move(finding), std::move(remedy), value,
                     std::move(place)});
  };
  std::vector<char> inside(static_cast<std::size_t>(total), 0);
  std::vector<int> zero, negative, foreign;
  double sum = 0, volume = 0, whole = 0;
  const auto volume_of = [&](int e) {
    double v = 0;
    for (int q = 0; q < field.points_per_element; ++q)
      v += field.volume[static_cast<std::size_t>(e * field.points_per_element + q)];
    return v;
  };
  for (std::size_t k = 0; k < domain.elements.size(); ++k) {
    const int e = domain.elements[k];
    const Place place = line_of(domain.rid_file, static_cast<int>(k));
    if (e >= total) {
      add("element", AuditLevel::error,
          fmt::format("element {} does not exist (the force field has 0 to {})", e, total - 1),
          "the files of one force field, from the mesh of this scene", e, place);
      continue;
    }
    if (inside[static_cast<std::size_t>(e)] != 0) {
      add("element", AuditLevel::error, fmt::format("element {} is listed twice (SOFA would count its force twice)", e),
          "delete one of the two lines, and double its weight if that is what was meant", e, place);
      continue;
    }
    inside[static_cast<std::size_t>(e)] = 1;
    const double xi = domain.weights[static_cast<std::size_t>(e)];
    sum += xi;
    volume += xi * volume_of(e);
    if (xi == 0) zero.push_back(e);
    if (xi < 0) negative.push_back(e);
  }
  for (int e = 0; e < total; ++e) {
    whole += volume_of(e);
    if (inside[static_cast<std::size_t>(e)] == 0 && domain.weights[static_cast<std::size_t>(e)] != 0)
      foreign.push_back(e);
  }
  if (domain.elements.empty())
    add("domain", AuditLevel::error, fmt::format("no element of {} is kept: the field would exert no force", total),
        "SOFA writes such a file for springs, which need none: give the pair of the body's own force field", 0,
        {domain.rid_file, 1, 0, ""});
  else
    add("domain", AuditLevel::good, fmt::format("{} of {} elements", domain.elements.size(), total), "",
        static_cast<double>(domain.elements.size()));
  if (!negative.empty())
    add("negative weights", AuditLevel::error, fmt::format("of elements {}", list(negative)),
        "weights of a quadrature are positive: select the elements again", static_cast<double>(negative.size()),
        line_of(domain.weight_file, negative[0]));
  if (!zero.empty())
    add("zero weights", AuditLevel::warning, fmt::format("of elements {}, which are left out", list(zero)), "",
        static_cast<double>(zero.size()), line_of(domain.weight_file, zero[0]));
  if (!foreign.empty())
    add("weights outside", AuditLevel::warning,
        fmt::format("elements {} have weights and are not in the domain: ignored, as SOFA does", list(foreign)),
        "two files that belong together", static_cast<double>(foreign.size()), line_of(domain.weight_file, foreign[0]));
  if (has_five_decimals(domain.weights)) add("digits of the weights", AuditLevel::note, "rounded to five decimals");
  // A quadrature that integrates constants has both ratios near 1. A selection by forces need not, and where elements
  // differ in size it prefers the large ones.
  const auto near_one = [](double ratio) { return ratio > 0.5 && ratio < 2; };
  const double count = sum / total, volumes = volume / whole;
  add("sum of weights", near_one(count) ? AuditLevel::good : AuditLevel::note,
      fmt::format("{:.6g} for {} elements: {:.3g} of them", sum, total, count), "", count);
  add("volume", near_one(volumes) ? AuditLevel::good : AuditLevel::warning,
      fmt::format("the elements kept, times their weights, have {:.6g} of {:.6g} cm^3: {:.3g} of it", 1e6 * volume,
                  1e6 * whole, volumes),
      "--validate measures whether that matters", volumes);
  return audit;
}

}  // namespace supple
