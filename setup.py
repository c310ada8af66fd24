"""Build the fused kernel next to the package where there is a C++17 compiler; without one, install without it."""

from __future__ import annotations

from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_ext import build_ext

SOURCES = Path("src/dnfnet/ops/csrc")


class BuildLibrary(build_ext):
    """Build a plain shared library: it is loaded by ctypes and knows nothing of Python."""

    def get_ext_filename(self, fullname: str) -> str:
        """Name the file without a Python version."""
        return str(Path(*fullname.split(".")).with_suffix(".so"))

    def get_export_symbols(self, ext: Extension) -> list[str]:
        """Export what the sources mark, not a module's init function."""
        return ext.export_symbols


class LibraryWheel(bdist_wheel):
    """One wheel for every Python of a platform."""

    def get_tag(self) -> tuple[str, str, str]:
        """Keep the platform, drop the Python version and its ABI."""
        return "py3", "none", super().get_tag()[2]


setup(
    ext_modules=[
        Extension(
            "dnfnet.ops._fused",
            sources=sorted(str(path) for path in SOURCES.glob("*.cpp")),
            depends=sorted(str(path) for pattern in ("*.h", "*.inl") for path in SOURCES.glob(pattern)),
            extra_compile_args=["-std=c++17", "-O3", "-g0", "-ffp-contract=fast", "-fvisibility=hidden", "-pthread"],
            extra_link_args=["-pthread"],
            language="c++",
            optional=True,
        )
    ],
    cmdclass={"build_ext": BuildLibrary, "bdist_wheel": LibraryWheel},
)
