"""Hierarchies as files and commands name them.

How their files are read and written is `engine.hierarchy_files`: a provider, a client and every question of the front
door may be given a path, and see no formats.
"""

from pacas.engine.hierarchy_files import RawHierarchy, arx, read_hierarchy, read_raw_hierarchy, write_hierarchy

__all__ = ["RawHierarchy", "arx", "read_hierarchy", "read_raw_hierarchy", "write_hierarchy"]
