# SPDX-License-Identifier: Apache-2.0
"""How far each reduced form is from the exact equations."""
