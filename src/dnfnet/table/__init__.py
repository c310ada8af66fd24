"""A table as users have it, to a float32 matrix, and the schema that remembers how."""

from dnfnet.table.encoder import TableEncoder
from dnfnet.table.files import count_rows, iter_tables, read_table, write_table
from dnfnet.table.notes import gathered_notes
from dnfnet.table.schema import Column, Schema
from dnfnet.table.screening import MANY_COLUMNS, telling_columns
from dnfnet.table.sources import Source, open_table, refuse_duplicates, refuse_empty
from dnfnet.table.weights import check_weights

__all__ = [
    "MANY_COLUMNS",
    "Column",
    "Schema",
    "Source",
    "TableEncoder",
    "check_weights",
    "count_rows",
    "gathered_notes",
    "iter_tables",
    "open_table",
    "read_table",
    "refuse_duplicates",
    "refuse_empty",
    "telling_columns",
    "write_table",
]
