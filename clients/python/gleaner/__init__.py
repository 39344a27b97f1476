"""Client of Gleaner, a self-hosted product-data collection service."""

from pkgutil import extend_path

# Code that is generated from the contract is in subpackages of the same name, such as gleaner.job.v1.
__path__ = extend_path(__path__, __name__)

from .client import Client, Submitted
from .errors import GleanerError
from .frames import to_frame

__all__ = ["Client", "GleanerError", "Submitted", "to_frame"]
