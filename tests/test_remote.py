"""Files of other stores through fsspec: its memory, and a server on this machine that fails."""

from __future__ import annotations

import http.server
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import spillway as sw
import spillway.tf as tf
from spillway import remote

fsspec = pytest.importorskip("fsspec")


@pytest.fixture
def memory() -> Iterator[Any]:
    store = fsspec.filesystem("memory")
    store.store.clear()
    store.pseudo_dirs[:] = [""]
    yield store
    store.store.clear()


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "BACKOFF", 0.001)


def lines(dataset: Any) -> list[bytes]:
    return list(dataset.as_numpy_iterator())


# ---- Every place that reads files


def test_text_records_and_bytes_are_read_from_a_store(memory: Any) -> None:
    memory.pipe("/d/a.txt", b"one\ntwo\n")
    memory.pipe("/d/b.txt", b"three")
    paths = ["memory://d/a.txt", "memory://d/b.txt"]
    assert lines(tf.data.TextLineDataset(paths)) == [b"one", b"two", b"three"]
    assert lines(tf.data.TextLineDataset(paths, num_parallel_reads=2)) == [b"one", b"three", b"two"]
    assert tf.io.read_file(paths[1]).numpy() == b"three"
    mapped = tf.data.Dataset.from_tensor_slices(paths).map(tf.io.read_file, num_parallel_calls=2)
    assert lines(mapped) == [b"one\ntwo\n", b"three"]


def test_records_are_written_to_a_store_and_read_back(memory: Any) -> None:
    with tf.io.TFRecordWriter("memory://r.tfrecord", "GZIP") as writer:
        for i in range(3):
            writer.write(b"%d" % i)
    assert lines(tf.data.TFRecordDataset("memory://r.tfrecord", "GZIP")) == [b"0", b"1", b"2"]


def test_files_are_found_by_patterns(memory: Any) -> None:
    for name in ("a.txt", "b.txt", "c.bin"):
        memory.pipe(f"/d/{name}", name.encode())
    expected = [b"memory:///d/a.txt", b"memory:///d/b.txt"]
    assert lines(tf.data.Dataset.list_files("memory://d/*.txt", shuffle=False)) == expected
    assert tf.io.matching_files("memory://d/*.txt").numpy().tolist() == expected
    assert lines(tf.data.TextLineDataset(expected)) == [b"a.txt", b"b.txt"]
    with pytest.raises(tf.errors.InvalidArgumentError, match="No files matched"):
        tf.data.Dataset.list_files("memory://d/*.no")


def test_npy_rows_are_read_as_ranges(memory: Any) -> None:
    with memory.open("/x.npy", "wb") as file:
        np.save(file, np.arange(1000).reshape(100, 10))
    dataset = sw.Dataset.from_npy("memory://x.npy")
    assert [int(row[0]) for row in dataset] == list(range(0, 1000, 10))
    assert int(dataset[7][3]) == 73


def test_gfile_reads_and_writes_a_store(memory: Any) -> None:
    gfile = tf.io.gfile
    tf.io.write_file("memory://d/a", "abc")
    with gfile.GFile("memory://d/b", "w") as file:
        file.write("one\ntwo\n")
    assert gfile.GFile("memory://d/b").readlines() == ["one\n", "two\n"]
    assert gfile.exists("memory://d/a")
    assert not gfile.exists("memory://d/no")
    assert gfile.isdir("memory://d")
    assert sorted(gfile.listdir("memory://d")) == ["a", "b"]
    assert gfile.stat("memory://d/a").length == 3
    gfile.copy("memory://d/a", "memory://d/c")
    gfile.rename("memory://d/c", "memory://d/e")
    assert sorted(gfile.listdir("memory://d")) == ["a", "b", "e"]
    with pytest.raises(tf.errors.AlreadyExistsError):
        gfile.copy("memory://d/a", "memory://d/b")
    gfile.remove("memory://d/a")
    with pytest.raises(tf.errors.NotFoundError):
        gfile.GFile("memory://d/a").read()
    gfile.rmtree("memory://d")
    assert not gfile.exists("memory://d/b")


def test_a_saved_dataset_is_loaded_from_a_store(memory: Any, tmp_path: Any) -> None:
    sw.Dataset.range(100).save(tmp_path)
    memory.put(str(tmp_path), "/saved", recursive=True)
    found = [p for p in memory.find("/") if p.endswith("snapshot.metadata")]
    folder = "memory:/" + found[0].rsplit("/", 1)[0]
    assert [int(x) for x in sw.Dataset.load(folder)] == list(range(100))
    with pytest.raises(tf.errors.UnimplementedError, match="local folders only"):
        sw.Dataset.range(3).save("memory://x")


def test_local_files_by_their_url(tmp_path: Any) -> None:
    (tmp_path / "a").write_text("x")
    assert tf.io.read_file(f"file://{tmp_path}/a").numpy() == b"x"


# ---- What is not there


def test_missing_files_and_stores_are_said(memory: Any) -> None:
    with pytest.raises(FileNotFoundError) as caught:
        tf.io.read_file("memory://no")
    assert isinstance(caught.value, tf.errors.NotFoundError)
    assert "memory://no" in str(caught.value)
    with pytest.raises(tf.errors.UnimplementedError, match="nosuchstore"):
        tf.io.read_file("nosuchstore://x")
    memory.pipe("/d/a", b"")
    with pytest.raises(tf.errors.FailedPreconditionError, match="directory"):
        tf.io.read_file("memory://d")


def test_one_missing_file_is_one_error_in_its_place(memory: Any) -> None:
    memory.pipe("/a", b"one")
    dataset = tf.data.TextLineDataset(["memory://no", "memory://a"])
    assert lines(dataset.on_error("skip")) == [b"one"]


def test_without_fsspec_the_error_says_what_to_install() -> None:
    program = (
        "import sys; sys.modules['fsspec'] = None\n"
        "import spillway.tf as tf\n"
        "try: tf.io.read_file('s3://bucket/key')\n"
        "except tf.errors.UnimplementedError as e: print(e)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert "pip install fsspec" in done.stdout, done.stderr


def test_fsspec_is_imported_only_when_it_is_needed() -> None:
    program = "import sys, spillway.tf; print('fsspec' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout.strip() == "False", done.stderr


# ---- Stores that fail


class Store:
    """Stands before fsspec's memory and fails as it is told."""

    def __init__(self, memory: Any, fail: Callable[[int], None]) -> None:
        self._memory = memory
        self._fail = fail
        self.reads = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._memory, name)

    def cat_file(self, name: str, start: int | None = None, end: int | None = None) -> bytes:
        self.reads += 1
        self._fail(self.reads)
        return bytes(self._memory.cat_file(name, start=start, end=end))


def failing(memory: Any, monkeypatch: pytest.MonkeyPatch, fail: Callable[[int], None]) -> Store:
    store = Store(memory, fail)
    monkeypatch.setattr(
        remote, "store_of", lambda path: (store, "/" + path.split("://", 1)[1].lstrip("/"))
    )
    return store


@pytest.mark.parametrize("error", [ConnectionResetError, TimeoutError])
def test_what_may_pass_is_tried_again(
    memory: Any, monkeypatch: pytest.MonkeyPatch, error: type[OSError]
) -> None:
    def fail(number: int) -> None:
        if number < 3:
            raise error("no answer")

    memory.pipe("/a", b"one")
    store = failing(memory, monkeypatch, fail)
    assert tf.io.read_file("memory://a").numpy() == b"one"
    assert store.reads == 3


def test_attempts_are_bounded_and_told(memory: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(number: int) -> None:
        raise ConnectionResetError("no answer")

    memory.pipe("/a", b"one")
    store = failing(memory, monkeypatch, fail)
    with pytest.raises(tf.errors.UnavailableError, match="gave up after 5 attempts") as caught:
        tf.io.read_file("memory://a")
    error: Any = caught.value
    assert (error.attempts, error.kind, error.file) == (5, "transient", "memory://a")
    assert store.reads == 5


def test_what_will_not_pass_is_not_tried_again(
    memory: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(number: int) -> None:
        raise PermissionError("not yours")

    memory.pipe("/a", b"one")
    store = failing(memory, monkeypatch, fail)
    with pytest.raises(tf.errors.PermissionDeniedError):
        tf.io.read_file("memory://a")
    assert store.reads == 1


def test_a_file_that_is_replaced_while_it_is_read_is_data_loss(
    memory: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def change(number: int) -> None:
        if number == 2:
            memory.pipe("/a", b"y" * (5 << 20))

    memory.pipe("/a", b"x" * (5 << 20))
    failing(memory, monkeypatch, change)
    with pytest.raises(tf.errors.DataLossError, match="was replaced while it was read"):
        tf.io.read_file("memory://a")


def test_a_file_that_shrinks_while_it_is_read_is_data_loss(
    memory: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def change(number: int) -> None:
        if number == 2:
            memory.pipe("/a", b"y")

    memory.pipe("/a", b"x" * (5 << 20))
    failing(memory, monkeypatch, change)
    with pytest.raises(tf.errors.DataLossError, match="expected 5242880 bytes, found 1"):
        tf.io.read_file("memory://a")


def test_ctrl_c_ends_a_read(memory: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(number: int) -> None:
        raise KeyboardInterrupt

    memory.pipe("/a", b"one")
    failing(memory, monkeypatch, fail)
    with pytest.raises(KeyboardInterrupt):
        tf.io.read_file("memory://a")


# ---- A server of this machine

BODY = bytes(range(256)) * 40_000  # 10 MB: three ranges


class Handler(http.server.BaseHTTPRequestHandler):
    """Serves BODY with ranges; `server.trouble` says what goes wrong with a request."""

    protocol_version = "HTTP/1.1"

    def do_HEAD(self) -> None:
        self._answer(body=False)

    def do_GET(self) -> None:
        self._answer(body=True)

    def _answer(self, body: bool) -> None:
        server: Any = self.server
        with server.lock:
            server.requests += 1
            trouble = server.trouble.pop(0) if body and server.trouble else ""
        if self.path != "/data":
            self.send_error(404)
            return
        if trouble.isdigit():
            self.send_error(int(trouble))
            return
        first, last = 0, len(server.body) - 1
        asked = self.headers.get("Range")
        if asked:
            begin, end = asked.removeprefix("bytes=").split("-")
            first, last = int(begin), min(int(end or last), last)
        piece = server.body[first : last + 1]
        self.send_response(206 if asked else 200)
        self.send_header("Accept-Ranges", "bytes")
        self.send_header("Content-Length", str(len(piece)))
        self.send_header("ETag", server.etag)
        if asked:
            self.send_header("Content-Range", f"bytes {first}-{last}/{len(server.body)}")
        self.end_headers()
        if not body:
            return
        if trouble == "drop":
            self.wfile.write(piece[: len(piece) // 2])
            self.close_connection = True
            return
        self.wfile.write(piece)
        if trouble == "change":
            server.body, server.etag = server.body[::-1], '"2"'

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def server() -> Iterator[Any]:
    pytest.importorskip("aiohttp")
    made: Any = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    made.body, made.etag, made.trouble, made.requests = BODY, '"1"', [], 0
    made.lock = threading.Lock()
    made.daemon_threads = True
    thread = threading.Thread(target=made.serve_forever)
    thread.start()
    host, port = made.server_address[:2]
    made.url = f"http://{host}:{port}/data"
    yield made
    made.shutdown()
    made.server_close()
    thread.join()


def test_http_is_read_in_ranges(server: Any) -> None:
    assert tf.io.read_file(server.url).numpy() == BODY
    records = tf.data.FixedLengthRecordDataset(server.url, 25_600)
    assert b"".join(lines(records)) == BODY


@pytest.mark.parametrize("trouble", [["503", "503"], ["drop"], ["500", "drop", "502"]])
def test_http_that_recovers_is_read(server: Any, trouble: list[str]) -> None:
    server.trouble.extend(trouble)
    assert tf.io.read_file(server.url).numpy() == BODY
    assert server.trouble == []


def test_http_that_does_not_recover_is_unavailable(server: Any) -> None:
    server.trouble.extend(["503"] * 50)
    with pytest.raises(tf.errors.UnavailableError) as caught:
        tf.io.read_file(server.url)
    assert caught.value.attempts == 5


def test_http_that_changes_is_data_loss(server: Any) -> None:
    server.trouble.extend(["change"])
    with pytest.raises(tf.errors.DataLossError, match="replaced"):
        tf.io.read_file(server.url)


def test_http_refusals_have_their_classes(server: Any) -> None:
    with pytest.raises(tf.errors.NotFoundError):
        tf.io.read_file(server.url + "/no")
    server.trouble.extend(["403"] * 3)
    with pytest.raises(tf.errors.PermissionDeniedError):
        tf.io.read_file(server.url)
