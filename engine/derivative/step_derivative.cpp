#include "engine/derivative/step_derivative.hpp"

#include <Eigen/LU>
#include <Eigen/QR>
#include <algorithm>
#include <cmath>
#include <initializer_list>

#include "kernels/base/contract.hpp"
#include "kernels/base/extent.hpp"
#include "kernels/math/inner_product.hpp"

namespace supple {

namespace {

std::span<const double> part(const std::vector<double>& values, int robot, int size) {
  return std::span(values).subspan(extent(robot, size), extent(size));
}

// A multiplier this near to its limit, relative to it, lies there: in contact limits are scaled and scaled back.
constexpr double at_limit = 1e-12;
// Conditions whose matrix has a smaller reciprocal condition depend on each other; residual of what determines the
// motion.
constexpr double enough_rank = 1e-13, consistent = 1e-8;
// Contacts are solved to 1e-10 of the motion that their forces make: along a tangent with less than that of the other's
// compliance, which is rounding in the modes, none is held.
constexpr double idle_compliance = 1e-10;

// holds(), of a multiplier that rounding may have taken off its limit.
bool row_holds(const Robot& robot, int row, double multiplier) {
  if (row < static_cast<int>(robot.actuators.size())) {
    const RowTarget target = row_target(robot.actuators[extent(row)], 0, 0, 0);
    for (const double limit : {target.lower, target.upper})
      if (std::isfinite(limit) && std::abs(multiplier - limit) <= at_limit * std::abs(limit)) return false;
  }
  return holds(robot, row, multiplier);
}

// A constraint that all modes obey anyway has no Jacobian, and no multiplier.
bool is_zero(const double* h, int n) {
  return std::all_of(h, h + n, [](double x) { return x == 0; });
}

}  // namespace

std::optional<InputError> no_derivative(const Robot& robot, const StepSettings& settings) {
  const auto missing = [](const std::string& what, const std::string& instead) {
    return InputError("steps with " + what + " have no derivatives yet", instead);
  };
  if (settings.scheme != StepScheme::one_linearisation || settings.keep_tangent > 0)
    return missing("another scheme than one linearisation of their own",
                   "integrator = \"implicit_euler\", keep_tangent = 0");
  if (settings.alpha() != 1 || settings.beta() != 1)
    return missing("implicit factors below 1", "implicit_velocity = 1 and implicit_position = 1");
  if (robot.surfaces) return missing("bodies that touch each other", "one body in contact with obstacles alone");
  for (const PlacedObstacle& placed : robot.obstacles)
    if (placed.obstacle.side() == Obstacle::Side::inside || placed.obstacle.shape() == Obstacle::Shape::tube ||
        placed.obstacle.shape() == Obstacle::Shape::mesh)
      return missing("obstacles that are hollow or meshes",
                     "planes, spheres, capsules, boxes and cylinders from outside");
  if (!robot.motions.empty()) return missing("regions with a prescribed motion", "the scene without [[motion]]");
  if (robot.viscous > 0) return missing("viscous materials", "rayleigh_stiffness instead of retardation_time");
  if (!robot.springs.empty()) return missing("springs that are forces", "form = \"constraint\" in [[constraint]]");
  if (robot.floating) return missing("free-floating bodies", "a body that is held");
  if (robot.actuators.empty()) return missing("no actuator", "a robot with cables, forces or cavities");
  for (const ActuatorRow& actuator : robot.actuators) {
    if (actuator.has_gas()) return missing("gas", "control = \"pressure\" or \"volume\"");
    if (actuator.friction > 0) return missing("cables that rub", "friction = 0");
    if (actuator.is_motor()) return missing("motors", "cables, forces and cavities");
  }
  return std::nullopt;
}

StateGradient zero_gradient(const ReducedMechanics& mechanics) {
  const int B = mechanics.robots(), nv = mechanics.coordinates().nv;
  StateGradient zero;
  zero.q.assign(extent(B, nv), 0.0);
  zero.v = zero.q;
  zero.multipliers.assign(extent(B, mechanics.robot().rows()), 0.0);
  zero.commands.assign(extent(B) * mechanics.robot().actuators.size(), 0.0);
  zero.contact_forces.assign(extent(B, mechanics.robot().pairs(), 3), 0.0);
  return zero;
}

StepDerivative::StepDerivative(ReducedMechanics& mechanics, const StepSettings& settings)
    : mechanics_(mechanics),
      time_step_(settings.time_step),
      robots_(mechanics.robots()),
      nv_(mechanics.coordinates().nv),
      rows_n_(mechanics.robot().rows()),
      actuators_(static_cast<int>(mechanics.robot().actuators.size())),
      pairs_(mechanics.robot().pairs()),
      obstacles_(static_cast<int>(mechanics.robot().obstacles.size())) {
  if (const auto why = no_derivative(mechanics.robot(), settings)) throw InputError(*why);
  const std::size_t coordinates = extent(robots_, nv_), rows = extent(robots_, rows_n_);
  for (auto* values : {&q_, &v_, &u_, &w_, &momentum_, &out_}) values->assign(coordinates, 0.0);
  for (auto* values : {&lambda_, &phi_}) values->assign(rows, 0.0);
  H_.assign(extent(robots_, rows_n_, nv_), 0.0);
  y_.assign(extent(robots_, mechanics.robot().outputs()), 0.0);
  gradients_.assign(extent(robots_, mechanics.rows().gradients()), 0.0);
  rows_.resize(extent(robots_));
}

std::span<const double> StepDerivative::points(int b) const {
  return part(y_, b, mechanics_.robot().outputs());
}

const double* StepDerivative::mapping(int point, int k) const {
  return mechanics_.model().outputs.data() + extent(3 * point + k, nv_);
}

Vec3d StepDerivative::map(int point, const double* x) const {
  Vec3d mapped;
  for (int k = 0; k < 3; ++k) mapped[k] = inner_product(mapping(point, k), x, nv_);
  return mapped;
}

void StepDerivative::add_mapped(int point, const Vec3d& force, double* out) const {
  for (int k = 0; k < 3; ++k) {
    const double* row = mapping(point, k);
    for (int j = 0; j < nv_; ++j) out[j] += force[k] * row[j];
  }
}

// Its row of H.
void StepDerivative::add_condition(int b, const Condition& condition) {
  RobotRows& rows = rows_[extent(b)];
  rows.conditions.push_back(condition);
  if (condition.row >= 0) {
    const double* h = H_.data() + extent(b, rows_n_, nv_) + extent(condition.row, nv_);
    rows.H.insert(rows.H.end(), h, h + nv_);
    return;
  }
  const Contact& contact = rows.contacts[extent(condition.contact)];
  const Mat3d& frame = contact.frame;
  rows.H.resize(rows.H.size() + extent(nv_), 0.0);
  add_mapped(contact.point, {{frame(condition.axis, 0), frame(condition.axis, 1), frame(condition.axis, 2)}},
             rows.H.data() + rows.H.size() - nv_);
}

void StepDerivative::list_rows(int b, std::span<const double> commands, const State& after) {
  const Robot& robot = mechanics_.robot();
  RobotRows& rows = rows_[extent(b)];
  rows.route.clear();
  rows.contacts.clear();
  rows.conditions.clear();
  rows.H.clear();
  for (int i = 0; i < rows_n_; ++i) {
    Condition condition{.row = i};
    if (i < actuators_) {
      const ActuatorRow& actuator = robot.actuators[extent(i)];
      const std::size_t k = extent(b, actuators_) + extent(i);
      const double in_range = std::clamp(commands[k], actuator.range.lower, actuator.range.upper);
      rows.route.push_back(after.commands[k] != in_range ? Route::previous
                           : in_range != commands[k]     ? Route::none
                                                         : Route::command);
    } else {
      // row_scheme.cpp: h/(h + d) of the value and of the compliance
      const ConstraintRow& constraint = robot.constraints[extent(i - actuators_)];
      condition.value = time_step_ / (time_step_ + constraint.damping_time);
      condition.D = constraint.compliance * condition.value;
    }
    if (row_holds(robot, i, after.multipliers[extent(b, rows_n_) + extent(i)]) &&
        !is_zero(H_.data() + extent(b, rows_n_, nv_) + extent(i, nv_), nv_))
      add_condition(b, condition);
  }
  if (pairs_ > 0) list_contacts(b, after);
}

// Each pair with a force has one row at its place: obstacles are convex.
void StepDerivative::list_contacts(int b, const State& after) {
  const Robot& robot = mechanics_.robot();
  RobotRows& rows = rows_[extent(b)];
  for (int pair = 0; pair < pairs_; ++pair) {
    const double* f = after.contact_forces.data() + extent(3, b * pairs_ + pair);
    const Vec3d force{{f[0], f[1], f[2]}};
    if (force == Vec3d{{0, 0, 0}}) continue;
    const PlacedObstacle& obstacle = robot.obstacles[extent(pair % obstacles_)];
    Contact contact{.pair = pair, .point = robot.first_collision_point + pair / obstacles_};
    const double* y = points(b).data() + 3 * contact.point;
    const Proximity near = obstacle.obstacle.at(obstacle.pose, {{y[0], y[1], y[2]}});
    contact.curvature = near.curvature;
    contact.friction = mechanics_.friction(b, pair % obstacles_);
    contact.moved = map(contact.point, u_.data() + extent(b, nv_));
    const double normal = dot(near.normal, force);
    const Vec3d along = force - normal * near.normal;
    const double grip = contact.friction * normal, pull = norm(along);
    contact.frame = frame_on(near.normal);
    if (pull > 0) {
      const Vec3d t = (1 / pull) * along, n = cross(near.normal, t);
      for (int k = 0; k < 3; ++k) {
        contact.frame(1, k) = t[k];
        contact.frame(2, k) = n[k];
      }
    }
    contact.lambda = {{normal, pull, 0}};
    const int index = static_cast<int>(rows.contacts.size());
    rows.contacts.push_back(contact);
    add_condition(b, {.contact = index, .axis = 0});
    if (grip <= 0) continue;
    add_condition(b, {.contact = index, .axis = 1});
    add_condition(b, {.contact = index, .axis = 2});
  }
}

// Which contacts slip. Forces are solved to a tolerance: a contact slips where the slip, over its compliance, and the
// force together are beyond the cone (the natural map of coulomb.hpp). One that sticks gets the tangents that are
// principal axes of its compliance, and loses one along which nothing moves.
void StepDerivative::find_slip(int b) {
  RobotRows& rows = rows_[extent(b)];
  for (std::size_t i = 0; i < rows.conditions.size(); ++i) {
    Condition &along = rows.conditions[i], &across = rows.conditions[i + (along.axis == 1 ? 1 : 0)];
    if (along.contact < 0 || along.axis != 1) continue;
    Contact& contact = rows.contacts[extent(along.contact)];
    double *h[2], *x[2];
    for (std::size_t k = 0; k < 2; ++k) {
      h[k] = rows.H.data() + (i + k) * extent(nv_);
      x[k] = rows.X.data() + (i + k) * extent(nv_);
    }
    const auto product = [&](int k, int l) { return inner_product(h[k], x[l], nv_); };
    const double a = product(0, 0), c = product(0, 1), d = product(1, 1);
    const Vec3d moved = contact.frame * contact.moved;
    const double grip = contact.friction * contact.lambda[0], slip = std::hypot(moved[1], moved[2]);
    if (a * (grip - contact.lambda[1]) < slip) {
      along.kind = Condition::Kind::slides;
      across.kind = Condition::Kind::turns;
      across.D = slip / grip;
      continue;
    }
    const double angle = 0.5 * std::atan2(2 * c, a - d), cosine = std::cos(angle), sine = std::sin(angle);
    const auto turn = [&](double& first, double& second) {
      const double before = first;
      first = cosine * before + sine * second;
      second = cosine * second - sine * before;
    };
    for (int k = 0; k < nv_; ++k) {
      turn(h[0][k], h[1][k]);
      turn(x[0][k], x[1][k]);
    }
    for (int k = 0; k < 3; ++k) turn(contact.frame(1, k), contact.frame(2, k));
    turn(contact.lambda[1], contact.lambda[2]);
    if (product(1, 1) < idle_compliance * product(0, 0)) across.kind = Condition::Kind::idle;
  }
}

// out [nv] += factor d^2 phi_i/dq^2 x of a row at the robot's mapped points y.
void StepDerivative::add_curvature(int i, std::span<const double> y, double factor, const double* x, double* out) {
  const Robot& robot = mechanics_.robot();
  if (factor == 0) return;
  if (i < actuators_ && !robot.actuators[extent(i)].volume.empty()) {
    const ActuatorRow& actuator = robot.actuators[extent(i)];
    hessian_.resize(extent(nv_, nv_));
    actuator.volume.hessian(row_coordinates(actuator, y).data(), hessian_.data());
    for (int j = 0; j < nv_; ++j) out[j] += factor * inner_product(hessian_.data() + extent(j, nv_), x, nv_);
    return;
  }
  const int first = first_point(robot, i);
  // visit_row_curvature gives -lambda d^2 phi.
  visit_row_curvature(robot, i, y, -factor,
                      [&](int a, int b, const Mat3d& block) { add_mapped(first + a, block * map(first + b, x), out); });
}

void StepDerivative::linearise(std::span<const double> commands, const State& before, const State& after) {
  SUPPLE_EXPECT(before.robots == robots_ && commands.size() == after.commands.size());
  q_ = before.q;
  v_ = before.v;
  lambda_ = after.multipliers;
  for (std::size_t k = 0; k < u_.size(); ++k) u_[k] = time_step_ * after.v[k];
  mechanics_.evaluate_outputs(q_, {}, y_);
  for (int b = 0; b < robots_; ++b)
    evaluate_rows(
        mechanics_.robot(), mechanics_.rows(), points(b), std::span(phi_).subspan(extent(b, rows_n_), extent(rows_n_)),
        std::span(gradients_).subspan(extent(b, mechanics_.rows().gradients()), extent(mechanics_.rows().gradients())));
  mechanics_.row_jacobians(mechanics_.rows(), gradients_, H_, {});
  for (int b = 0; b < robots_; ++b) {
    list_rows(b, commands, after);
    RobotRows& rows = rows_[extent(b)];
    rows.X = rows.H;
    if (rows.conditions.empty()) continue;
    mechanics_.solve_robot(b, rows.X, static_cast<int>(rows.conditions.size()));
    find_slip(b);
  }
}

// lambda [conditions]: derivatives of the scalar by their multipliers.
void StepDerivative::list_given(int b, const StateGradient& after, std::span<double> lambda) const {
  const RobotRows& rows = rows_[extent(b)];
  for (std::size_t i = 0; i < rows.conditions.size(); ++i) {
    const Condition& condition = rows.conditions[i];
    if (condition.row >= 0) {
      lambda[i] = after.multipliers[extent(b, rows_n_) + extent(condition.row)];
      continue;
    }
    const Contact& contact = rows.contacts[extent(condition.contact)];
    const double* f = after.contact_forces.data() + extent(3, b * pairs_ + contact.pair);
    lambda[i] = (contact.frame * Vec3d{{f[0], f[1], f[2]}})[condition.axis];
  }
}

// Of several scalars, w [scalars][nv] from A^-1 u* to where they move, and their m:
//   (W S + D^T) m = -(lambda* + H A^-1 u*),   w += A^-1 H^T S m,   W = H A^-1 H^T.
// lambda: lambda* [scalars][conditions], or empty. Rows have units far apart, so the diagonal becomes one.
bool StepDerivative::find_multipliers(int b, std::span<const double> lambda, std::span<double> w) {
  RobotRows& rows = rows_[extent(b)];
  const auto n = static_cast<int>(rows.conditions.size()), scalars = static_cast<int>(w.size()) / nv_;
  rows.m.assign(extent(scalars, n), 0.0);
  if (n == 0) return true;
  using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const Eigen::Map<const RowMajor> H(rows.H.data(), n, nv_), X(rows.X.data(), n, nv_);
  Eigen::Map<RowMajor> motions(w.data(), scalars, nv_), m(rows.m.data(), scalars, n);
  Eigen::MatrixXd W(n, n), right = -(H * motions.transpose());
  Eigen::VectorXd size(n), moves = Eigen::VectorXd::Ones(n);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j <= i; ++j) W(i, j) = W(j, i) = inner_product(H.row(i).data(), X.row(j).data(), nv_);
  if (!lambda.empty()) right -= Eigen::Map<const RowMajor>(lambda.data(), scalars, n).transpose();
  Eigen::MatrixXd K = W;
  for (int i = 0; i < n; ++i) {
    const Condition& condition = rows.conditions[extent(i)];
    if (condition.kind == Condition::Kind::idle) {
      K.row(i).setZero();
      K.col(i).setZero();
      K(i, i) = 1;
      right.row(i).setZero();
      continue;
    }
    if (condition.kind != Condition::Kind::slides) {
      K(i, i) += condition.D;
      continue;
    }
    // The condition times the tangent's own compliance; its normal is the one before.
    K.col(i).setZero();
    K(i, i) = W(i, i);
    K(i - 1, i) = -W(i, i) * rows.contacts[extent(condition.contact)].friction;
    moves[i] = 0;
  }
  for (int i = 0; i < n; ++i) size[i] = K(i, i) > 0 ? 1 / std::sqrt(K(i, i)) : 1;
  K = size.asDiagonal() * K * size.asDiagonal();
  right = size.asDiagonal() * right;
  const Eigen::PartialPivLU<Eigen::MatrixXd> factor(K);
  Eigen::MatrixXd found;
  if (factor.rcond() > enough_rank) {
    found = factor.solve(right);
  } else {
    // More contacts than coordinates: forces are not unique, and the motion is.
    const Eigen::CompleteOrthogonalDecomposition<Eigen::MatrixXd> some(K);
    found = some.solve(right);
    for (int k = 0; k < scalars; ++k)
      if (!((K * found.col(k) - right.col(k)).norm() <= consistent * right.col(k).norm())) return false;
  }
  m = (size.asDiagonal() * found).transpose();
  motions += (m * moves.asDiagonal()) * X;
  return true;
}

void StepDerivative::add_conditions(int b, std::span<const double> m, double* q) {
  const RobotRows& rows = rows_[extent(b)];
  for (std::size_t k = 0; k < rows.conditions.size() && rows.conditions[k].row >= 0; ++k) {
    const double* h = rows.H.data() + k * extent(nv_);
    for (int j = 0; j < nv_; ++j) q[j] += m[k] * rows.conditions[k].value * h[j];
    add_curvature(rows.conditions[k].row, points(b), m[k], u_.data() + extent(b, nv_), q);
  }
}

void StepDerivative::pull_back_rows(int b, const StateGradient& after, StateGradient& before, InputGradient& inputs) {
  const Robot& robot = mechanics_.robot();
  const double* w = w_.data() + extent(b, nv_);
  double* q = before.q.data() + extent(b, nv_);
  std::vector<double> of_target(extent(actuators_), 0.0);
  for (int i = 0; i < rows_n_; ++i) add_curvature(i, points(b), lambda_[extent(b, rows_n_) + extent(i)], w, q);
  const RobotRows& rows = rows_[extent(b)];
  add_conditions(b, rows.m, q);
  for (std::size_t k = 0; k < rows.conditions.size(); ++k)
    if (const int row = rows.conditions[k].row; row >= 0 && row < actuators_) of_target[extent(row)] = -rows.m[k];
  for (int i = 0; i < actuators_; ++i) {
    const std::size_t k = extent(b, actuators_) + extent(i);
    double command = after.commands[k] + of_target[extent(i)];
    if (gives_force(robot.actuators[extent(i)], /*at_rest=*/false))
      command += after.multipliers[extent(b, rows_n_) + extent(i)] +
                 inner_product(H_.data() + extent(b, rows_n_, nv_) + extent(i, nv_), w, nv_);
    if (rows.route[extent(i)] == Route::command) inputs.commands[k] = command;
    if (rows.route[extent(i)] == Route::previous) before.commands[k] = command;
  }
}

// A frame that its normal turns is carried along: dn = C dy with the curvature C, dt = -n (t . dn). That a tangent may
// turn about the normal changes nothing. Of a contact at the point y that moves by d = L u, with the force f = n l_n +
// t l_t,
//   force    df = (l_n C - n (C l_t)^T) dy
//   normal   dg = (n + C d) . dy,   tangent   dg = -(n . d) (C t) . dy
void StepDerivative::add_contacts(int b, const double* w, std::span<const double> m, std::span<const double> forces,
                                  double* q) {
  const RobotRows& rows = rows_[extent(b)];
  std::vector<Vec3d> by_point(rows.contacts.size(), Vec3d{{0, 0, 0}});
  const auto axis = [](const Contact& contact, int i) {
    return Vec3d{{contact.frame(i, 0), contact.frame(i, 1), contact.frame(i, 2)}};
  };
  for (std::size_t k = 0; k < rows.contacts.size(); ++k) {
    const Contact& contact = rows.contacts[k];
    // What the force does to the balance and to the scalar.
    Vec3d x = map(contact.point, w);
    for (int i = 0; i < 3 && !forces.empty(); ++i) x[i] += forces[extent(3, contact.pair) + extent(i)];
    const Vec3d along = contact.lambda[1] * axis(contact, 1) + contact.lambda[2] * axis(contact, 2);
    by_point[k] = contact.lambda[0] * (contact.curvature * x) - dot(axis(contact, 0), x) * (contact.curvature * along);
  }
  for (std::size_t i = 0; i < rows.conditions.size(); ++i) {
    const Condition& condition = rows.conditions[i];
    if (condition.contact < 0 || condition.kind == Condition::Kind::slides) continue;
    const Contact& contact = rows.contacts[extent(condition.contact)];
    Vec3d& sum = by_point[extent(condition.contact)];
    const Vec3d normal = axis(contact, 0);
    if (condition.axis == 0)
      sum = sum + m[i] * (normal + contact.curvature * contact.moved);
    else
      sum = sum - (m[i] * dot(normal, contact.moved)) * (contact.curvature * axis(contact, condition.axis));
  }
  for (std::size_t k = 0; k < rows.contacts.size(); ++k) add_mapped(rows.contacts[k].point, by_point[k], q);
}

// R has -a/h M u - b/h K u. With A = (1/h^2 + a/h) M + (1 + b/h) K and A w = u* + H^T S m, K w is known.
void StepDerivative::pull_back_damping(int b, const StateGradient& after, const double* momentum,
                                       InputGradient& inputs) {
  const RobotRows& rows = rows_[extent(b)];
  const RobotSystem own = mechanics_.system(b);
  const double h = time_step_, *u = u_.data() + extent(b, nv_);
  const double inertia = inner_product(momentum, u, nv_);
  double all = 0;  // u . A w
  for (int k = 0; k < nv_; ++k) {
    const std::size_t at = extent(b, nv_) + extent(k);
    all += u[k] * (after.q[at] + after.v[at] / h);
  }
  for (std::size_t i = 0; i < rows.conditions.size(); ++i)
    if (rows.conditions[i].kind != Condition::Kind::slides)
      all += rows.m[i] * inner_product(rows.H.data() + i * extent(nv_), u, nv_);
  inputs.rayleigh_mass[extent(b)] = -inertia / h;
  inputs.rayleigh_stiffness[extent(b)] = -(all - (1 / (h * h) + own.a / h) * inertia) / (h + own.b);
}

void StepDerivative::pull_back_friction(int b, InputGradient& inputs) {
  const RobotRows& rows = rows_[extent(b)];
  for (std::size_t i = 0; i < rows.conditions.size(); ++i) {
    if (rows.conditions[i].kind != Condition::Kind::slides) continue;
    const Contact& contact = rows.contacts[extent(rows.conditions[i].contact)];
    const double size = inner_product(rows.H.data() + i * extent(nv_), rows.X.data() + i * extent(nv_), nv_);
    inputs.friction[extent(b, obstacles_) + extent(contact.pair % obstacles_)] -= rows.m[i] * size * contact.lambda[0];
  }
}

bool StepDerivative::matrices(int b, StepMatrices& found) {
  using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const ReducedModel& model = mechanics_.model();
  const RobotRows& rows = rows_[extent(b)];
  const std::size_t square = extent(nv_, nv_);
  for (auto* matrix : {&found.q, &found.v, &found.load}) matrix->resize(square);
  found.applied.assign(extent(nv_, actuators_), 0.0);
  W_.assign(square, 0.0);
  for (int i = 0; i < nv_; ++i) W_[extent(i, nv_) + extent(i)] = 1;
  mechanics_.solve_robot(b, W_, nv_);
  if (!find_multipliers(b, {}, W_)) return false;
  J_.resize(square);
  mechanics_.force_jacobian(b, {q_, u_, 1 / time_step_}, J_);
  Eigen::Map<RowMajor> J(J_.data(), nv_, nv_), by_q(found.q.data(), nv_, nv_);
  const Eigen::Map<const RowMajor> W(W_.data(), nv_, nv_), M(model.mass.data(), nv_, nv_);
  std::ranges::copy(W_, found.load.begin());
  Eigen::Map<RowMajor>(found.v.data(), nv_, nv_).noalias() = (W * M) * (mechanics_.system(b).density / time_step_);
  geometric_.assign(square, 0.0);
  for (int i = 0; i < rows_n_; ++i)
    add_row_curvature(model, i, points(b), lambda_[extent(b, rows_n_) + extent(i)], geometric_.data(), nullptr,
                      hessian_);
  const Eigen::Map<const RowMajor> geometric(geometric_.data(), nv_, nv_);
  J += geometric.selfadjointView<Eigen::Lower>();
  by_q.noalias() = -W * J;
  const std::size_t n = rows.conditions.size();
  // The rows' share has one vector for each.
  const Eigen::Map<const RowMajor> m(rows.m.data(), nv_, static_cast<Eigen::Index>(n));
  std::vector<double> unit(n), along(extent(nv_));
  for (std::size_t k = 0; k < n && rows.conditions[k].row >= 0; ++k) {
    unit[k] = 1;
    std::ranges::fill(along, 0.0);
    add_conditions(b, unit, along.data());
    unit[k] = 0;
    by_q.noalias() += m.col(static_cast<Eigen::Index>(k)) * Eigen::Map<const Eigen::RowVectorXd>(along.data(), nv_);
    if (const int row = rows.conditions[k].row; row < actuators_)
      for (int i = 0; i < nv_; ++i) found.applied[extent(i, actuators_) + extent(row)] = -rows.m[extent(i) * n + k];
  }
  for (int i = 0; i < nv_ && !rows.contacts.empty(); ++i)
    add_contacts(b, W.row(i).data(), std::span(rows.m).subspan(extent(i) * n, n), {}, found.q.data() + extent(i, nv_));
  found.slack.assign(extent(actuators_), 0);
  found.reached.resize(extent(actuators_));
  for (int k = 0; k < actuators_; ++k) {
    const std::size_t row = extent(b, rows_n_) + extent(k);
    const ActuatorRow& actuator = mechanics_.robot().actuators[extent(k)];
    const double* h = H_.data() + extent(b, rows_n_, nv_) + extent(k, nv_);
    found.reached[extent(k)] = phi_[row] + inner_product(h, u_.data() + extent(b, nv_), nv_);
    if (std::ranges::any_of(rows.conditions, [&](const Condition& condition) { return condition.row == k; })) continue;
    // By its force; and where that is not given, for what it moves the actuator itself by.
    const bool force = gives_force(actuator, /*at_rest=*/false);
    const double lower = row_target(actuator, 0, 0, 0).lower;
    found.slack[extent(k)] = !force && lambda_[row] <= lower + at_limit * std::abs(lower);
    if (!force && !found.slack[extent(k)]) continue;
    const Eigen::Map<const Eigen::VectorXd> pull(h, nv_);
    const Eigen::VectorXd moved = W * pull;
    const double own = force ? 1 : moved.dot(pull);
    if (!force) {
      // Where other rows hold what it would pull, that is rounding.
      std::vector<double> alone(h, h + nv_);
      mechanics_.solve_robot(b, alone, 1);
      if (!(own > idle_compliance * inner_product(h, alone.data(), nv_))) continue;
    }
    for (int i = 0; i < nv_; ++i) found.applied[extent(i, actuators_) + extent(k)] = moved[i] / own;
  }
  return true;
}

bool StepDerivative::pull_back(const StateGradient& after, StateGradient& before, InputGradient& inputs) {
  const ReducedModel& model = mechanics_.model();
  const Robot& robot = mechanics_.robot();
  const double h = time_step_;
  before.q.resize(w_.size());
  before.v.resize(w_.size());
  before.multipliers.assign(after.multipliers.size(), 0.0);
  before.commands.assign(after.commands.size(), 0.0);
  before.contact_forces.assign(after.contact_forces.size(), 0.0);
  inputs.commands.assign(before.commands.size(), 0.0);
  inputs.gravity.assign(extent(robots_, 3), 0.0);
  inputs.material_scale.assign(extent(robots_, model.regions()), 0.0);
  for (auto* values : {&inputs.density, &inputs.rayleigh_mass, &inputs.rayleigh_stiffness})
    values->assign(extent(robots_), 0.0);
  inputs.friction.assign(extent(robots_, obstacles_), 0.0);
  for (std::size_t k = 0; k < w_.size(); ++k) w_[k] = after.q[k] + after.v[k] / h;  // q' = q + u, v' = u/h
  mechanics_.solve(w_, 1);
  for (int b = 0; b < robots_; ++b) {
    given_.resize(rows_[extent(b)].conditions.size());
    list_given(b, after, given_);
    if (!find_multipliers(b, given_, std::span(w_).subspan(extent(b, nv_), extent(nv_)))) return false;
  }
  inputs.load = w_;
  mechanics_.inertia(w_, {}, momentum_);
  mechanics_.pull_back_forces({q_, u_, 1 / h}, w_, out_, inputs.material_scale);
  for (double& value : inputs.material_scale) value = -value;
  for (int b = 0; b < robots_; ++b) {
    const double *w = w_.data() + extent(b, nv_), *momentum = momentum_.data() + extent(b, nv_);
    const double *v = v_.data() + extent(b, nv_), *u = u_.data() + extent(b, nv_);
    const double* own_gravity = mechanics_.variations().gravity.empty()
                                    ? robot.gravity.v
                                    : mechanics_.variations().gravity.data() + extent(b, 3);
    const RobotSystem own = mechanics_.system(b);
    const double mass = 1 / (h * h) + own.a / h;
    for (int k = 0; k < nv_; ++k) {
      const std::size_t at = extent(b, nv_) + extent(k);
      before.v[at] = momentum[k] / h;
      before.q[at] = after.q[at] - out_[at];
      inputs.density[extent(b)] += momentum[k] * (v[k] / h - mass * u[k]) / own.density;
      for (int i = 0; i < 3; ++i) {
        const double share = w[k] * model.gravity[extent(k, 3) + extent(i)];
        inputs.gravity[extent(b, 3) + extent(i)] += own.density * share;
        inputs.density[extent(b)] += share * own_gravity[i];
      }
    }
    pull_back_damping(b, after, momentum, inputs);
    pull_back_rows(b, after, before, inputs);
    if (pairs_ == 0) continue;
    add_contacts(b, w, rows_[extent(b)].m, part(after.contact_forces, b, 3 * pairs_), before.q.data() + extent(b, nv_));
    pull_back_friction(b, inputs);
  }
  return true;
}

}  // namespace supple
