# SPDX-License-Identifier: Apache-2.0
"""Scenarios: one YAML file describes a simulation, its controllers and its disturbances."""

from flexdyn_ros.scenario.document import ScenarioError
from flexdyn_ros.scenario.load import load, Scenario
from flexdyn_ros.scenario.result import ScenarioRun
from flexdyn_ros.scenario.run import run

__all__ = ['load', 'run', 'Scenario', 'ScenarioError', 'ScenarioRun']
