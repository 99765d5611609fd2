# SPDX-License-Identifier: Apache-2.0
"""URDF: documents, xacro, numbers as text and their places, links and joints, their tree."""
