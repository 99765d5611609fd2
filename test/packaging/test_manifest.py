# SPDX-License-Identifier: Apache-2.0
"""Manifest, build description, requirements and sources agree."""

import ast
import importlib
from importlib.metadata import entry_points
import importlib.util
import re
from xml.etree import ElementTree

from clean_environment import ROOT
import pytest
from source_files import imported_modules, syntax_nodes

MANIFEST = ElementTree.parse(ROOT / 'package.xml').getroot()

DEPENDENCY_OF_MODULE = {
    'matplotlib': 'python3-matplotlib',
    'mpl_toolkits': 'python3-matplotlib',
    'numpy': 'python3-numpy',
    'scipy': 'python3-scipy',
    'urdf_parser_py': 'urdfdom_py',
    'yaml': 'python3-yaml',
}
"""Keys of rosdep that differ from the name of the module."""

OTHER_CODES = {'exudyn', 'mujoco', 'netgen', 'ngsolve', 'pinocchio'}
"""Programs that the validation compares with where they are installed."""


OPTIONAL = {
    'clarabel', 'control', 'cvxpy', 'distributed', 'fast_simplification', 'meshio', 'pyNastran',
    'pyarrow', 'pyuff', 'rosbags', 'sksundae', 'trimesh', 'viser'}
"""Libraries of an extra in setup.py, which rosdep does not have."""


def test_every_import_is_declared():
    """Rosdep installs all that the package and its launch files import."""
    declared = {element.text for element in MANIFEST.findall('exec_depend')}
    needed = {
        DEPENDENCY_OF_MODULE.get(module, module)
        for module in imported_modules('flexdyn_ros', 'launch') - OPTIONAL
    }
    assert len(needed) >= 5
    assert needed <= declared, f'not in package.xml: {sorted(needed - declared)}'


def test_other_codes_are_imported_in_functions_of_the_validation_alone():
    """Without them the package works, and names the needs of a case."""
    for path, node in syntax_nodes('flexdyn_ros', 'validation'):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            names = {alias.name for alias in node.names} | {getattr(node, 'module', None)}
            if {str(name).split('.')[0] for name in names} & OTHER_CODES:
                assert path.parts[0] == 'validation' and node.col_offset > 0, path


def test_manifest_is_valid():
    """The parser of the ROS tools accepts package.xml without a warning."""
    catkin_pkg = pytest.importorskip(
        'catkin_pkg.package', reason='catkin_pkg is not installed here: `make test` installs it'
    )
    warnings = []
    package = catkin_pkg.parse_package(str(ROOT / 'package.xml'), warnings=warnings)
    package.validate(warnings=warnings)
    assert not warnings
    assert package.package_format == 3
    assert package.licenses == ['Apache-2.0']
    assert package.get_build_type() == 'ament_python'


def test_pip_installs_what_the_library_imports():
    """Every module that the library imports outside of ROS stands in setup.py."""
    text = (ROOT / 'setup.py').read_text(encoding='utf-8')
    names = {'numpy': 'numpy', 'scipy': 'scipy', 'urdf_parser_py': 'urdf-parser-py',
             'xacro': 'xacro', 'yaml': 'PyYAML', 'matplotlib': 'matplotlib',
             'rosbags': 'rosbags', 'pyNastran': 'pyNastran', 'control': 'control',
             'distributed': 'distributed', 'pyarrow': 'pyarrow', 'pyuff': 'pyuff',
             'meshio': 'meshio', 'trimesh': 'trimesh', 'cvxpy': 'cvxpy-base',
             'clarabel': 'clarabel', 'viser': 'viser', 'sksundae': 'scikit-sundae',
             'fast_simplification': 'fast-simplification'}
    assign = {
        target.id: ast.literal_eval(node.value)
        for node in ast.parse(text).body if isinstance(node, ast.Assign)
        for target in node.targets if target.id in ('REQUIRES', 'EXTRAS')
    }
    used = (
        'browser', 'cluster', 'control', 'identification', 'meshes', 'modal-tests', 'nastran',
        'plots', 'replay', 'solids', 'sundials')
    extras = [assign['EXTRAS'][name] for name in used]
    listed = [*assign['REQUIRES'], *(line for extra in extras for line in extra)]
    declared = {re.split('[<>=]', line)[0] for line in listed}
    ros = {element.text for element in MANIFEST.findall('exec_depend')}
    needed = imported_modules('flexdyn_ros') - ros | {'xacro'}
    assert needed >= {'numpy', 'scipy', 'yaml'}
    # Imported where it is first needed by its name, and by trimesh.
    indirect = {'dask', 'gmsh', 'pycollada', 'scikit-fem'}
    assert {names[module] for module in needed - {'mpl_toolkits'}} == declared - indirect


def test_sources_in_c_and_parameter_files_are_installed():
    """Every C, header and YAML file of the package matches a pattern of package_data."""
    tree = ast.parse((ROOT / 'setup.py').read_text(encoding='utf-8'))
    (value,) = (
        node.value for node in ast.walk(tree)
        if isinstance(node, ast.keyword) and node.arg == 'package_data'
    )
    code = compile(ast.Expression(value), 'setup.py', 'eval')
    patterns = eval(code, {'PACKAGE': 'flexdyn_ros'})  # noqa: S307
    installed = {
        path for package, kinds in patterns.items() for kind in kinds
        for path in (ROOT / package.replace('.', '/')).glob(kind)
    }
    kinds = ('*.c', '*.h', '*.yaml')
    files = {path for kind in kinds for path in (ROOT / 'flexdyn_ros').rglob(kind)}
    assert len(files) > 10
    assert files <= installed, sorted(files - installed)


def test_one_version():
    """Manifest and changelog have the numbers of the module's version, without its "rc1"."""
    version = importlib.import_module('flexdyn_ros').__version__
    numbers = re.match(r'\d+\.\d+\.\d+', version).group()
    assert MANIFEST.findtext('version') == numbers
    changelog = (ROOT / 'CHANGELOG.rst').read_text()
    newest = re.search(r'^(Forthcoming|\d+\.\d+\.\d+)', changelog, re.MULTILINE)
    assert newest and newest.group(1) in ('Forthcoming', numbers)


def test_licence_is_the_apache_licence():
    """The file that package.xml names holds the whole text."""
    text = (ROOT / MANIFEST.find('license').get('file')).read_text()
    assert 'Apache License' in text and 'END OF TERMS AND CONDITIONS' in text


def test_entry_points_lead_somewhere():
    """Every executable has a callable behind it."""
    ours = [
        entry for entry in entry_points(group='console_scripts')
        if entry.module.split('.')[0] == 'flexdyn_ros'
    ]
    if not ours:
        pytest.skip('the package is not installed here: `make test` installs it')
    if importlib.util.find_spec('rclpy') is None:
        ours = [entry for entry in ours if '.nodes.' not in entry.module]
    assert {entry.name for entry in ours} >= {'flexdyn'}
    assert all(callable(entry.load()) for entry in ours)


def test_library_imports_without_ros():
    """Only nodes and demo may import rclpy."""
    folders = [
        path.name for path in (ROOT / 'flexdyn_ros').iterdir()
        if path.is_dir() and path.name not in ('nodes', 'demo')
    ]
    modules = imported_modules(*(f'flexdyn_ros/{folder}' for folder in folders))
    assert not {module for module in modules if module == 'rclpy' or module.endswith('_msgs')}


@pytest.mark.parametrize('version', ['310', '311', '312'])
def test_constraints_cover_the_requirements(version):
    """Each Python's constraints hold an exact version of every requirement."""
    def names(path):
        lines = (ROOT / 'requirements' / path).read_text().splitlines()
        return {
            re.split(r'[=<>~! ]', line)[0].lower(): line
            for line in lines if line and not line.startswith('#')
        }

    constraints = names(f'constraints-py{version}.txt')
    required = {**names('run.txt'), **names('docs.txt'), **names('test.txt')}
    assert len(required) > 40
    assert set(required) <= set(constraints)
    assert all('==' in line for line in constraints.values())
    for name, line in required.items():
        if '==' in line:
            assert constraints[name] == line
