# SPDX-License-Identifier: Apache-2.0
"""The table of the extension is complete, and the page that documents it is current."""

from pathlib import Path
import runpy
from xml.etree import ElementTree

from flexdyn_ros.model.extension.elements import FLEXDYN
from flexdyn_ros.model.extension.schema import KINDS, NO_UNIT
from flexdyn_ros.model.load import load_robot
import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / 'docs' / 'urdf_extension.md'
page = runpy.run_path(str(ROOT / 'scripts' / 'schema_pages.py'))['extension_page']
WORDS = {'text', 'link', 'joint', 'joints', 'modes', 'choice', 'boolean', 'motion_directions',
         'rotation_axes'}


def _walk(element, path=''):
    yield f'{path}/{element.name}', element
    for child in element.children:
        yield from _walk(child, f'{path}/{element.name}')


ELEMENTS = dict(_walk(FLEXDYN))
ATTRIBUTES = {f'{path}@{a.name}': a for path, e in ELEMENTS.items() for a in e.attributes}


def test_page_is_current():
    assert PAGE.read_text() == page(), 'run scripts/env.sh python scripts/schema_pages.py'


def test_the_example_of_the_page_loads():
    text = page().partition('```xml')[2].partition('```')[0]
    crane = load_robot(text, strict=True)
    assert crane.mode_names == ('boom/bending_y1', 'boom/bending_y2')
    assert crane.total_mass == pytest.approx(2700 * 1.6e-3 * 2 + 5)


@pytest.mark.parametrize('name', ATTRIBUTES)
def test_every_number_has_a_unit_and_every_attribute_a_meaning(name):
    attribute = ATTRIBUTES[name]
    assert attribute.text.endswith('.')
    assert attribute.kind in KINDS
    if attribute.kind not in WORDS:
        assert attribute.unit != NO_UNIT
    assert bool(attribute.choices) == (attribute.kind == 'choice')
    if attribute.default is not None:
        attribute.read(attribute.default)
        assert not attribute.required


@pytest.mark.parametrize('path', ELEMENTS)
def test_every_key_is_a_required_attribute(path):
    element = ELEMENTS[path]
    if element.key is not None:
        assert element.attribute(element.key).required


def test_page_names_every_attribute():
    text = page()
    for name in ATTRIBUTES:
        assert f'| `{name.partition("@")[2]}` |' in text


def test_page_has_no_element_that_markdown_would_swallow():
    for line in page().splitlines():
        if line.startswith('|'):
            outside = ''.join(line.split('`')[::2])
            assert '<' not in outside.replace('number <', '')


def test_schema_covers_the_elements_of_a_full_extension():
    full = ElementTree.fromstring(
        '<flexdyn><gravity/><flexible_link><beam><bending/><torsion/><axial/><station/>'
        '<point_mass/></beam><modal><attach/></modal><segments><friction/><point_mass/></segments>'
        '<mode_spring/></flexible_link>'
        '<joint_dynamics><friction/><spring/><bearing/></joint_dynamics><mode_coupling/>'
        '<payload/><base/><multi_axis_joint><axis/></multi_axis_joint><loop/><sensor/>'
        '<actuated/></flexdyn>'
    )

    def paths(element, path=''):
        yield f'{path}/{element.tag}'
        for child in element:
            yield from paths(child, f'{path}/{element.tag}')

    assert set(paths(full)) == set(ELEMENTS)
