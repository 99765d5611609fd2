# SPDX-License-Identifier: Apache-2.0
"""Build description of flexdyn_ros for colcon (ament_python) and pip."""

import hashlib
from pathlib import Path
import sysconfig
from xml.etree import ElementTree

from setuptools import Extension
from setuptools import find_packages
from setuptools import setup

PACKAGE = 'flexdyn_ros'
SHARED = {
    'launch': ('*.launch.py',),
    'config': ('*.yaml', '*.xml'),
    'rviz': ('*.rviz',),
    'urdf': ('*.xacro', '*.urdf', '*.xml', '*.yaml', '*.npz'),
}
NODES = ('inverse_dynamics_node', 'forward_dynamics_node', 'deflection_markers_node')


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

    It is optional: without it, it is built when first needed (codegen/native/extension.py).
    """
    try:
        import numpy
    except ImportError:
        return []
    if not (Path(sysconfig.get_path('include')) / 'Python.h').exists():
        return []
    runtime = Path(PACKAGE, 'codegen', 'runtime')
    # The digest is `extension.source_digest`.
    headers = (
        'arrays', 'batch', 'direct_call', 'interpreter', 'interpreter_loop', 'kernel', 'numbers',
        'program', 'samples', 'workers',
    )
    sources = [runtime / 'kernel.c', *(runtime / f'{name}.h' for name in headers)]
    digest = hashlib.sha256(b''.join(path.read_bytes() for path in sources)).hexdigest()[:16]
    return [Extension(
        f'{PACKAGE}.codegen.runtime._kernel',
        [str(sources[0])],
        depends=[str(path) for path in sources[1:]],
        include_dirs=[numpy.get_include()],
        define_macros=[('FLEXDYN_DIGEST', f'"{digest}"')],
        extra_compile_args=['-O2', '-ffp-contract=off', '-pthread'],
        extra_link_args=['-pthread'],
        libraries=['m'],
        optional=True,
    )]


manifest = ElementTree.parse('package.xml').getroot()

setup(
    name=PACKAGE,
    version=manifest.findtext('version'),
    description=' '.join(manifest.findtext('description').split()),
    license=manifest.findtext('license'),
    maintainer=manifest.findtext('maintainer'),
    maintainer_email=manifest.find('maintainer').get('email'),
    packages=find_packages(include=[PACKAGE, f'{PACKAGE}.*']),
    package_data={
        PACKAGE: ['py.typed', '*.xml'],
        f'{PACKAGE}.codegen.runtime': ['*.c', '*.h'],
        f'{PACKAGE}.nodes': ['*.yaml'],
        f'{PACKAGE}.validation': ['cases/*.yaml', 'counts/*.yaml'],
    },
    ext_modules=extensions(),
    data_files=data_files(),
    python_requires='>=3.10',
    install_requires=['setuptools'],
    extras_require={'replay': ['rosbags', 'matplotlib'], 'test': ['pytest']},
    zip_safe=False,
    entry_points={
        'console_scripts': [
            'flexdyn = flexdyn_ros.cli.main:main',
            *(f'{node} = flexdyn_ros.nodes.{node}:main' for node in NODES),
        ],
    },
)
