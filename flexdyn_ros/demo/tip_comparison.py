# SPDX-License-Identifier: Apache-2.0
"""
Errors of the tip of one robot on a path: `python -m flexdyn_ros.demo.tip_comparison ROBOT`.

The tip moves straight between the first two waypoints, under the robot's own controllers, with
rigid feed-forward and with stable inversion. The model is exact, or each mass, stiffness and
damping of the arm differs from it by up to 5 percent.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import flexdyn_ros as fd
from flexdyn_ros.demo.plan import DemoRobot, ROBOTS
from flexdyn_ros.tip_tracking.comparison import MethodComparison
from flexdyn_ros.tip_tracking.wrong_models import wrong_descriptions

METHODS = {'rigid': 'PD + rigid feed-forward', 'inversion': 'PD + stable inversion'}
MODELS = ('exact', '5 % wrong')
DAMPING_RATIO = '0.01'  # of the Canadarm's links: without damping no vibration ends
WINDOW = 2.0  # after the reference, in which the vibration is looked at [s]
STEP = 2e-3  # between samples of references [s]


def compare_tip(robot: DemoRobot) -> list[dict[str, Any]]:
    """Return one row a model and method: errors of joints and tip, and residual vibration."""
    file, extension = robot.description()
    exact = fd.load_robot(
        file, extension=extension,
        xacro_arguments={'damping_ratio': DAMPING_RATIO} if robot.flat else None)
    urdf, *extensions = wrong_descriptions(exact.descriptions, 0)
    model = fd.Dynamics(exact)
    plants = (model, fd.Dynamics(fd.load_robot(urdf, extension=extensions or None)))
    (begin, start), (end, goal) = robot.waypoints[:2]
    modes = [0.0] * exact.n_modes
    path = fd.TipPath.between(
        model, robot.tip, [*start, *modes], [*goal, *modes], end - begin,
        ('x', 'y', 'rz') if robot.flat else None)
    comparison = MethodComparison(model, path, robot.kp, robot.kd)
    references = {method: comparison.reference(method, STEP) for method in METHODS}
    rows = []
    for name, plant in zip(MODELS, plants):
        for method, reference in references.items():
            found = comparison.run(reference, plant, method, WINDOW)
            rows.append({
                'robot': robot.key, 'model': name, 'control': METHODS[method],
                'joint_error_rms_rad': found.joint_error, 'tip_error_m': found.tip_error,
                'residual_vibration_m': found.residual_vibration})
    return rows


if __name__ == '__main__':
    print(json.dumps(compare_tip(ROBOTS[sys.argv[1]])))
