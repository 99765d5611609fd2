# SPDX-License-Identifier: Apache-2.0
"""The forms that a description may come in: text, bytes, paths, addresses, xacro."""

import os
from pathlib import Path
import sys

from flexdyn_ros.errors import ArgumentError, FlexdynError, ModelError, UnknownName
from flexdyn_ros.model.load import load_robot
from flexdyn_ros.model.urdf.document import find_package, resolve_file
from model_texts import ARM, flexdyn, link, robot
import pytest
from xacro import substitution_args

GRAVITY = '<gravity xyz="0 0 -1.62"/>'
MOON = (0.0, 0.0, -1.62)
XACRO = """<?xml version="1.0"?>
<robot name="two" xmlns:xacro="http://www.ros.org/wiki/xacro">
  <xacro:property name="m" value="1.5"/>
  <xacro:macro name="body" params="name">
    <link name="${name}"><inertial><mass value="${2 * m}"/>
      <inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial></link>
    <flexdyn version="1.0"><payload link="${name}" mass="${m}"/></flexdyn>
  </xacro:macro>
  <xacro:body name="left"/>
</robot>
"""


@pytest.mark.parametrize('source', [
    str(ARM),
    ARM,
    ARM.as_uri(),
    ARM.read_text(),
    ARM.read_bytes(),
    '\ufeff\n  ' + ARM.read_text(),
    b'\xef\xbb\xbf' + ARM.read_bytes(),
    ARM.read_text().replace('<?xml version="1.0"?>', '').encode('utf-16'),
    ARM.read_text().partition('?>')[2],
], ids=['str', 'Path', 'URI', 'text', 'bytes', 'BOM text', 'BOM bytes', 'UTF-16', 'no header'])
def test_forms_of_a_description(source):
    assert load_robot(source) == load_robot(ARM)


def test_a_description_through_a_pipe():
    """As a shell's <(xacro arm.xacro) gives it."""
    out, into = os.pipe()
    os.write(into, ARM.read_bytes())
    os.close(into)
    try:
        assert load_robot(f'/dev/fd/{out}') == load_robot(ARM)
    finally:
        os.close(out)


def test_text_with_an_encoding_declaration():
    text = ARM.read_text().replace('version="1.0"?>', 'version="1.0" encoding="UTF-16"?>')
    assert load_robot(text) == load_robot(ARM)


@pytest.mark.parametrize(('argument', 'value', 'words'), [
    ('path_or_xml', None, 'not NoneType'),
    ('path_or_xml', 3, 'not int'),
    ('path_or_xml', '', 'is empty'),
    ('path_or_xml', '  ', 'is empty'),
    ('path_or_xml', 'no_such.urdf', 'does not exist'),
    ('path_or_xml', 'hello world', 'does not exist'),
    ('path_or_xml', 'x\0y', 'names a file'),
    ('path_or_xml', str(ARM.parent), 'is not a file'),
    ('path_or_xml', 'package://no_such_package/a.urdf', 'no_such_package'),
    ('path_or_xml', 'http://example.org/a.urdf', 'unknown scheme'),
    ('base_dir', 3, 'not int'),
    ('base_dir', '/no/such/folder', 'does not exist'),
    ('extension', 3, 'not int'),
    ('extension', 'no_such.xml', 'does not exist'),
    ('extension', ['no_such.xml'], 'does not exist'),
    ('extension', [None], 'not NoneType'),
    ('extension', '', 'is empty'),
    ('strict', 'yes', 'True or False'),
    ('strict', None, 'True or False'),
    ('xacro_arguments', ['modes'], 'not list'),
    ('xacro_arguments', {'modes': None}, 'number or a bool'),
    ('xacro_arguments', {2: 'modes'}, 'number or a bool'),
    ('xacro_arguments', {'modes': '2'}, 'not a xacro file'),
])
def test_wrong_arguments(argument, value, words):
    with pytest.raises(ArgumentError) as caught:
        load_robot(**{'path_or_xml': ARM, argument: value})
    assert caught.value.argument == argument
    assert words in str(caught.value)


def test_file_that_cannot_be_read(tmp_path, monkeypatch):
    path = tmp_path / 'a.urdf'
    path.write_text(robot(link('a')))

    def refuse(self):
        raise PermissionError(13, 'Permission denied')

    monkeypatch.setattr(Path, 'read_bytes', refuse)
    with pytest.raises(ArgumentError, match='cannot be read.*Permission denied'):
        load_robot(path)


def test_syntax_error_names_the_line():
    with pytest.raises(ModelError, match='line 3, column 3') as caught:
        load_robot('<robot name="r">\n  <link name="a">\n</robot>')
    assert caught.value.file == '<text>'


@pytest.mark.parametrize('text', [
    '<robot name="r"><flexdyn:flexible_link/></robot>',
    '<robot name="r"><link name="a" flexdyn:x="1"/></robot>',
])
def test_unbound_prefix_is_called_that(text):
    with pytest.raises(ModelError, match='unbound prefix') as caught:
        load_robot(text)
    assert 'xmlns:' in caught.value.advice


def test_entity_bomb_is_refused():
    entities = ''.join(f'<!ENTITY e{k + 1} "{f"&e{k};" * 40}">' for k in range(8))
    text = f'<!DOCTYPE robot [<!ENTITY e0 "ha">{entities}]><robot name="r">&e8;</robot>'
    with pytest.raises(FlexdynError):
        load_robot(text)


def test_text_that_is_not_unicode():
    with pytest.raises(ModelError):
        load_robot('<robot name="\udc80"/>')


def test_xacro_file(tmp_path):
    path = tmp_path / 'two.urdf.xacro'
    path.write_text(XACRO)
    loaded = load_robot(path)
    assert loaded.link('left').inertia.mass == 3.0
    assert loaded.payloads[0].inertia.mass == 1.5


def test_xacro_text_finds_its_includes_in_base_dir(tmp_path):
    (tmp_path / 'inner.xacro').write_text(XACRO)
    text = (
        '<robot name="outer" xmlns:xacro="http://www.ros.org/wiki/xacro">'
        '<xacro:include filename="inner.xacro"/></robot>'
    )
    assert load_robot(text, base_dir=tmp_path).total_mass == 3.0
    with pytest.raises(ModelError, match='xacro could not expand'):
        load_robot(text, base_dir=tmp_path.parent)


def test_xacro_bytes():
    assert load_robot(XACRO.encode()).total_mass == 3.0


ARGUMENTS = """<robot name="two" xmlns:xacro="http://www.ros.org/wiki/xacro">
  <xacro:arg name="mass" default="3"/>
  <xacro:arg name="heavy" default="false"/>
  <xacro:property name="factor" value="1"/>
  <xacro:if value="$(arg heavy)"><xacro:property name="factor" value="10"/></xacro:if>
  <link name="a"><inertial><mass value="${factor * $(arg mass)}"/>
    <inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial></link>
</robot>
"""


@pytest.mark.parametrize(('arguments', 'mass'), [
    (None, 3.0),
    ({}, 3.0),
    ({'mass': '1.5'}, 1.5),
    ({'mass': 2.5}, 2.5),
    ({'mass': 2, 'heavy': True}, 20.0),
    ({'heavy': 'true'}, 30.0),
])
@pytest.mark.parametrize('form', ['text', 'file', 'included'])
def test_xacro_arguments(form, arguments, mass, tmp_path):
    path = tmp_path / 'two.urdf.xacro'
    path.write_text(ARGUMENTS)
    include = ARGUMENTS.split('<xacro:arg')[0] + f'<xacro:include filename="{path}"/></robot>'
    source = {'text': ARGUMENTS, 'file': path, 'included': include}[form]
    before = dict(arguments or {})
    assert load_robot(source, xacro_arguments=arguments).total_mass == mass
    assert before == (arguments or {})


def test_xacro_argument_that_the_file_does_not_declare():
    with pytest.raises(UnknownName, match='"mas".*Did you mean "mass"') as caught:
        load_robot(ARGUMENTS, xacro_arguments={'heavy': 'true', 'mas': '1'})
    assert caught.value.known == ('heavy', 'mass')
    with pytest.raises(UnknownName, match='There are none'):
        load_robot(XACRO, xacro_arguments={'m': '1'})


def test_xacro_argument_used_without_a_declaration():
    text = ARGUMENTS.replace('<xacro:arg name="mass" default="3"/>', '')
    assert load_robot(text, xacro_arguments={'mass': '4'}).total_mass == 4.0
    with pytest.raises(ModelError, match='argument mass') as caught:
        load_robot(text)
    assert 'mass' in caught.value.problem
    assert 'name:=value' in caught.value.advice


def test_expanded_xacro_is_read_as_it_is(monkeypatch):
    monkeypatch.setitem(sys.modules, 'xacro', None)
    text = robot(link('a'), attributes='xmlns:xacro="http://www.ros.org/wiki/xacro"')
    assert load_robot(text).frame_names == ('a',)


def test_missing_xacro_package_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, 'xacro', None)
    with pytest.raises(ModelError, match='"xacro" is not installed') as caught:
        load_robot(XACRO)
    assert 'pip install xacro' in caught.value.advice


@pytest.mark.parametrize('form', ['text', 'file', 'Path', 'robot', 'list', 'tuple'])
def test_forms_of_an_extension(form, tmp_path):
    path = tmp_path / 'moon.xml'
    path.write_text(flexdyn(GRAVITY))
    extension = {
        'text': flexdyn(GRAVITY),
        'file': str(path),
        'Path': path,
        'robot': robot(link('ignored'), flexdyn(GRAVITY)),
        'list': [flexdyn(GRAVITY), path],
        'tuple': (path,),
    }[form]
    assert load_robot(ARM, extension=extension).gravity_vector == MOON


def test_flexdyn_may_have_a_default_namespace():
    text = flexdyn(GRAVITY).replace('<flexdyn', '<flexdyn xmlns="https://example.org/flexdyn"')
    assert load_robot(robot(link('a'), text)).gravity_vector == MOON


def test_relative_files_start_from_the_file_that_names_them(tmp_path):
    inner = tmp_path / 'inner'
    inner.mkdir()
    (inner / 'modes.npz').touch()
    text = flexdyn(
        '<flexible_link link="upper"><modal file="modes.npz" format="npz"/></flexible_link>'
    )
    (inner / 'ext.xml').write_text(text)
    with pytest.raises(FlexdynError, match='is no NumPy .npz archive'):
        load_robot(ARM, extension=inner / 'ext.xml')
    with pytest.raises(FlexdynError, match='is no NumPy .npz archive'):
        load_robot(ARM, extension=text, base_dir=inner)
    with pytest.raises(ModelError, match='does not exist'):
        load_robot(ARM, extension=inner / 'ext.xml', base_dir=tmp_path)
    with pytest.raises(ModelError, match='give base_dir'):
        load_robot(ARM, extension=text)


def test_descriptions_are_looked_for_in_base_dir_too(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / 'moon.xml').write_text(flexdyn(GRAVITY))
    loaded = load_robot(ARM.name, base_dir=ARM.parent, extension='moon.xml')
    assert loaded.gravity_vector == MOON
    assert loaded.source == ARM.name
    with pytest.raises(ArgumentError, match='does not exist'):
        load_robot(ARM.name)


@pytest.mark.parametrize('variable', ['ROS_PACKAGE_PATH', 'AMENT_PREFIX_PATH'])
def test_package_addresses(variable, tmp_path, monkeypatch):
    monkeypatch.delenv('ROS_PACKAGE_PATH', raising=False)
    monkeypatch.delenv('AMENT_PREFIX_PATH', raising=False)
    share = tmp_path / ('share' if variable == 'AMENT_PREFIX_PATH' else '.') / 'arm_models'
    share.mkdir(parents=True)
    (share / 'package.xml').write_text('<package/>')
    (share / 'arm.urdf').write_bytes(ARM.read_bytes())
    monkeypatch.setenv(variable, str(tmp_path))
    assert find_package('arm_models') == share
    assert load_robot('package://arm_models/arm.urdf') == load_robot(ARM)
    with pytest.raises(ValueError, match='does not exist'):
        resolve_file('package://arm_models/other.urdf', None)


@pytest.fixture
def vendor_sources(tmp_path, monkeypatch):
    """Return a folder with the sources of a vendor's package, whose folder has another name."""
    monkeypatch.delenv('ROS_PACKAGE_PATH', raising=False)
    monkeypatch.delenv('AMENT_PREFIX_PATH', raising=False)
    folder = tmp_path / 'Vendor_Description'
    (folder / 'urdf' / 'inc').mkdir(parents=True)
    (folder / 'package.xml').write_text('<package><name> vendor_description </name></package>')
    (folder / 'urdf' / 'inc' / 'body.xacro').write_text(XACRO)
    (folder / 'urdf' / 'arm.urdf.xacro').write_text(
        '<robot name="arm" xmlns:xacro="http://www.ros.org/wiki/xacro"><xacro:include '
        'filename="$(find vendor_description)/urdf/inc/${\'body\'}.xacro"/></robot>')
    return folder


def test_xacro_finds_the_package_in_whose_sources_the_file_lies(vendor_sources):
    file = vendor_sources / 'urdf' / 'arm.urdf.xacro'
    words = dict(substitution_args._eval_dict)
    assert load_robot(file).total_mass == 3.0
    assert substitution_args._eval_dict == words  # other users of xacro keep their search
    assert find_package('vendor_description', file.parent) == vendor_sources
    assert find_package('vendor_description') is None
    address = 'package://vendor_description/urdf/arm.urdf.xacro'
    assert resolve_file(address, file.parent) == file


def test_a_package_that_xacro_misses_is_named_with_the_remedy(vendor_sources, monkeypatch):
    lone = vendor_sources.parent / 'lone.urdf.xacro'
    lone.write_text((vendor_sources / 'urdf' / 'arm.urdf.xacro').read_text())
    with pytest.raises(ModelError) as caught:
        load_robot(lone)
    assert str(caught.value).endswith(
        'xacro finds no package "vendor_description". Name the folder that holds it in '
        'ROS_PACKAGE_PATH.')
    monkeypatch.setenv('ROS_PACKAGE_PATH', str(vendor_sources))
    with pytest.raises(ModelError, match='vendor_description'):
        load_robot(lone)  # the folder's name is none of a package
    vendor_sources.rename(vendor_sources.parent / 'vendor_description')
    monkeypatch.setenv('ROS_PACKAGE_PATH', str(vendor_sources.parent))
    assert load_robot(lone).total_mass == 3.0
