"""Arrow IPC streams as clients send them: good ones, and all kinds of bad ones."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import Any

import pyarrow as pa
from hypothesis import strategies as st

COLUMNS = {"GEN": ["male", "female", None, "fem\0ale", ""], "AGE": ["51", "45", "9", None, "51.0"]}
OTHER_TYPES = (
    pa.array([1, 2]),
    pa.array([1.5, float("nan")]),
    pa.array([True, None]),
    pa.array([b"\xff", b"x"]),
    pa.array([["a"], []]),
    pa.array([{"a": "b"}, None]),
    pa.array([date(2026, 1, 1), None]),
    pa.array([Decimal("1.5"), None]),
    pa.array(["male", "male"]).dictionary_encode(),
    pa.array(["a", "b"], pa.string_view()),
)


def stream(table: pa.Table, **options: Any) -> bytes:
    """A table as a stream."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema, options=pa.ipc.IpcWriteOptions(**options)) as writer:
        writer.write_table(table)
    content: bytes = sink.getvalue().to_pybytes()
    return content


def compressed_by_metadata(codec: str, version: pa.ipc.MetadataVersion = pa.ipc.MetadataVersion.V4) -> bytes:
    """A stream that says in its messages' own metadata that its buffers are compressed, as Arrow did before 1.0."""
    batch = pa.record_batch({"GEN": ["male"] * 9, "AGE": ["51"] * 9})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema, options=pa.ipc.IpcWriteOptions(metadata_version=version)) as writer:
        writer.write_batch(batch, custom_metadata={"ARROW:experimental_compression": codec})
    content: bytes = sink.getvalue().to_pybytes()
    return content


def broken_text() -> bytes:
    """A stream whose text is not UTF-8."""
    offsets, data = pa.array([0, 2], pa.int32()).buffers()[1], pa.py_buffer(b"\xff\xfe")
    text = pa.StringArray.from_buffers(1, offsets, data)
    return stream(pa.table({"GEN": text, "AGE": text}))


def foreign_streams() -> list[bytes]:
    """Streams of tables that are whole, and yet cannot be asked about."""
    known = pa.table({"GEN": ["male"], "AGE": ["51"]})
    return [
        *(stream(pa.table({"GEN": ["male", "male"], "AGE": other})) for other in OTHER_TYPES),
        *(stream(known, compression=codec) for codec in ("lz4", "zstd")),
        *(compressed_by_metadata(codec) for codec in ("lz4", "zstd", "LZ4_FRAME")),
        broken_text(),
        stream(pa.table({"GEN": ["male"]})),
        stream(pa.table({"GEN": ["x" * 20_000], "AGE": ["51"]})),
        stream(pa.table([["male"], ["51"], ["51"]], names=["GEN", "AGE", "AGE"])),
        stream(pa.table({str(i): ["v"] for i in range(1001)})),
        stream(pa.table({})),
        stream(pa.table({"GEN": pa.nulls(10**9), "AGE": pa.nulls(10**9)})),
    ]


@st.composite
def tables(draw: st.DrawFn) -> pa.Table:
    """Tables that can be asked about, with a column that nobody needs in some."""
    rows = draw(st.integers(0, 6))
    columns = {
        name: pa.array(draw(st.lists(st.sampled_from(values), min_size=rows, max_size=rows)), pa.string())
        for name, values in COLUMNS.items()
    }
    if draw(st.booleans()):
        columns["ZIP"] = pa.array(draw(st.lists(st.text(max_size=3), min_size=rows, max_size=rows)), pa.large_string())
    return pa.table(columns)


good_streams: st.SearchStrategy[bytes] = tables().map(stream)


@st.composite
def damaged_streams(draw: st.DrawFn) -> bytes:
    """Good streams that were cut off, or of which some bytes are not what they were."""
    whole = bytearray(draw(good_streams))
    for _ in range(draw(st.integers(1, 4))):
        whole[draw(st.integers(0, len(whole) - 1))] = draw(st.integers(0, 255))
    return bytes(whole[: draw(st.sampled_from([len(whole), draw(st.integers(0, len(whole)))]))])


any_stream: st.SearchStrategy[bytes] = st.one_of(
    good_streams, damaged_streams(), st.sampled_from(foreign_streams()), st.binary(max_size=64)
)
