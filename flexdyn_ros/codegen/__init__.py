# SPDX-License-Identifier: Apache-2.0
"""Generation of source code from the algorithms of `flexdyn_ros.dynamics`."""

from flexdyn_ros.codegen.generate import generate, GeneratedCode

__all__ = ['generate', 'GeneratedCode']
