"""Why a tool-calling agent fails: the wrong kind of action, or the right one carried out badly."""

from importlib.metadata import PackageNotFoundError, version

try:
    __version__ = version("toolcal")
except PackageNotFoundError:  # a checkout on PYTHONPATH, as in the conda environments
    __version__ = "0+checkout"
