# SPDX-License-Identifier: Apache-2.0
"""Descriptions as text: XML documents, xacro, the files they name, numbers and their places."""
