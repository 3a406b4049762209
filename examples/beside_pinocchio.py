"""Robots beside Pinocchio: moments of all links, and torques of random motions, of every URDF file that is named.

    python3 -m venv compare && compare/bin/pip install pin example-robot-data
    cargo build --release
    PATH=$PWD/target/release:$PATH compare/bin/python examples/beside_pinocchio.py

Without names: all robots of the package example-robot-data. Prints a line a robot: the largest difference of a moment beside its size, that of a torque beside
the largest torque, or why the robot is refused. Ends with 1 where one is larger than 1e-12 (moments) or 1e-10 (torques).
"""

import csv
import math
import random
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pinocchio

SLIP = 0.01  # rad/s or m/s: where dry friction is 76 % of its whole
MOVING = ("revolute", "continuous", "prismatic")


def quoted(name):
    return '"' + name.replace("\\", "\\\\").replace('"', '\\"') + '"'


def costate(*arguments):
    done = subprocess.run(["costate", *map(str, arguments)], capture_output=True, text=True)
    if done.returncode != 0:
        raise ValueError(" ".join(done.stderr.split()))
    return done.stdout


def moments(parts, model):
    """The largest difference of a body's ten numbers beside their size, and the number of bodies."""
    worst = 0.0
    for name, own in parts.get("body", {}).items():
        value = lambda v: parts["parameters"][v]["nominal"] if isinstance(v, str) else v
        ours = np.array([value(v) for v in [own["mass"], *own["first_moments"], *own["inertia_about_origin"]]])
        frame = model.frames[model.getFrameId(name, pinocchio.FrameType.BODY)]
        inertia = frame.placement.actInv(model.inertias[frame.parentJoint])
        # m, m c, and I_xx I_xy I_yy I_xz I_yz I_zz
        theirs = inertia.toDynamicParameters()[[0, 1, 2, 3, 4, 6, 9, 5, 7, 8]]
        mass, trace = theirs[0], sum(theirs[4:7])
        size = np.array([mass, *[math.sqrt(mass * trace)] * 3, *[trace] * 6])
        worst = max(worst, *(abs(ours - theirs) / np.maximum(size, 1e-30)))
    return worst, len(parts.get("body", {}))


def mechanism(path, parts, joints, motions):
    """A mechanism in which all joints that move by themselves follow parabolas."""
    sensed = {sensor: own["of"] for sensor, own in parts["sensor"].items()}
    text = f'kind = "spatial"\n[include.r]\nfile = {quoted(str(path))}\ninertias = "fixed"\n[include.r.joints]\n'
    text += "".join(f"{quoted(name)} = {c[0]!r}\n" for name, c in motions.items())
    for k, (name, (place, rate, growth)) in enumerate(motions.items()):
        slides = joints[name].get("type") == "prismatic"
        unit = "m" if slides else "rad"
        text += f"[drive.d{k}]\nof = {quoted('r_' + sensed.get(name + '_motion', name))}\n"
        text += 'freedom = "slide"\n' if slides else ""
        text += f'is = "{place!r}[{unit}] + ({rate!r}[{unit}/s])*t + ({growth!r}[{unit}/s^2])*t^2"\n'
        text += f'[sensor.e{k}]\nshows = "drive"\nof = "d{k}"\n'
    outputs = ", ".join(f'"e{k}.effort"' for k in range(len(motions)))
    return text + (
        '[scenario]\nend = 0.5\nstep = 0.05\nscheme = "inverse-dynamics"\ninitial_state = "projected"\n'
        f"outputs = [{outputs}]\n"
    )


def torques(path, parts, model, folder):
    """The largest difference of a torque beside the largest torque, and the number of joints that move by themselves."""
    joints = {joint.get("name"): joint for joint in ElementTree.parse(path).getroot().findall("joint")}
    followers = {name: joint.find("mimic") for name, joint in joints.items() if joint.find("mimic") is not None}
    shake = random.Random(path.stem)
    motions = {
        name: [shake.uniform(-1, 1), shake.uniform(-2, 2), shake.uniform(-4, 4)]
        for name, joint in joints.items()
        if joint.get("type") in MOVING and name not in followers
    }
    if not motions:
        return 0.0, 0
    file = Path(folder) / "moved.toml"
    file.write_text(mechanism(path, parts, joints, motions))
    costate("simulate", file, "--out", Path(folder) / "run")
    header, *rows = csv.reader((Path(folder) / "run" / "outputs.csv").open())
    column = {name.split(" ")[0]: place for place, name in enumerate(header)}

    def led(name):
        """The joint that this one follows, how far, and from where."""
        if name not in followers:
            return name, 1.0, 0.0
        leader, ratio, offset = led(followers[name].get("joint"))
        own = followers[name]
        multiplier = float(own.get("multiplier", 1))
        return leader, multiplier * ratio, multiplier * offset + float(own.get("offset", 0))

    data, error, largest = model.createData(), 0.0, 0.0
    for row in rows:
        t = float(row[0])
        q, v, a = pinocchio.neutral(model), np.zeros(model.nv), np.zeros(model.nv)
        moved = {}
        for name in (name for name, joint in joints.items() if joint.get("type") in MOVING):
            leader, ratio, offset = led(name)
            place, rate, growth = motions[leader]
            x = ratio * (place + rate * t + growth * t * t) + offset
            joint = model.joints[model.getJointId(name)]
            q[joint.idx_q : joint.idx_q + joint.nq] = [math.cos(x), math.sin(x)] if joint.nq == 2 else [x]
            v[joint.idx_v], a[joint.idx_v] = ratio * (rate + 2 * growth * t), ratio * 2 * growth
            moved[name] = joint.idx_v, leader, ratio
        tau = pinocchio.rnea(model, data, q, v, a)
        efforts = dict.fromkeys(motions, 0.0)
        for name, (place, leader, ratio) in moved.items():
            dynamics = joints[name].find("dynamics")
            own = {} if dynamics is None else dynamics.attrib
            friction = float(own.get("damping", 0)) * v[place] + float(own.get("friction", 0)) * math.tanh(v[place] / SLIP)
            efforts[leader] += ratio * (tau[place] + friction)
        for k, effort in enumerate(efforts.values()):
            largest = max(largest, abs(effort))
            error = max(error, abs(float(row[column[f"e{k}.effort"]]) - effort))
    return error / max(largest, 1e-300), len(motions)


def compared(path, folder):
    """A line on one robot, and whether all is well."""
    try:
        parts = tomllib.loads(costate("export", path))
    except ValueError as error:
        return f"refused: {str(error).split(path.name + ', ')[-1]}", True
    model = pinocchio.buildModelFromUrdf(str(path))
    of_moments, bodies = moments(parts, model)
    of_torques, moved = torques(path, parts, model, folder)
    well = of_moments < 1e-12 and of_torques < 1e-10
    return f"moments {of_moments:.1e} of {bodies} bodies, torques {of_torques:.1e} of {moved} joints", well


def main():
    data = Path(pinocchio.__file__).parents[4] / "share" / "example-robot-data" / "robots"
    robots = [Path(name).resolve() for name in sys.argv[1:]] or sorted(data.rglob("*.urdf"))
    all_well = bool(robots)
    for path in robots:
        with tempfile.TemporaryDirectory() as folder:
            line, well = compared(path, folder)
        print(f"{path.name}: {line}{'' if well else ' <- differs'}", flush=True)
        all_well &= well
    sys.exit(0 if all_well else 1)


if __name__ == "__main__":
    main()
