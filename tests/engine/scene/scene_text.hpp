#pragma once
// Scenes as text, for the tests of this folder.

#include <string>

namespace supple::test {

// The smallest scene; line 1 is [body], its last line is poisson.
inline const std::string minimal = R"([body]
mesh = {file = "bar.msh", unit = "mm"}
density = "1000 kg/m^3"
[[body.material]]
young = "450 kPa"
poisson = 0.45
)";

// Every key but include and those that exclude each other.
inline const std::string full = R"(name = "everything \"quoted\""
gravity = ["0 m/s^2", 0, "-9.81 m/s^2"]
time_step = "5 ms"
duration = "2 s"
integrator = "implicit-euler-newton"
implicit_velocity = 0.5

[body]
name = "arm"
mesh = {file = "bar.msh", unit = "mm", scale = 2, rotation = ["90 deg", 0, "0.25 rev"], translation = [0, 0, "35 mm"]}
mass_distribution = "per-node"
order = 1
dilatation = "points"
density = "1.07 g/cm^3"
rayleigh_mass = "0.1 1/s"
rayleigh_stiffness = "2 ms"

[[body.material]]
model = "corotational"
young = "450 kPa"
poisson = 0.45
rotation = "edge-frame"
density = "1000 kg/m^3"

[[body.material]]
model = "mooney-rivlin"
c01 = "60 kPa"
c10 = "15 kPa"
d = "750 kPa"
region = {sphere = {centre = [0, 0, "10 mm"], radius = "5 mm"}}

[[body.material]]
model = "mooney-rivlin"
young = "450 kPa"
poisson = 0.45
mooney_ratio = 0.5
region = {group = "skin"}

[[body.material]]
model = "stable-neo-hookean"
young = "1 MPa"
poisson = 0.49
region = {box = [[0, 0, 0], [1, 1, 1]]}

[[body.material]]
model = "yeoh"
c1 = "30 kPa"
c2 = "-1 kPa"
c3 = "100 Pa"
poisson = 0.49
region = {group = "skin"}

[[body.material]]
model = "gent"
mu = "60 kPa"
jm = 30
d = "1 MPa"
region = {group = "skin"}

[[body.material]]
model = "ogden"
mu1 = "40 kPa"
alpha1 = 1.5
mu2 = "-10 kPa"
alpha2 = -2
poisson = 0.45
region = {group = "skin"}

[[body.membrane]]
group = "skin"
thickness = "0.4 mm"
young = "1.8 MPa"
poisson = 0.5
density = "965 kg/m^3"

[[body.membrane]]
sphere = {centre = [0, 0, "10 mm"], radius = "5 mm"}
thickness = 1
young = 2
poisson = 0

[[fix]]
box = [["-15 mm", "-15 mm", "-40 mm"], ["15 mm", "15 mm", "10 mm"]]

[[fix]]
group = "base"
motion = "lift"
direction = [0, 1, 2]
range = ["-10 mm", "10 mm"]

[[fix]]
sphere = {centre = [0, 0, 0], radius = "3 mm"}
stiffness = "100 N/m"

[[actuator]]
name = "north"
type = "cable"
points = [["0 mm", "97 mm", "45 mm"], [0, "90 mm", "40 mm"]]
pull_point = ["0 mm", "10 mm", "30 mm"]
attachment_radius = "2 mm"
range = ["0 mm", "40 mm"]
rate = "20 mm/s"
force = [0, "30 N"]
samples = 3

[[actuator]]
name = "south"
type = "cable"
points = [[0, 0, 0], [0, 0, 1]]
control = "force"
range = ["-1 N", "5 N"]
rate = "5 N/s"
bilateral = true

[[actuator]]
name = "push"
type = "force"
point = [0, 0, "10 mm"]
direction = [0, 3, 4]
attachment_radius = "4 mm"
range = ["-2 N", "3 N"]

[[actuator]]
name = "press"
type = "force"
group = "skin"
direction = [0, 0, -2]
control = "displacement"
range = [0, "5 mm"]
rate = "1 mm/s"
bilateral = false
force = [0, "9 N"]

[[constraint]]
name = "rod"
type = "distance"
points = [["0 mm", "97 mm", "45 mm"], [0, "90 mm", "40 mm"]]
attachment_radius = "2 mm"
length = "10 mm"
stiffness = "2 N/mm"
damping_time = "5 ms"

[[constraint]]
name = "string"
type = "limit"
points = [[0, 0, "10 mm"]]
anchor = [0, 0, 1]
bound = "shortest"
compliance = "1 mm/N"

[[constraint]]
name = "joint"
type = "fixed-point"
point = [0, 0, "20 mm"]
position = [0, 0, "21 mm"]
directions = [[0, 0, 2], [3, 0, 0]]

[[constraint]]
name = "table"
type = "plane"
point = [0, 0, "30 mm"]
normal = [0, 3, 4]
compliance = "0.1 mm/N"
as = "constraint"

[[effector]]
name = "top"
type = "position"
point = ["0 mm", "0 mm", "125 mm"]

[[effector]]
name = "platform"
box = [["-5 mm", "-5 mm", "120 mm"], ["5 mm", "5 mm", "130 mm"]]
directions = [[0, 0, 2], [1, 1, 0]]
weight = 2.5

[[effector]]
name = "tilt"
type = "orientation"
sphere = {centre = [0, 0, "125 mm"], radius = "8 mm"}
directions = [[1, 0, 0]]
lever = "20 mm"
exact = true

[[effector]]
name = "taken_in"
type = "length"
cable = "north"

[[effector]]
name = "span"
type = "length"
points = [[0, 0, 0], [0, 0, "50 mm"]]
pull_point = [0, 0, 1]
attachment_radius = "1 mm"
weight = 0.5

[[probe]]
name = "elbow"
set = "arms"
point = ["0 mm", "97 mm", "45 mm"]
sphere = {centre = [0, 0, 0], radius = "40 mm"}

[[obstacle]]
name = "floor"
type = "plane"
position = [0, 0, "-5 mm"]
axis = [0, 3, 4]
friction = 0.5

[[obstacle]]
name = "ball"
type = "sphere"
radius = "20 mm"
position = ["100 mm", 0, 0]

[[obstacle]]
name = "pipe"
type = "capsule"
radius = "30 mm"
length = 0
rotation = ["90 deg", 0, "0.25 rev"]
inside = true

[[obstacle]]
name = "room"
type = "box"
size = [1, 2, "300 mm"]
inside = true
friction = 1

[[obstacle]]
name = "post"
type = "cylinder"
radius = "5 mm"
length = "80 mm"
axis = [-1, 0, 0]
max_force = inf

[[obstacle]]
name = "hose"
type = "tube"
radius = "40 mm"
thickness = "2 mm"
length = "0.3 m"
rotation = [0, 1, 0]
max_force = "1.5 N"

[[obstacle]]
name = "rock"
type = "mesh"
surface = {file = "rock.stl", unit = "mm", scale = 3, rotation = [0, "5 deg", 0], translation = [0, 0, "1 mm"]}
position = [1, 2, 3]
rotation = [0, 0, 1]

[contact]
distance = "0.5 mm"
spacing = "4 mm"
sphere = {centre = [0, 0, "125 mm"], radius = "50 mm"}

[reduce]
sampling = "grid"
states = 100
sweep_steps = 5
friction = "own"
budget = 64
converged = false
modes_tolerance = "0.2 %"
modes_tolerance_squared = true
max_modes = 40
contact_modes = 6
membranes = "strains"
strain_tolerance = 0.2
max_strain_modes = 30
elements_tolerance = 0.05
training = "rerun"
selection = "lawson-hanson"
seed = 7
validation_states = 40
goal_error_limit = 0.01
shape_error_limit = "2 %"
)";

}  // namespace supple::test
