#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
One swing of a flexible two-link arm by the exact equations and by each reduced form.

Run: python3 reduced_forms.py [PICTURE.png]
"""

from pathlib import Path
import sys

import flexdyn_ros as fd
import numpy as np

ARM = Path(__file__).resolve().parents[1] / 'urdf' / 'two_link_arm.urdf.xacro'
FORMS = ('exact', 'linearised', 'undeformed_kinetic_energy', 'first_order_rotations')


def main():
    robot = fd.load_robot(ARM)
    q0, rest, torque = [-1.75, -0.5], [0.0, 0.0], [0.5, 0.2]
    quasi_static = fd.QuasiStatic(fd.Dynamics(robot))
    # All start with the deflection that the loads at the start cause.
    _, deflection = quasi_static.forward_dynamics(q0, rest, torque)
    start, still = [*q0, *deflection], np.zeros(robot.nv)

    swings = {}
    for form in FORMS:
        dyn = fd.Dynamics(fd.reduced(robot, form))
        swings[form] = fd.simulate(dyn, start, still, [*torque, 0.0, 0.0], t_end=0.5, dt=0.002)
    swings['quasi_static'] = fd.simulate_quasi_static(
        quasi_static, q0, rest, torque, t_end=0.5, dt=0.02)

    dyn = fd.Dynamics(robot)
    tips = {
        form: dyn.frame_pose(swing.q[-1], 'tip')[:3, 3] for form, swing in swings.items()
    }
    for form, tip in tips.items():
        off = np.linalg.norm(tip - tips['exact'])
        print(f'{form}: tip at {tip[0]:.4f} {tip[1]:.4f} m, {1e3 * off:.3g} mm off; '
              f'{len(swings[form])} samples by {swings[form].method}')
    if len(sys.argv) > 1:
        import matplotlib.pyplot as plt

        exact = swings['exact']
        for form, swing in list(swings.items())[1:]:
            same = np.interp(swing.t, exact.t, exact.q[:, 2])
            plt.plot(swing.t, 1e3 * (swing.q[:, 2] - same), label=form.replace('_', ' '))
        plt.gca().set(xlabel='time [s]', ylabel='error of the first deflection [mm]')
        plt.legend()
        plt.savefig(sys.argv[1])


if __name__ == '__main__':
    main()
