# SPDX-License-Identifier: Apache-2.0
"""
The arms in Exudyn: solid finite elements, reduced, in a floating frame (`ObjectFFRFreducedOrder`).

Each bar is a mesh of tetrahedra of second order (NGSolve). Hurty, Craig and Bampton's
method reduces it to the six displacements of its far end and some modes of the bar held at both
ends.
Deflections are linear in the floating frame: a bent bar is not drawn in.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from validation.other_codes.arm import Arm, Bar, LumpedMass
from validation.other_codes.exudyn_run import kept, run
from validation.other_codes.motion import TipMotion

# Exudyn's joint turns about its own z: axes of the joint's frame, as columns, by the bar's axis.
_JOINT_FRAME = {
    'z': np.eye(3),
    'y': np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]]),
}


def tip_motion(arm: Arm, modes: int, dt: float, mesh: tuple[int, float]) -> TipMotion:
    """
    Return the motion of the tip by Exudyn's reduced solids.

    Args:
        arm: The arm.
        modes: Modes of a bar held at both ends.
        dt: Time step [s], a whole fraction of the time between samples.
        mesh: Cells of six tetrahedra across the section in each direction, and their length in
            sides of the section. Torsion needs three across: one makes the bars too stiff.
    """
    import exudyn
    from exudyn import itemInterface as items
    system = exudyn.SystemContainer().AddSystem()
    end, satellite = _base(arm, system, items)
    for bar, (place, turn), torque in zip(arm.bars, arm.places(), arm.torques):
        body, faces = reduced_bar(bar, modes, *mesh)
        number = body.AddObjectFFRFreducedOrder(
            system, positionRef=place.tolist(), rotationMatrixRef=turn)['oFFRFreducedOrder']
        start, far = (
            system.AddMarker(items.MarkerSuperElementRigid(
                bodyNumber=number, meshNodeNumbers=face,
                weightingFactors=[1.0 / len(face)] * len(face)))
            for face in faces
        )
        frame = _JOINT_FRAME[bar.axis]
        system.AddObject(items.ObjectJointGeneric(
            markerNumbers=[end, start], constrainedAxes=[1, 1, 1, 1, 1, 0],
            rotationMarker0=frame, rotationMarker1=frame))
        for marker, sign in ((start, 1.0), (end, -1.0)):
            if torque:
                system.AddLoad(items.LoadTorqueVector(
                    markerNumber=marker, bodyFixed=True,
                    loadVector=(sign * torque * bar.axis_vector).tolist()))
        end = far
    if arm.tool is not None:
        place, turn = arm.places()[-1]
        tool = system.CreateRigidBody(
            referencePosition=(place + turn[:, 0] * arm.bars[-1].length).tolist(),
            referenceRotationMatrix=turn, inertia=_inertia(arm.tool))
        held = system.AddMarker(items.MarkerBodyRigid(bodyNumber=tool))
        system.AddObject(items.ObjectJointGeneric(markerNumbers=[end, held]))
    if np.any(arm.tip_force):
        system.AddLoad(items.LoadForceVector(markerNumber=end, loadVector=arm.tip_force.tolist()))
    sensor = system.AddSensor(items.SensorMarker(
        markerNumber=end, storeInternal=True,
        outputVariableType=exudyn.OutputVariableType.Position))
    turned = None if satellite is None else system.AddSensor(items.SensorBody(
        bodyNumber=satellite, storeInternal=True,
        outputVariableType=exudyn.OutputVariableType.RotationMatrix))
    system.Assemble()
    run(system, arm.t_end, dt)
    tip = kept(system, sensor)
    return TipMotion(tip, None if turned is None else kept(system, turned)[-1].reshape(3, 3))


def reduced_bar(
    bar: Bar, modes: int, across: int, element: float
) -> tuple[Any, list[list[int]]]:
    """Return a bar as Exudyn's reduced body, and the nodes of the faces at its root and end."""
    from exudyn.FEM import FEMinterface, HCBstaticModeSelection, ObjectFFRFreducedOrderInterface
    from ngsolve.meshes import MakeStructured3DMesh
    mesh = MakeStructured3DMesh(
        hexes=False, nx=max(2, round(bar.length / (element * bar.side))), ny=across, nz=across,
        mapping=lambda x, y, z: (bar.length * x, bar.side * (y - 0.5), bar.side * (z - 0.5)),
    )
    fem = FEMinterface()
    fem.ImportMeshFromNGsolve(
        mesh, density=bar.mass / (bar.area * bar.length), youngsModulus=bar.young,
        poissonsRatio=bar.young / (2.0 * bar.shear) - 1.0, meshOrder=2,
        createBoundaryNodeSets=False,
    )
    faces = [list(map(int, fem.GetNodesInPlane([x, 0.0, 0.0], [1.0, 0.0, 0.0])))
             for x in (0.0, bar.length)]
    fem.ComputeHurtyCraigBamptonModes(
        boundaryNodesList=faces, nEigenModes=modes, computationMode=HCBstaticModeSelection.RBE2)
    return ObjectFFRFreducedOrderInterface(fem), faces


def _base(arm: Arm, system: Any, items: Any) -> tuple[int, Any]:
    """Return the marker that carries the first joint, and the satellite's body or None."""
    if arm.satellite is None:
        body = system.AddObject(items.ObjectGround())
    else:
        body = system.CreateRigidBody(inertia=_inertia(arm.satellite))
    marker = system.AddMarker(items.MarkerBodyRigid(
        bodyNumber=body, localPosition=arm.root.tolist()))
    return marker, None if arm.satellite is None else body


def _inertia(lump: LumpedMass) -> Any:
    """Return a lump as Exudyn's inertia."""
    from exudyn.rigidBodyUtilities import RigidBodyInertia
    return RigidBodyInertia(lump.mass, np.diag(lump.moments))
