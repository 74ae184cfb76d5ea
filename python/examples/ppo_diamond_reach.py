"""Proximal policy optimisation in NumPy: a diamond is trained to bring its tip to goals. Two minutes on two cores.

Usage: ppo_diamond_reach.py [--steps N] [--seed S] [--plot curve.png]

After J. Schulman et al., "Proximal Policy Optimization Algorithms" (2017), in the style of CleanRL: one file, a
Gaussian policy with a fixed layout of two layers, generalised advantage estimation, Adam.
"""

from __future__ import annotations

import argparse
import time

import gymnasium
import numpy as np
import numpy.typing as npt
import supple.gym  # noqa: F401, registers the environments

Array = npt.NDArray[np.float64]


class Adam:
    """Descends along gradients of arrays, which it changes in place (D. Kingma & J. Ba, 2015)."""

    def __init__(self, arrays: list[Array]) -> None:
        self.arrays = arrays
        self.moments = [(np.zeros_like(w), np.zeros_like(w)) for w in arrays]
        self.count = 0

    def descend(self, gradients: list[Array], rate: float) -> None:
        self.count += 1
        size = np.sqrt(sum(float((g * g).sum()) for g in gradients))
        scale = min(1.0, 0.5 / (size + 1e-8))
        for w, g, (m, v) in zip(self.arrays, gradients, self.moments):
            m += 0.1 * (scale * g - m)
            v += 0.001 * (np.square(scale * g) - v)
            w -= rate * (m / (1 - 0.9**self.count)) / (np.sqrt(v / (1 - 0.999**self.count)) + 1e-8)


class Net:
    """Layers of tanh, the last one linear, with their gradients."""

    def __init__(self, sizes: tuple[int, ...], rng: np.random.Generator, last_gain: float) -> None:
        self.weights: list[Array] = []
        for k, (n, m) in enumerate(zip(sizes, sizes[1:])):
            gain = last_gain if k == len(sizes) - 2 else 1.0
            self.weights += [rng.normal(size=(n, m)) * gain / np.sqrt(n), np.zeros(m)]

    def __call__(self, x: Array) -> Array:
        self.layers = [x]
        for k in range(0, len(self.weights), 2):
            x = x @ self.weights[k] + self.weights[k + 1]
            if k < len(self.weights) - 2:
                x = np.tanh(x)
            self.layers.append(x)
        return x

    def gradients(self, d: Array) -> list[Array]:
        """Of the last call, for the derivative d of the loss by its result."""
        result: list[Array] = []
        for k in range(len(self.weights) - 2, -1, -2):
            if k < len(self.weights) - 2:
                d = d * (1 - self.layers[k // 2 + 1] ** 2)
            result = [self.layers[k // 2].T @ d, d.sum(axis=0), *result]
            d = d @ self.weights[k].T
        return result


def without_noise(envs: gymnasium.vector.VectorEnv[Array, Array, Array], policy: Net) -> float:
    """Mean distance at the end of an episode of the mean of the policy [m]."""
    x, _ = envs.reset(seed=1000)
    while True:
        x, _, _, truncated, info = envs.step(policy(np.asarray(x, dtype=float)))
        if truncated.any():
            return float(np.mean(info["final_info"]["distance"]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=1_000_000, help="control steps of all environments")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--plot", help="file for the curve")
    arguments = parser.parse_args()
    envs_count, length, epochs, minibatches = 64, 64, 6, 8
    discount, smoothing, clip, rate = 0.96, 0.95, 0.2, 1e-3

    envs = gymnasium.make_vec(
        "supple/DiamondReach-v0",
        num_envs=envs_count,
        vectorization_mode="vector_entry_point",
        autoreset_mode="SameStep",
    )
    rng = np.random.default_rng(arguments.seed)
    n, a = envs.single_observation_space.shape[0], envs.single_action_space.shape[0]  # type: ignore[index]
    policy, value = Net((n, 64, 64, a), rng, 0.01), Net((n, 64, 64, 1), rng, 1.0)
    spread = np.full(a, -0.5)  # logarithm of the standard deviation
    of_policy, of_value = Adam([*policy.weights, spread]), Adam(value.weights)
    x = np.asarray(envs.reset(seed=arguments.seed)[0], dtype=float)
    begin, curve = time.perf_counter(), []
    updates = arguments.steps // (envs_count * length)
    for update in range(updates):
        seen, acts, logs, rewards, values, ends = [], [], [], [], [], []
        distances = []
        for _ in range(length):
            mean = policy(x)
            act = mean + np.exp(spread) * rng.normal(size=mean.shape)
            seen.append(x)
            acts.append(act)
            logs.append((-0.5 * ((act - mean) / np.exp(spread)) ** 2 - spread).sum(axis=1))
            values.append(value(x)[:, 0])
            y, reward, terminated, truncated, info = envs.step(act)
            ended = terminated | truncated
            if ended.any():
                # Where an episode is cut off, the value of its last state stands for the rewards that would follow.
                reward = reward + discount * (truncated * value(np.asarray(info["final_obs"], dtype=float))[:, 0])
                distances += list(info["final_info"]["distance"][ended])
            rewards.append(reward)
            ends.append(ended)
            x = np.asarray(y, dtype=float)
        advantages = np.zeros((length, envs_count))
        ahead, next_value = np.zeros(envs_count), value(x)[:, 0]
        for k in range(length - 1, -1, -1):
            alive = ~ends[k]
            delta = rewards[k] + discount * alive * next_value - values[k]
            ahead = delta + discount * smoothing * alive * ahead
            advantages[k], next_value = ahead, values[k]
        returns = (advantages + np.array(values)).ravel()
        flat_x, flat_a = np.concatenate(seen), np.concatenate(acts)
        flat_log, flat_adv = np.concatenate(logs), advantages.ravel()
        step = rate * (1 - update / updates)
        for _ in range(epochs):
            for part in np.array_split(rng.permutation(flat_x.shape[0]), minibatches):
                adv = flat_adv[part]
                adv = (adv - adv.mean()) / (adv.std() + 1e-8)
                mean = policy(flat_x[part])
                away = (flat_a[part] - mean) / np.exp(spread)
                ratio = np.exp(np.clip((-0.5 * away**2 - spread).sum(axis=1) - flat_log[part], -20, 20))
                free = ~(((adv > 0) & (ratio > 1 + clip)) | ((adv < 0) & (ratio < 1 - clip)))
                weight = (-adv * ratio * free / part.size)[:, None]  # derivative of the loss by the log probability
                of_spread = (weight * (away**2 - 1)).sum(axis=0)
                of_policy.descend([*policy.gradients(weight * away / np.exp(spread)), of_spread], step)
                error = value(flat_x[part])[:, 0] - returns[part]
                of_value.descend(value.gradients(error[:, None] / part.size), step)
        if distances:
            seconds = time.perf_counter() - begin
            curve.append((seconds, (update + 1) * envs_count * length, 1e3 * float(np.mean(distances))))
            print(
                f"{seconds:6.1f} s  {curve[-1][1]:8d} steps  {curve[-1][2]:6.2f} mm at the end of an episode",
                flush=True,
            )
    seconds = time.perf_counter() - begin
    print(f"without noise: {1e3 * without_noise(envs, policy):.2f} mm on average; learned in {seconds:.0f} s")
    if arguments.plot:
        from matplotlib import pyplot

        figure, axes = pyplot.subplots(figsize=(6, 3.6), layout="constrained")
        axes.semilogy([c[0] for c in curve], [c[2] for c in curve])
        axes.set(xlabel="time [s]", ylabel="distance at the end of an episode [mm]", title="DiamondReach, 64 robots")
        figure.savefig(arguments.plot, dpi=150)


if __name__ == "__main__":
    main()
