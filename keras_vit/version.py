"""The version, said once: `setup.py` reads this file as text, so it must import nothing."""

__version__ = "0.1.0"
