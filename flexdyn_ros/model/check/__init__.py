# SPDX-License-Identifier: Apache-2.0
"""What is doubtful in a robot that loads, as findings."""
