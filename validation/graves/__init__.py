# SPDX-License-Identifier: Apache-2.0
"""Cases of Graves, the method of kinematic influence and the program V-Sim."""
