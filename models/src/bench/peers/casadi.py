"""The engine mount with CasADi: the same steps of HHT as a rootfinder within mapaccum, reverse mode through it."""

import json
import time

import casadi as ca
import numpy as np

COUNT, ALPHA = 1000, -0.1
STEP, BETA, GAMMA, LAG = 1 / COUNT, (1 - ALPHA) ** 2 / 4, (1 - 2 * ALPHA) / 2, ALPHA / (1 + ALPHA)
STIFFNESS_H, A, B, GRAVITY, LOAD = 375e3, 0.095, 0.0036, 9.81, 20.0
DIRECTION = ca.DM([0, A + B, -B, -A])
MASS = ca.DM([LOAD, 0, 0.002, 0.0019])
OPTIMUM = np.array([123e3, 2.5e9, 5.0, 2.0])
START = np.array([73.8e3, 4e9, 0.5, 1.2])
TIMES = STEP * np.arange(COUNT + 1)
FORCE = 100 * np.sin(4 * np.pi * 25.0**TIMES * TIMES)


def forces(q, v, multiplier, u, force):
    spring = STIFFNESS_H * (q[0] - q[1])
    applied = ca.vertcat(
        force + LOAD * GRAVITY - (u[0] * q[0] + u[1] * q[0] ** 3 + u[2] * v[0]) - spring,
        spring,
        -(9e3 * q[2] + 10 * v[2]),
        -(0.08 * v[3] + u[3] * v[3] ** 3),
    )
    return DIRECTION * multiplier - applied


def step():
    z, given = ca.SX.sym("z", 5), ca.SX.sym("given", 17)
    q0, v0, before, force, u = given[:4], given[4:8], given[8:12], given[12], given[13:]
    q, v = q0 + BETA * STEP**2 * z[:4], v0 + GAMMA * STEP * z[:4]
    balance = MASS * z[:4] / (1 + ALPHA) + forces(q, v, z[4], u, force) - LAG * before
    residual = ca.vertcat(balance, ca.dot(DIRECTION, q) / (BETA * STEP**2))
    options = {"abstol": 1e-10, "abstolStep": 1e-10, "max_iter": 25, "error_on_fail": False}
    solve = ca.rootfinder("solve", "fast_newton", ca.Function("residual", [z, given], [residual]), options)
    x, force, u = ca.MX.sym("x", 17), ca.MX.sym("force"), ca.MX.sym("u", 4)
    q, v, z0, before = x[:4], x[4:8], x[8:13], x[13:]
    q1 = q + STEP * v + STEP**2 / 2 * (1 - 2 * BETA) * z0[:4]
    v1 = v + STEP * (1 - GAMMA) * z0[:4]
    z1 = solve(z0, ca.vertcat(q1, v1, before, force, u))
    q1, v1 = q1 + BETA * STEP**2 * z1[:4], v1 + GAMMA * STEP * z1[:4]
    after = ca.vertcat(q1, v1, z1, forces(q1, v1, z1[4], u, force))
    return ca.Function("step", [x, force, u], [after])


u, wanted = ca.MX.sym("u", 4), ca.MX.sym("wanted", 1, COUNT)
begin = ca.DM.zeros(17)
begin[8], begin[13] = FORCE[0] / LOAD + GRAVITY, -(FORCE[0] + LOAD * GRAVITY)
states = step().mapaccum("run", COUNT)(begin, ca.DM(FORCE[1:]).T, ca.repmat(u, 1, COUNT))
seen = ca.horzcat(begin[8], states[8, : COUNT - 1])
cost = STEP / 2 * ca.sumsqr(seen - wanted)
record = ca.Function("record", [u], [seen])(OPTIMUM)
of_cost = ca.Function("of_cost", [u, wanted], [cost])
of_both = ca.Function("of_both", [u, wanted], [cost, ca.gradient(cost, u)])


def timed(what):
    taken = []
    for _ in range(15):
        begun = time.perf_counter()
        what(START, record)
        taken.append(time.perf_counter() - begun)
    return float(np.median(taken))


value, gradient = of_both(START, record)
print(json.dumps({
    "tool": f"casadi {ca.__version__}",
    "cost": float(value),
    "gradient": np.array(gradient).ravel().tolist(),
    "seconds": {"cost": timed(of_cost), "with gradient": timed(of_both)},
}))
