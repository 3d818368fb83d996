"""Spark, started for PACAS alone: in this process (`local[*]`), or as the driver of a cluster's master."""

from __future__ import annotations

import os
import re
import shutil
import socket
import sys
import time
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from pacas.errors import InputError

LOCAL = "local[*]"
PATIENCE = 5.0
"""Seconds in which a master has to take a connection."""
FOR_WORKERS = 30.0
"""Seconds in which a master has to give a worker."""
LOOPBACK = "127.0.0.1"

_LOCAL = re.compile(r"local(\[.+\])?")
_ADDRESSES = re.compile(r"(?:spark|k8s)://(?:https?://)?([^/]+)")

QUIET = {
    "spark.app.name": "pacas",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",  # it would go to the terminal
}
ADAPTED = {"spark.sql.optimizer.canChangeCachedPlanOutputPartitioning": "true"}
"""What is kept on the workers is cut into as many pieces as its size asks for; otherwise a few rows are 200 tasks."""
LOG = """rootLogger.level = off
rootLogger.appenderRef.none.ref = none
appender.none.type = Null
appender.none.name = none
"""
"""Java's settings for Spark's log, which may quote a cell: there is none, from its first line on."""

OPTIONS = "spark.driver.extraJavaOptions"
QUICK = "-XX:TieredStopAtLevel=1"
"""An option for Java in this process, by which it compiles at once and optimises little: most of a short job is its
start, and a long one reads and groups. What is given after it counts."""


def is_local(master: str) -> bool:
    """Whether a master means Spark in this process alone."""
    return _LOCAL.fullmatch(master) is not None


def check_session(session: object) -> None:
    """Raise if a session that is given is not one of a driver in this process."""
    if session is None or isinstance(session, SparkSession):
        return
    if type(session).__module__.startswith("pyspark.sql.connect"):
        raise InputError(
            "the session is one of Spark Connect, which PACAS cannot use yet; give one of a driver in this process, "
            "such as SparkSession.builder.master(…), or name the master"
        )
    raise InputError(f"a Spark session is needed, and a {type(session).__name__} is given; or name a master")


def start_session(folder: str, master: str = LOCAL, settings: Mapping[str, str] | None = None) -> SparkSession:
    """A session on a master, with Spark's own settings where any are given; one line says why there is none.

    `folder` is a place for this user's eyes only; in this process, Spark spills into it.
    """
    _check_java()
    _check_master(master)
    running = SparkSession.getActiveSession()
    if running is not None:
        raise InputError("a Spark session runs in this process already; give it as `session`, or stop it")
    chosen = QUIET | ADAPTED | (_locally(folder) if is_local(master) else {}) | dict(settings or {})
    own = [_silent(folder), *([QUICK] if is_local(master) else [])]
    chosen[OPTIONS] = " ".join([*own, chosen.get(OPTIONS, "")]).strip()
    builder = SparkSession.builder.master(master)
    for key, value in chosen.items():
        builder = builder.config(key, value)
    try:
        with _unheard(), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about pandas, which is not used here
            session = builder.getOrCreate()
    except (PySparkException, Py4JError, OSError) as error:
        raise InputError(
            f"Spark does not start on {master} ({_why(error)}); it needs Java 17 or later, and a master of its version"
        ) from None
    if master.startswith("spark://"):
        _wait_for_workers(session, master)
    return session


@contextmanager
def _unheard() -> Iterator[None]:
    """While Java starts: it inherits a standard error that goes nowhere, as it would begin with lines about itself."""
    heard, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        yield
    finally:
        os.dup2(heard, 2)
        os.close(heard)
        os.close(nowhere)


def _locally(folder: str) -> dict[str, str]:
    """Spark in this process: nobody else can reach it, and its Python is this one."""
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("SPARK_LOCAL_IP", LOOPBACK)
    return {
        "spark.driver.host": LOOPBACK,
        "spark.driver.bindAddress": LOOPBACK,
        "spark.local.dir": folder,
        "spark.sql.warehouse.dir": f"{folder}/warehouse",
    }


def _silent(folder: str) -> str:
    """An option for Java, by which it logs nothing."""
    settings = Path(folder, "log4j2.properties")
    settings.write_text(LOG)
    return f"-Dlog4j2.configurationFile={settings.as_uri()}"


def _check_java() -> None:
    home = os.environ.get("JAVA_HOME")
    there = Path(home, "bin", "java").exists() if home else shutil.which("java") is not None
    if not there:
        where = "in JAVA_HOME" if home else "here"
        raise InputError(f"Spark needs Java 17 or later, and there is no Java {where}; install it, or set JAVA_HOME")


def _check_master(master: str) -> None:
    """Raise at once if nobody listens where a master should: Spark itself would try for minutes."""
    named = _ADDRESSES.match(master)
    if named is None:
        if is_local(master) or master in ("yarn", "k8s"):
            return
        raise InputError(
            f"no Spark master {master!r}; such as local[*], spark://host:7077, k8s://https://host:443 or yarn"
        )
    addresses = named[1].split(",")
    if not any(_listens(address) for address in addresses):
        raise InputError(f"the Spark master {master} cannot be reached; is it running, and is its address right?")


def _listens(address: str) -> bool:
    host, _, port = address.rpartition(":")
    if not port.isdigit() or not 0 < int(port) < 1 << 16:
        host, port = address, "443"
    try:
        with socket.create_connection((host.strip("[]"), int(port)), timeout=PATIENCE):
            return True
    except OSError:
        return False


def _wait_for_workers(session: SparkSession, master: str) -> None:
    """A master without workers takes jobs and never begins them."""
    tracker = session.sparkContext._jsc.sc().statusTracker()
    until = time.monotonic() + FOR_WORKERS
    while time.monotonic() < until:
        if len(tracker.getExecutorInfos()) > 1:  # one is the driver
            return
        time.sleep(0.2)
    session.stop()
    raise InputError(f"the Spark master {master} gives no worker; are any running, with cores and memory to spare?")


def _why(error: Exception) -> str:
    condition = error.getCondition() if isinstance(error, PySparkException) else None
    return condition or type(error).__name__
