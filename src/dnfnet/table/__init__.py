"""A table as users have it, to a float32 matrix, and the schema that remembers how."""

from dnfnet.table.encoder import TableEncoder
from dnfnet.table.schema import Column, Schema

__all__ = ["Column", "Schema", "TableEncoder"]
