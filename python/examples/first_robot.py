"""A scene to a reduced model, and 256 robots of it under commands of their own, drawn."""

import numpy as np
import supple

reduction = supple.reduce(supple.robot("finger"), progress=True)
print(reduction)
reduction.model.save("finger.rom.h5", overwrite=True)

robots = supple.Simulation(reduction.model, 256)
robots.commands[:, 0] = np.linspace(0, supple.quantity("10 mm", "length"), 256)
robots.step(100)
print("tips from", robots.effectors[0, 0], "to", robots.effectors[-1, 0], "m")
supple.draw(robots, "fingers.png", robots=range(0, 256, 51))
