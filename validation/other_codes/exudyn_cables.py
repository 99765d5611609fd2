# SPDX-License-Identifier: Apache-2.0
"""
Planar arms in Exudyn: absolute nodal coordinates, its `ObjectANCFCable2D`.

Nodes hold places and slopes in the ground's axes; there is no floating frame and no mode. Large
deflections and stretching are part of the element.
"""

from __future__ import annotations

from validation.other_codes.arm import Arm
from validation.other_codes.exudyn_run import kept, run
from validation.other_codes.motion import TipMotion


def tip_motion(arm: Arm, elements: int, dt: float) -> TipMotion:
    """
    Return the motion of the tip by Exudyn's cables.

    Args:
        arm: A planar arm on the ground, moved by a force at its tip alone.
        elements: Cables a bar.
        dt: Time step [s], a whole fraction of the time between samples.
    """
    import exudyn
    from exudyn import itemInterface as items
    from exudyn.beams import GenerateBeamElementsAlongLine
    system = exudyn.SystemContainer().AddSystem()
    ground = system.AddObject(items.ObjectGround())
    end = system.AddMarker(items.MarkerBodyPosition(
        bodyNumber=ground, localPosition=arm.root.tolist()))
    for bar, (place, turn) in zip(arm.bars, arm.places()):
        cable = items.ObjectANCFCable2D(
            massPerLength=bar.mass / bar.length, bendingStiffness=bar.bending_stiffness,
            axialStiffness=bar.young * bar.area,
        )
        nodes = GenerateBeamElementsAlongLine(
            system, place.tolist(), (place + turn[:, 0] * bar.length).tolist(), elements, cable,
        )['nodes']
        start = system.AddMarker(items.MarkerNodePosition(nodeNumber=nodes[0]))
        system.AddObject(items.ObjectJointSpherical(
            markerNumbers=[end, start], constrainedAxes=[1, 1, 0]))
        end = system.AddMarker(items.MarkerNodePosition(nodeNumber=nodes[-1]))
    system.AddLoad(items.LoadForceVector(markerNumber=end, loadVector=arm.tip_force.tolist()))
    sensor = system.AddSensor(items.SensorMarker(
        markerNumber=end, storeInternal=True,
        outputVariableType=exudyn.OutputVariableType.Position))
    system.Assemble()
    run(system, arm.t_end, dt)
    return TipMotion(kept(system, sensor))
