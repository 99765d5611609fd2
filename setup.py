# SPDX-License-Identifier: Apache-2.0
"""Build description of flexdyn_ros for colcon (ament_python) and pip."""

import hashlib
from pathlib import Path
import re
import sysconfig
from xml.etree import ElementTree

from setuptools import Extension, find_packages, setup

PACKAGE = 'flexdyn_ros'
SHARED = {
    'launch': ('*.launch.py',),
    'examples': ('*.py', '*.yaml', '*.urdf'),
    'config': ('*.yaml', '*.xml'),
    'rviz': ('*.rviz',),
    'urdf': ('*.xacro', '*.urdf', '*.xml', '*.yaml', '*.npz'),
}
NODES = (
    'inverse_dynamics_node', 'forward_dynamics_node', 'deflection_markers_node',
    'identification_node', 'modal_observer_node', 'trajectory_correction_node',
)
REQUIRES = ('numpy>=1.21.5', 'scipy>=1.8', 'PyYAML', 'urdf-parser-py>=0.0.4', 'xacro')
EXTRAS = {
    'cluster': ['dask', 'distributed', 'pyarrow'],
    'control': ['control'],
    'plots': ['matplotlib'],
    'replay': ['rosbags', 'matplotlib'],
    'meshes': ['fast-simplification', 'matplotlib', 'pycollada', 'trimesh'],
    'browser': ['fast-simplification', 'matplotlib', 'pycollada', 'trimesh', 'viser'],
    'nastran': ['pyNastran'],
    'solids': ['scikit-fem', 'meshio', 'trimesh', 'gmsh', 'matplotlib'],
    'modal-tests': ['pyuff'],
    'identification': ['clarabel', 'cvxpy-base'],
    'studies': ['clarabel', 'cvxpy-base', 'figaroh', 'matplotlib'],
    'sundials': ['scikit-sundae'],
    'oracles': ['example-robot-data', 'mujoco', 'pin'],
    'docs': ['latex2mathml', 'myst-parser', 'sphinx', 'sphinx-rtd-theme'],
    'test': ['hypothesis', 'matplotlib', 'psutil', 'pycparser', 'pytest', 'pytest-timeout'],
}


def data_files():
    """Return the (destination, files) pairs that ament and launch files look for."""
    pairs = [
        ('share/ament_index/resource_index/packages', [f'resource/{PACKAGE}']),
        (f'share/{PACKAGE}', ['package.xml']),
    ]
    for folder, patterns in SHARED.items():
        found = {path for pattern in patterns for path in Path(folder).rglob(pattern)}
        for parent in sorted({path.parent for path in found}):
            files = sorted(str(path) for path in found if path.parent == parent)
            pairs.append((f'share/{PACKAGE}/{parent.as_posix()}', files))
    return pairs


def extensions():
    """
    Return the extension that calls compiled functions, where its headers are.

    It is optional: without it, it is built when first needed (codegen/compile/extension.py).
    """
    try:
        import numpy
    except ImportError:
        return []
    if not (Path(sysconfig.get_path('include')) / 'Python.h').exists():
        return []
    runtime = Path(PACKAGE, 'codegen', 'compile', 'runtime')
    # As in codegen/compile/extension.py.
    sources = [runtime / name for name in ('calls.c', 'kernel.h', 'method.h', 'numbers.h')]
    digest = hashlib.sha256(b''.join(path.read_bytes() for path in sources)).hexdigest()[:16]
    return [Extension(
        f'{PACKAGE}.codegen.compile.runtime._calls',
        [str(sources[0])],
        depends=[str(path) for path in sources[1:]],
        include_dirs=[numpy.get_include()],
        define_macros=[('FLEXDYN_DIGEST', f'"{digest}"')],
        extra_compile_args=[
            '-O2', '-ffp-contract=off', '-fno-tree-vectorize',
            '-fno-tree-loop-distribute-patterns',
        ],
        optional=True,
    )]


manifest = ElementTree.parse('package.xml').getroot()
# The one place of the version; package.xml has no room for the "rc1" of a candidate.
VERSION = re.search(
    "__version__ = '(.+)'", Path(PACKAGE, '__init__.py').read_text(encoding='utf-8'))

setup(
    name=PACKAGE,
    version=VERSION.group(1),
    description=' '.join(manifest.findtext('description').split()),
    license=manifest.findtext('license'),
    maintainer=manifest.findtext('maintainer'),
    maintainer_email=manifest.find('maintainer').get('email'),
    packages=find_packages(include=[PACKAGE, f'{PACKAGE}.*']),
    package_data={
        PACKAGE: ['py.typed', '*.xml'],
        f'{PACKAGE}.closed_chains': ['*.h'],
        f'{PACKAGE}.codegen.compile.runtime': ['*.c', '*.h'],
        f'{PACKAGE}.model.extension': ['*.yaml'],
        f'{PACKAGE}.nodes': ['*.yaml'],
        f'{PACKAGE}.scenario': ['*.yaml'],
        f'{PACKAGE}.ros2_control': [f'arm_dynamics/{path}' for path in ('*', '*/*', '*/*/*')],
        f'{PACKAGE}.simulation': ['steps/*.[ch]'],
        f'{PACKAGE}.visualization': ['*.html'],
    },
    ext_modules=extensions(),
    data_files=data_files(),
    python_requires='>=3.10',
    install_requires=REQUIRES,
    extras_require=EXTRAS,
    zip_safe=False,
    entry_points={
        'console_scripts': [
            'flexdyn = flexdyn_ros.cli.main:main',
            *(f'{node} = flexdyn_ros.nodes.{node}:main' for node in NODES),
        ],
    },
)
