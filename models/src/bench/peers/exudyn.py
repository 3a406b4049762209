"""A hanging chain of a hundred rods with Exudyn: generalized-alpha of index 3, sparse, modified Newton, one thread."""

import json
import time
import warnings

warnings.simplefilter("ignore")
import exudyn as exu
from exudyn.itemInterface import *

RODS, STEPS = 100, 1000
container = exu.SystemContainer()
chain = container.AddSystem()
ground = chain.AddObject(ObjectGround())
end = chain.AddMarker(MarkerBodyPosition(bodyNumber=ground, localPosition=[0, 0, 0]))
rods = []
for k in range(RODS):
    node = chain.AddNode(NodeRigidBody2D(referenceCoordinates=[k + 0.5, 0, 0], initialVelocities=[0, 0, 0]))
    rod = chain.AddObject(ObjectRigidBody2D(physicsMass=1.0, physicsInertia=1 / 12, nodeNumber=node))
    place = lambda x: chain.AddMarker(MarkerBodyPosition(bodyNumber=rod, localPosition=[x, 0, 0]))
    chain.AddObject(RevoluteJoint2D(markerNumbers=[end, place(-0.5)]))
    chain.AddLoad(Force(markerNumber=place(0.0), loadVector=[0, -9.81, 0]))
    end = place(0.5)
    rods.append(rod)
chain.Assemble()
settings = exu.SimulationSettings()
integration = settings.timeIntegration
integration.numberOfSteps, integration.endTime, integration.verboseMode = STEPS, 1.0, 0
integration.generalizedAlpha.spectralRadius = 0.8
integration.generalizedAlpha.useIndex2Constraints = integration.generalizedAlpha.useNewmark = False
integration.newton.useModifiedNewton = True
integration.newton.relativeTolerance, integration.newton.absoluteTolerance = 1e-8, 1e-10
settings.solutionSettings.writeSolutionToFile = False
settings.linearSolverType = exu.LinearSolverType.EigenSparse
settings.parallel.numberOfThreads = 1
begun = time.perf_counter()
chain.SolveDynamic(settings)
seconds = time.perf_counter() - begun
at = lambda k: chain.GetObjectOutputBody(rods[k], exu.OutputVariableType.Position, localPosition=[0, 0, 0])
print(json.dumps({
    "tool": f"exudyn {exu.GetVersionString()}",
    "position": [float(at(4)[0]), float(at(4)[1])],
    "seconds": {"run": seconds},
}))
