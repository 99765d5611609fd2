# SPDX-License-Identifier: Apache-2.0
"""Independent models that the package's dynamics must agree with."""
