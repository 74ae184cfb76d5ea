#include "engine/calibration/material_fit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>
#include <limits>

#include "engine/scene/csv.hpp"

namespace supple {

namespace {

// Beyond it no elastomer goes, and no law is looked at.
constexpr double least_stretch = 0.1, most_stretch = 10;

std::array<double, 3> stretches(MaterialTest test, double s) {
  switch (test) {
    case MaterialTest::uniaxial:
      return {s, 1 / std::sqrt(s), 1 / std::sqrt(s)};
    case MaterialTest::planar:
      return {s, 1, 1 / s};
    case MaterialTest::biaxial:
      break;
  }
  return {s, s, 1 / (s * s)};
}

// t_1 - t_3 and t_2 - t_3 of the principal Kirchhoff stresses; NaN where there is none.
std::array<double, 2> differences(LawId law, const MaterialParameters<double>& m, const std::array<double, 3>& s) {
  const Mat3d F{{s[0], 0, 0, 0, s[1], 0, 0, 0, s[2]}};
  Mat3d P;
  const bool defined =
      visit_law(law, [&](auto type) { return type.stress(F, m, Mat3d::identity(), P) == PointStatus::regular; });
  const double none = std::numeric_limits<double>::quiet_NaN();
  if (!defined) return {none, none};
  const double t3 = P(2, 2) * s[2];
  return {P(0, 0) * s[0] - t3, P(1, 1) * s[1] - t3};
}

// By the energy's second derivatives over (log s_1, log s_2), central differences of its first.
bool stable_at(LawId law, const MaterialParameters<double>& m, const std::array<double, 3>& s) {
  constexpr double h = 1e-5;
  double H[2][2];
  for (int k = 0; k < 2; ++k) {
    const auto beside = [&](double step) {
      std::array<double, 3> x = s;
      x[static_cast<std::size_t>(k)] *= std::exp(step);
      x[2] *= std::exp(-step);
      return differences(law, m, x);
    };
    const auto up = beside(h), down = beside(-h);
    for (std::size_t l = 0; l < 2; ++l) H[l][k] = (up[l] - down[l]) / (2 * h);
  }
  return H[0][0] > 0 && H[0][0] * H[1][1] - H[0][1] * H[1][0] > 0;
}

// A law to be fitted: where its constants stand among the parameters, where they begin and may go.
struct Candidate {
  std::string name;
  LawId law;
  MaterialParameters<double> fixed;  // the other ones
  std::vector<int> index;
  std::vector<double> start, lower, upper;
};

// mu: a shear modulus of the right size; farthest: the largest I1 - 3 of the tests.
std::vector<Candidate> candidates(double mu, double farthest) {
  const double free = std::numeric_limits<double>::infinity();
  std::vector<Candidate> all;
  all.push_back({"neo-Hookean", LawId::mooney_rivlin, {}, {0}, {mu / 2}, {0}, {free}});
  all.push_back({"Mooney-Rivlin", LawId::mooney_rivlin, {}, {0, 1}, {0.4 * mu, 0.1 * mu}, {0, 0}, {free, free}});
  all.push_back({"Yeoh", LawId::yeoh, {}, {0, 1, 2}, {mu / 2, 0, 0}, {0, -free, -free}, {free, free, free}});
  all.push_back({"Gent", LawId::gent, {}, {0, 1}, {mu, 2 * farthest + 5}, {0, 1.001 * farthest + 1e-6}, {free, 1e6}});
  // One sign of mu alpha each, which makes every term stable.
  constexpr double exponents[3][3] = {{2, 0, 0}, {1.3, -2, 0}, {1.3, 5, -2}};
  for (int terms = 1; terms <= 3; ++terms) {
    Candidate ogden{fmt::format("Ogden, {} term{}", terms, terms > 1 ? "s" : ""), LawId::ogden, {}, {}, {}, {}, {}};
    for (int i = 0; i < 3; ++i) ogden.fixed.p[2 * i + 1] = 2;
    for (int i = 0; i < terms; ++i) {
      const double alpha = exponents[terms - 1][i], modulus = 2 * mu / alpha / terms;
      ogden.index.insert(ogden.index.end(), {2 * i, 2 * i + 1});
      ogden.start.insert(ogden.start.end(), {modulus, alpha});
      ogden.lower.insert(ogden.lower.end(), {alpha > 0 ? 0 : -free, alpha > 0 ? 0.05 : -30});
      ogden.upper.insert(ogden.upper.end(), {alpha > 0 ? free : 0, alpha > 0 ? 30 : -0.05});
    }
    all.push_back(std::move(ogden));
  }
  return all;
}

}  // namespace

std::vector<TestPoint> read_material_tests(const std::string& path) {
  const std::vector<CsvLine> lines = read_csv(path);
  const std::string example = "a first line like: test,stretch,stress [kPa]";
  if (lines.size() < 2) throw InputError("the file has no line of numbers", example, {path, 0, 0, ""});
  enum class What { test, stretch, strain, stress };
  std::vector<What> columns;
  double scale = 0, length_unit = 1;
  const CsvLine& header = lines.front();
  for (std::size_t c = 0; c < header.cells.size(); ++c) {
    const CsvColumn column = csv_column(header.cells[c]);
    const std::array<const char*, 4> names{"test", "stretch", "strain", "stress"};
    const auto found = std::ranges::find(names, column.name);
    if (found == names.end())
      throw InputError(fmt::format("'{}' is no column of a test", column.name), "test, stretch or strain, stress",
                       header.at(c));
    const auto what = static_cast<What>(found - names.begin());
    if (std::ranges::find(columns, what) != columns.end())
      throw InputError(fmt::format("there are two columns '{}'", column.name), "one of them", header.at(c));
    if (what == What::stress) scale = csv_unit(column, Dimension::stress, header.at(c));
    if (what == What::strain || what == What::stretch) length_unit = csv_unit(column, Dimension::number, header.at(c));
    if (what == What::test && !column.unit.empty())
      throw InputError("the name of a test has no unit", "test", header.at(c));
    columns.push_back(what);
  }
  const auto has = [&](What what) { return std::ranges::find(columns, what) != columns.end(); };
  if (has(What::stretch) == has(What::strain) || !has(What::stress))
    throw InputError(has(What::stress) ? "one of stretch and strain is needed" : "there is no column 'stress'", example,
                     header.place);
  std::vector<TestPoint> points;
  for (std::size_t l = 1; l < lines.size(); ++l) {
    const CsvLine& line = lines[l];
    if (line.cells.size() != columns.size())
      throw InputError(fmt::format("{} cells, the header has {}", line.cells.size(), columns.size()),
                       "one for each column", line.place);
    TestPoint point;
    for (std::size_t c = 0; c < columns.size(); ++c) {
      if (columns[c] == What::test) {
        const auto found =
            std::ranges::find_if(material_test_names, [&](const char* name) { return line.cells[c].text == name; });
        if (found == material_test_names.end())
          throw InputError(fmt::format("'{}' is no test", line.cells[c].text), "uniaxial, planar or biaxial",
                           line.at(c));
        point.test = static_cast<MaterialTest>(found - material_test_names.begin());
      } else if (columns[c] == What::stress) {
        point.stress = scale * csv_number(line, c);
      } else {
        const double value = length_unit * csv_number(line, c);
        point.stretch = columns[c] == What::stretch ? value : 1 + value;
        if (!(point.stretch >= least_stretch && point.stretch <= most_stretch))
          throw InputError(fmt::format("the stretch is {:g}", point.stretch),
                           fmt::format("length over length at rest, {:g} to {:g}; strains in per cent: strain [%]",
                                       least_stretch, most_stretch),
                           line.at(c));
      }
    }
    points.push_back(point);
  }
  return points;
}

double nominal_stress(LawId law, const MaterialParameters<double>& parameters, MaterialTest test, double stretch) {
  // Of the biaxial test in each of its two directions.
  return differences(law, parameters, stretches(test, stretch))[0] / stretch;
}

Interval stable_stretches(LawId law, const MaterialParameters<double>& parameters, MaterialTest test) {
  constexpr double step = 1.01, least = least_stretch, most = most_stretch;
  Interval range{1, 1};
  for (const bool up : {true, false}) {
    double& end = up ? range.upper : range.lower;
    while (end > least && end < most) {
      const double next = up ? end * step : end / step;
      if (!stable_at(law, parameters, stretches(test, next))) break;
      end = next;
    }
  }
  if (!stable_at(law, parameters, {1, 1, 1})) range = {1, 1};
  return {std::max(range.lower, least), std::min(range.upper, most)};
}

std::vector<MaterialFit> fit_materials(const std::vector<TestPoint>& points, Loss loss) {
  std::array<double, 3> largest{};
  double mu = 0, weight = 0, farthest = 0;
  for (const TestPoint& point : points) {
    double& of_test = largest[static_cast<std::size_t>(point.test)];
    of_test = std::max(of_test, std::abs(point.stress));
    // Nearly linear: stress = mu (s - 1/s^2), (s - 1/s^3), (s - 1/s^5).
    const double power = point.test == MaterialTest::uniaxial ? 2 : point.test == MaterialTest::planar ? 3 : 5;
    const double shape = point.stretch - std::pow(point.stretch, -power);
    mu += shape * point.stress, weight += shape * shape;
    const auto s = stretches(point.test, point.stretch);
    farthest = std::max(farthest, s[0] * s[0] + s[1] * s[1] + s[2] * s[2] - 3);
  }
  for (const TestPoint& point : points)
    if (largest[static_cast<std::size_t>(point.test)] == 0)
      throw InputError(
          fmt::format("all stresses of the {} test are 0", material_test_names[static_cast<std::size_t>(point.test)]),
          "force over area at rest");
  if (!(mu > 0))
    throw InputError("stress falls where stretch grows",
                     "stretches above 1 in tension, nominal stresses above 0 there");
  mu /= weight;

  const auto n = static_cast<Eigen::Index>(points.size());
  std::vector<MaterialFit> fits;
  for (const Candidate& candidate : candidates(mu, farthest)) {
    const auto k = static_cast<Eigen::Index>(candidate.index.size());
    if (k >= n) continue;
    const auto parameters_at = [&](const Eigen::VectorXd& z) {
      MaterialParameters<double> m = candidate.fixed;
      for (Eigen::Index i = 0; i < k; ++i) m.p[candidate.index[static_cast<std::size_t>(i)]] = z[i];
      return m;
    };
    const auto evaluate = [&](const Eigen::VectorXd& z, Eigen::VectorXd& r) {
      const MaterialParameters<double> m = parameters_at(z);
      r.resize(n);
      for (Eigen::Index i = 0; i < n; ++i) {
        const TestPoint& point = points[static_cast<std::size_t>(i)];
        r[i] = (nominal_stress(candidate.law, m, point.test, point.stretch) - point.stress) /
               largest[static_cast<std::size_t>(point.test)];
      }
      return r.allFinite();
    };
    FitProblem problem;
    problem.start = Eigen::Map<const Eigen::VectorXd>(candidate.start.data(), k);
    problem.lower = Eigen::Map<const Eigen::VectorXd>(candidate.lower.data(), k);
    problem.upper = Eigen::Map<const Eigen::VectorXd>(candidate.upper.data(), k);
    problem.size = problem.start.cwiseAbs().cwiseMax(1e-3 * std::abs(candidate.start[0]));
    for (int i = 0; i < n; ++i) problem.group.push_back(i);
    problem.residuals = evaluate;
    problem.jacobian = [&](const Eigen::VectorXd& z, const Eigen::VectorXd& r, Eigen::MatrixXd& J) {
      Eigen::VectorXd up;
      for (Eigen::Index i = 0; i < k; ++i) {
        // The law is evaluated to 1e-16; moduli may be 0.
        double step = 1e-6 * std::max(std::abs(z[i]), 1e-3 * std::abs(candidate.start[0]));
        if (candidate.law == LawId::gent && i == 1) step = 1e-6 * z[i];
        if (z[i] + step > problem.upper[i]) step = -step;
        Eigen::VectorXd beside = z;
        beside[i] += step;
        (void)evaluate(beside, up);
        J.col(i) = (up - r) / step;
      }
    };
    problem.accepted = [](const Eigen::VectorXd&, const Eigen::VectorXd&, int) {};
    const FitResult found = fit(problem, {.loss = loss, .max_iterations = 2000, .tolerance = 1e-3});
    MaterialFit result;
    result.name = candidate.name;
    result.law = candidate.law;
    result.parameters = parameters_at(found.z);
    result.constants = static_cast<int>(k);
    result.rms = std::sqrt(found.residuals.squaredNorm() / static_cast<double>(n));
    result.largest = found.residuals.cwiseAbs().maxCoeff();
    // Of what counts of the residuals: all of them, or with Huber's weights.
    double square = 0;
    for (Eigen::Index i = 0; i < n && !found.weight.empty(); ++i)
      square += found.weight[static_cast<std::size_t>(i)] * found.residuals[i] * found.residuals[i];
    const double many = static_cast<double>(n), of = static_cast<double>(k + 1);
    result.criterion = many - of - 1 > 0 ? many * std::log(std::max(square / many, 1e-30)) + 2 * of +
                                               2 * of * (of + 1) / (many - of - 1)
                                         : std::numeric_limits<double>::infinity();
    for (std::size_t test = 0; test < 3; ++test)
      result.stable[test] = stable_stretches(result.law, result.parameters, static_cast<MaterialTest>(test));
    result.converged = found.converged;
    result.stopped = found.stopped;
    fits.push_back(std::move(result));
  }
  if (fits.empty())
    throw InputError(fmt::format("{} point{} cannot tell a law", n, n == 1 ? "" : "s"), "at least two stretches");
  std::ranges::stable_sort(fits, {}, &MaterialFit::criterion);
  return fits;
}

std::string material_lines(const MaterialFit& fit, double poisson) {
  const double* p = fit.parameters.p;
  const auto stress = [](double value) { return fmt::format("\"{:.6g} Pa\"", value); };
  std::string lines = "[[body.material]]\n";
  if (fit.law == LawId::mooney_rivlin) {
    const double mu = 2 * (p[0] + p[1]);
    return lines + fmt::format("model = \"mooney-rivlin\"\nc01 = {}\nc10 = {}\nd = {}\n", stress(p[0]), stress(p[1]),
                               stress(mu * (1 + poisson) / (3 * (1 - 2 * poisson))));
  }
  if (fit.law == LawId::yeoh)
    lines += fmt::format("model = \"yeoh\"\nc1 = {}\nc2 = {}\nc3 = {}\n", stress(p[0]), stress(p[1]), stress(p[2]));
  if (fit.law == LawId::gent) lines += fmt::format("model = \"gent\"\nmu = {}\njm = {:.6g}\n", stress(p[0]), p[1]);
  if (fit.law == LawId::ogden) {
    lines += "model = \"ogden\"\n";
    for (int i = 0; i < fit.constants / 2; ++i)
      lines += fmt::format("mu{0} = {1}\nalpha{0} = {2:.6g}\n", i + 1, stress(p[2 * i]), p[2 * i + 1]);
  }
  return lines + fmt::format("poisson = {}\n", poisson);
}

HardnessEstimate young_of_hardness(const std::string& shore) {
  const auto space = shore.find_first_of(" -");
  const std::string scale = shore.substr(0, space), digits = space == std::string::npos ? "" : shore.substr(space + 1);
  double hardness = 0;
  const char* end = digits.data() + digits.size();
  const auto [stop, status] = std::from_chars(digits.data(), end, hardness);
  if (digits.empty() || status != std::errc() || stop != end || (scale != "A" && scale != "D"))
    throw InputError(fmt::format("'{}' is no hardness of Shore A or D", shore),
                     "\"A 30\", \"D 40\"; for Shore 00 a test of the material: supple fit-material DATA.csv");
  const double least = scale == "A" ? 10 : 30, most = 85;
  if (!(hardness >= least && hardness <= most))
    throw InputError(fmt::format("Shore {} {} is beyond what the relation holds for", scale, digits),
                     fmt::format("{:g} to {:g}, or a test of the material", least, most));
  const std::function<double(double)> young =
      scale == "A" ? [](double s) { return 1e6 * 0.0981 * (56 + 7.62336 * s) / (0.137505 * (254 - 2.54 * s)); }
                   : [](double s) { return 1e6 * std::pow(10.0, 0.0235 * (s + 50) - 0.6403); };
  return {young(hardness), young(hardness - 5), young(hardness + 5)};
}

}  // namespace supple
