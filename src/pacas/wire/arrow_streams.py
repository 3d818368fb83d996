"""Tables as Arrow's IPC streams, written and read by both sides."""

from __future__ import annotations

import pyarrow as pa


def written_stream(table: pa.Table) -> bytes:
    """A table as a stream."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    content: bytes = sink.getvalue().to_pybytes()
    return content


def read_stream(content: bytes) -> pa.Table | None:
    """The table that a stream holds, every value checked; None if it holds none."""
    try:
        with pa.ipc.open_stream(content) as reader:
            table = reader.read_all()
        table.validate(full=True)
    except (pa.ArrowInvalid, OSError, EOFError):
        return None
    return table
