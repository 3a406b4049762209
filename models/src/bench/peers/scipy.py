"""The engine mount with scipy: x2 and the constraint eliminated by hand, LSODA, gradient by forward differences."""

import json
import time

import numpy as np
import scipy
from scipy.integrate import solve_ivp

STEP, COUNT = 1e-4, 10_000
LOAD, TRACK, DECOUPLER = 20.0, 0.0019, 0.002
STIFFNESS_H, DAMPING_H1, STIFFNESS_M, DAMPING_M = 375e3, 0.08, 9e3, 10.0
A, B, GRAVITY = 0.095, 0.0036, 9.81
OPTIMUM = np.array([123e3, 2.5e9, 5.0, 2.0])
START = np.array([73.8e3, 4e9, 0.5, 1.2])
TIMES = STEP * np.arange(COUNT)


def rates(t, y, u):
    x1, x3, x4, v1, v3, v4 = y
    spring = STIFFNESS_H * (x1 - (B * x3 + A * x4) / (A + B))
    force = 100 * np.sin(4 * np.pi * 25.0**t * t)
    a1 = (force + LOAD * GRAVITY - (u[0] * x1 + u[1] * x1**3 + u[2] * v1) - spring) / LOAD
    a3 = (spring * B / (A + B) - STIFFNESS_M * x3 - DAMPING_M * v3) / DECOUPLER
    a4 = (spring * A / (A + B) - DAMPING_H1 * v4 - u[3] * v4**3) / TRACK
    return [v1, v3, v4, a1, a3, a4]


def acceleration(u):
    found = solve_ivp(rates, (0, 1), np.zeros(6), "LSODA", TIMES, args=(u,), rtol=1e-8, atol=1e-12)
    assert found.success, found.message
    return np.array(rates(TIMES, found.y, u)[3])


wanted = acceleration(OPTIMUM)


def cost(u):
    return 0.5 * STEP * np.sum((acceleration(u) - wanted) ** 2)


def gradient(u):
    own = cost(u)
    return [(cost(u + 1e-4 * u[k] * np.eye(4)[k]) - own) / (1e-4 * u[k]) for k in range(4)]


def timed(what):
    begun = time.perf_counter()
    what(START)
    return time.perf_counter() - begun


print(json.dumps({
    "tool": f"scipy {scipy.__version__}",
    "cost": cost(START),
    "gradient": gradient(START),
    "seconds": {"cost": min(timed(cost) for _ in range(3)), "with gradient": timed(gradient)},
}))
