"""A table as users have it, to a float32 matrix, and the schema that remembers how."""

from dnfnet.table.encoder import TableEncoder
from dnfnet.table.files import count_rows, iter_tables, read_table, write_table
from dnfnet.table.schema import Column, Schema

__all__ = ["Column", "Schema", "TableEncoder", "count_rows", "iter_tables", "read_table", "write_table"]
