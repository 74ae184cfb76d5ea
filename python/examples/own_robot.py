"""A robot written in Python: a soft bar of hexahedra with two cables. Usage: own_robot.py MESH (metres)"""

import sys
from pathlib import Path

import supple

mesh = Path(sys.argv[1]).absolute()
scene = supple.scene_from_dict(
    {
        "name": "bar",
        "body": {
            "mesh": {"file": mesh, "unit": "m"},
            "density": "1070 kg/m^3",
            "material": [{"model": "corotational", "young": "300 kPa", "poisson": 0.4}],
        },
        "fix": [{"box": [[-0.001, -1, -1], [0.001, 1, 1]]}],
        "actuator": [
            {
                "name": name,
                "type": "cable",
                "points": [[0.114, 0.01, height], [0.06, 0.01, height]],
                "pull_point": [0, 0.01, height],
                "range": ["0 mm", "6 mm"],
            }
            for name, height in (("upper", 0.018), ("lower", 0.002))
        ],
        "effector": [{"name": "tip", "type": "position", "point": [0.12, 0.01, 0.01]}],
    }
)
print(supple.expected_cost(scene)["text"])
reduction = supple.reduce(scene, error="2 %", progress=True)
print(reduction)
