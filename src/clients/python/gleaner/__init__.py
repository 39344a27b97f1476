"""Client of Gleaner, a self-hosted product-data collection service."""

from .client import Client, Submitted
from .errors import GleanerError
from .frames import to_frame

__all__ = ["Client", "GleanerError", "Submitted", "to_frame"]
