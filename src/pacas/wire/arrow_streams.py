"""Tables as Arrow's IPC streams, written and read by both sides."""

from __future__ import annotations

import struct

import pyarrow as pa

from pacas.wire.arrow_messages import NotPlain, plain_rows


def written_stream(table: pa.Table) -> bytes:
    """A table as a stream."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    content: bytes = sink.getvalue().to_pybytes()
    return content


def read_stream(content: bytes) -> pa.Table | None:
    """The table that a stream holds, every value checked; None if it holds none, or would be larger than it is."""
    try:
        if isinstance(plain_rows(pa.py_buffer(content)), NotPlain):
            return None
        with pa.ipc.open_stream(content) as reader:
            table = reader.read_all()
        table.validate(full=True)
    except (pa.ArrowException, OSError, EOFError, struct.error, ValueError):
        return None
    return table
