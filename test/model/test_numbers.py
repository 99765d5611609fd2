# SPDX-License-Identifier: Apache-2.0
"""Numbers are decimal numbers in ASCII, wherever they are read."""

import argparse

from flexdyn_ros.cli.options import number as number_of_a_call
from flexdyn_ros.errors import ModelError
from flexdyn_ros.model.load import load_robot
from flexdyn_ros.model.urdf.values import number
from model_texts import ARM, flexdyn
import pytest

NO_NUMBERS = [
    '２.５', '٣', '1\u00a0000', '\u00a01', '1\u2007', '\u22121', '1_000', '0x10', '½', '1e٢',
]


@pytest.mark.parametrize('text', NO_NUMBERS)
def test_no_numbers(text):
    for read in (number, number_of_a_call):
        with pytest.raises((ValueError, argparse.ArgumentTypeError)):
            read(text)
    for attribute in (f'<gravity xyz="0 0 {text}"/>', f'<payload link="tool" mass="{text}"/>'):
        with pytest.raises(ModelError):
            load_robot(ARM, extension=flexdyn(attribute))


@pytest.mark.parametrize(('text', 'words'), [
    ('２.５', 'it holds U+FF12, FULLWIDTH DIGIT TWO'),
    ('1\u00a0', 'it holds U+00A0, NO-BREAK SPACE'),
    ('\u22121', 'it holds U+2212, MINUS SIGN'),
    ('1,5', 'use a point'),
])
def test_the_error_names_what_is_easily_overlooked(text, words):
    with pytest.raises(ValueError) as caught:
        number(text)
    assert words in str(caught.value)


@pytest.mark.parametrize('old', ['value="2"', 'xyz="0 0 1"', 'velocity="3"'])
@pytest.mark.parametrize('digit', ['２', '2\u00a0'])
def test_numbers_of_a_urdf(old, digit):
    text = ARM.read_text()
    assert old in text, old
    with pytest.raises(ModelError) as caught:
        load_robot(text.replace(old, old[:-2] + digit + '"', 1))
    assert 'U+' in str(caught.value)


@pytest.mark.parametrize('inside', [
    '<multi_axis_joint joint="shoulder\u00a0" axes="rx"/>',
    '<actuated joints="shoulder\u00a0elbow"/>',
    '<flexible_link link="upper"><beam tip="elbow" mass="1"><bending axis="y" modes="２"/></beam>'
    '</flexible_link>',
    '<flexible_link link="upper"><modal file="a.npz" format="npz" modes="1\u00a02"/>'
    '</flexible_link>',
])
def test_words_and_whole_numbers_of_the_extension(inside):
    with pytest.raises(ModelError):
        load_robot(ARM, extension=flexdyn(inside))


def test_white_space_of_xml_separates():
    extension = flexdyn('<gravity xyz=" 0\t0\n -1.6&#13; "/>')
    assert load_robot(ARM, extension=extension).gravity_vector == (0.0, 0.0, -1.6)
