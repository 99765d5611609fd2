# SPDX-License-Identifier: Apache-2.0
"""The vibration of an arm estimated from its sensors."""

from flexdyn_ros.modal_observer.observer import ModalObserver as ModalObserver
