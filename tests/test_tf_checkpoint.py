"""`tf.train.Checkpoint`: positions in files, found again, and what damaged files do."""

from __future__ import annotations

import os
import random
import stat
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import spillway as sw
import spillway.tf as tf
from tests.test_tf_data import values

Dataset = tf.data.Dataset
Checkpoint = tf.train.Checkpoint


class Variable:
    """The least a variable is."""

    def __init__(self, value: Any) -> None:
        self.value = np.asarray(value)

    @property
    def shape(self) -> tuple[int, ...]:
        return self.value.shape

    def numpy(self) -> Any:
        return self.value

    def assign(self, value: Any) -> None:
        self.value = np.asarray(value)

    def __int__(self) -> int:
        return int(self.value)


def take(iterator: Any, count: int) -> list[Any]:
    return [int(next(iterator)) for _ in range(count)]


# ---- Saving and restoring

PIPELINES: dict[str, Any] = {
    "range": lambda: Dataset.range(20),
    "shuffle": lambda: Dataset.range(20).shuffle(7, seed=3),
    "shuffle, repeat": lambda: Dataset.range(5).shuffle(5, seed=3).repeat(4),
    "map": lambda: Dataset.range(20).map(lambda x: x * 3, num_parallel_calls=2),
    "filter": lambda: Dataset.range(20).filter(lambda x: x % 3 == 0),
    "window": lambda: Dataset.range(20).window(3).flat_map(lambda w: w.batch(3)),
    "interleave": lambda: Dataset.range(5).interleave(lambda x: Dataset.range(x), cycle_length=3),
    "group": lambda: Dataset.range(20).group_by_window(lambda x: x % 2, lambda k, w: w.batch(2), 2),
    "reducer": lambda: Dataset.range(20).apply(
        tf.data.experimental.group_by_reducer(
            lambda x: x % 4,
            tf.data.experimental.Reducer(
                lambda key: np.int64(0), lambda state, x: state + x, lambda state: state
            ),
        )
    ),
    "list": lambda: tf.data.experimental.from_list([[1], [2, 3], [4]]),
    "resample": lambda: Dataset.range(40).rejection_resample(lambda x: x % 2, [0.5, 0.5], seed=1),
    "zip, batch": lambda: Dataset.zip((Dataset.range(9), Dataset.range(9, 0, -1))).batch(2),
}


@pytest.mark.parametrize("name", PIPELINES)
def test_a_pipeline_goes_on_from_every_position(name: str, tmp_path: Path) -> None:
    make = PIPELINES[name]
    expected = values(make())
    for position in range(len(expected) + 1):
        iterator = iter(make())
        for _ in range(position):
            next(iterator)
        path = Checkpoint(iterator=iterator).save(str(tmp_path / "ckpt"))
        fresh = iter(make())
        Checkpoint(iterator=fresh).restore(path).assert_consumed()
        assert values(fresh) == expected[position:]


def test_an_iterator_is_set_back_in_place(tmp_path: Path) -> None:
    iterator = iter(Dataset.range(6))
    get_next = iterator.get_next  # one that was taken before still sees the restored position
    checkpoint = Checkpoint(iterator=iterator)
    assert int(get_next()) == 0
    path = checkpoint.save(tmp_path / "ckpt")
    assert [int(get_next()) for _ in range(5)] == [1, 2, 3, 4, 5]
    with pytest.raises(tf.errors.OutOfRangeError):
        get_next()
    checkpoint.restore(path).run_restore_ops()
    assert int(get_next()) == 1


def test_several_iterators_are_saved_by_name(tmp_path: Path) -> None:
    first, second, third = iter(Dataset.range(9)), iter(Dataset.range(9)), iter(Dataset.range(4))
    checkpoint = Checkpoint(a=first, b={"x/y": [second]}, c=Checkpoint(inner=third))
    take(first, 1), take(second, 2), take(third, 3)
    path = checkpoint.save(str(tmp_path / "ckpt"))
    take(first, 4), take(second, 4)
    checkpoint.restore(path).assert_consumed()
    assert (take(first, 1), take(second, 1), take(third, 1)) == ([1], [2], [3])


def test_a_root_is_saved_without_a_name(tmp_path: Path) -> None:
    iterator = iter(Dataset.range(5))
    take(iterator, 2)
    path = Checkpoint(iterator).save(str(tmp_path / "ckpt"))
    fresh = iter(Dataset.range(5))
    Checkpoint(fresh).restore(path).assert_consumed()
    assert take(fresh, 1) == [2]
    named = iter(Dataset.range(5))
    inner = Checkpoint(it=named)
    path = Checkpoint(inner).save(str(tmp_path / "other"))
    Checkpoint(it=iter(Dataset.range(5))).restore(path).assert_consumed()


def test_iterators_of_both_fronts_and_numpys_are_saved(tmp_path: Path) -> None:
    made: list[Any] = [iter(sw.Dataset.range(5)), Dataset.range(5).as_numpy_iterator()]
    for iterator in made:
        take(iterator, 2)
    path = Checkpoint(its=made).save(str(tmp_path / "ckpt"))
    fresh: list[Any] = [iter(sw.Dataset.range(5)), Dataset.range(5).as_numpy_iterator()]
    Checkpoint(its=fresh).restore(path).assert_consumed()
    assert [take(iterator, 1) for iterator in fresh] == [[2], [2]]


def test_variables_are_saved_as_arrays(tmp_path: Path) -> None:
    path = Checkpoint(v=Variable([1.5, 2.5]), step=Variable(7)).save(str(tmp_path / "ckpt"))
    v, step = Variable([0.0, 0.0]), Variable(0)
    Checkpoint(v=v, step=step).restore(path).assert_consumed()
    assert v.value.tolist() == [1.5, 2.5] and int(step) == 7
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"v must have the variable's shape"):
        Checkpoint(v=Variable([0.0])).restore(path)
    with pytest.raises(tf.errors.InvalidArgumentError, match="strings"):
        Checkpoint(v=Variable(np.array([b"a"], object))).save(str(tmp_path / "ckpt"))


@pytest.mark.parametrize("value", [1, "a", None, object(), [3], {"x": 2.5}])
def test_what_has_no_state_is_refused_by_name(value: Any) -> None:
    with pytest.raises(ValueError, match="expecting thing to be a trackable object"):
        Checkpoint(thing=value)


def test_what_is_attached_later_is_restored_then(tmp_path: Path) -> None:
    iterator = iter(Dataset.range(5))
    take(iterator, 3)
    path = Checkpoint(it=iterator).save(str(tmp_path / "ckpt"))
    late = Checkpoint()
    status = late.restore(path)
    with pytest.raises(AssertionError, match="nothing in the program is named"):
        status.assert_consumed()
    fresh = iter(Dataset.range(5))
    late.it = fresh
    assert take(fresh, 1) == [3]
    status.assert_consumed()


def test_a_status_tells_what_did_not_match(tmp_path: Path) -> None:
    ds = Dataset.range(3)
    path = Checkpoint(a=iter(ds)).save(str(tmp_path / "ckpt"))
    status = Checkpoint(a=iter(ds), b=iter(ds)).restore(path)
    with pytest.raises(AssertionError, match=r"not bound.*\['b'\]"):
        status.assert_existing_objects_matched()
    status.expect_partial().assert_nontrivial_match()
    with pytest.raises(AssertionError, match="Nothing in the checkpoint"):
        Checkpoint(b=iter(ds)).restore(path).assert_nontrivial_match()
    nothing = Checkpoint(a=iter(ds)).restore(None)
    nothing.initialize_or_restore()
    with pytest.raises(AssertionError, match="No checkpoint specified"):
        nothing.assert_consumed()


# ---- Files


def test_saves_are_numbered_and_the_latest_is_found(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "folder"
    iterator = iter(Dataset.range(10))
    checkpoint = Checkpoint(iterator=iterator)
    assert tf.train.latest_checkpoint(folder) is None
    for i in range(1, 4):
        assert checkpoint.save(folder / "ckpt") == f"{folder}/ckpt-{i}"
        assert tf.train.latest_checkpoint(folder) == f"{folder}/ckpt-{i}"
    assert checkpoint.save_counter.numpy() == 3
    assert (folder / "checkpoint").read_text() == (
        'model_checkpoint_path: "ckpt-3"\nall_model_checkpoint_paths: "ckpt-3"\n# crc32 3723c5f3\n'
    )
    again = Checkpoint(iterator=iter(Dataset.range(10)))
    again.restore(f"{folder}/ckpt-2")
    assert again.save(folder / "ckpt") == f"{folder}/ckpt-3"  # numbers go on from the restored


def test_write_takes_the_path_as_it_is(tmp_path: Path) -> None:
    iterator = iter(Dataset.range(3))
    checkpoint = Checkpoint(it=iterator)
    seen: list[Any] = []
    options = tf.train.CheckpointOptions(
        experimental_write_callbacks=[seen.append, lambda: seen.append("none")], enable_async=True
    )
    path = checkpoint.write(tmp_path / "exactly", options)
    assert path == str(tmp_path / "exactly") and seen == [path, "none"]
    assert os.listdir(tmp_path) == ["exactly.index"]
    take(iterator, 2)
    checkpoint.read(path).assert_consumed()
    checkpoint.sync()
    assert take(iterator, 1) == [0]
    assert checkpoint.save_counter.numpy() == 0


def test_files_are_for_the_owner_only_and_nothing_else_is_left(tmp_path: Path) -> None:
    checkpoint = Checkpoint(it=iter(Dataset.range(3)))
    for _ in range(2):
        checkpoint.save(tmp_path / "ckpt")
    assert sorted(os.listdir(tmp_path)) == ["checkpoint", "ckpt-1.index", "ckpt-2.index"]
    for name in os.listdir(tmp_path):
        assert stat.S_IMODE((tmp_path / name).stat().st_mode) == 0o600


def test_a_save_that_fails_leaves_the_last_one_and_no_litter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    iterator = iter(Dataset.range(5))
    checkpoint = Checkpoint(it=iterator)
    path = checkpoint.write(tmp_path / "ckpt")
    take(iterator, 2)

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(sw.errors.DiskFull, match="no room"):
        checkpoint.write(path)
    with pytest.raises(sw.errors.DiskFull):
        checkpoint.save(path)
    monkeypatch.undo()
    assert os.listdir(tmp_path) == ["ckpt.index"]
    assert checkpoint.save_counter.numpy() == 0
    checkpoint.read(path)
    assert take(iterator, 1) == [0]


def test_a_path_without_a_checkpoint_is_not_found(tmp_path: Path) -> None:
    with pytest.raises(tf.errors.NotFoundError, match="Failed to find any matching files"):
        Checkpoint(it=iter(Dataset.range(2))).restore(str(tmp_path / "ckpt"))


def test_another_pipelines_checkpoint_is_refused(tmp_path: Path) -> None:
    path = Checkpoint(it=iter(Dataset.range(3))).save(str(tmp_path / "ckpt"))
    iterator = iter(Dataset.range(3).batch(2))
    with pytest.raises(tf.errors.NotFoundError, match="another pipeline"):
        Checkpoint(it=iterator).restore(path)
    assert values(iterator) == [[0, 1], [2]]


def test_every_damaged_byte_is_data_loss(tmp_path: Path) -> None:
    path = Checkpoint(it=iter(Dataset.range(3))).write(tmp_path / "ckpt")
    file = Path(path + ".index")
    whole = file.read_bytes()
    iterator = iter(Dataset.range(3))
    checkpoint = Checkpoint(it=iterator)
    damaged = [whole[:i] + bytes([whole[i] ^ 0x41]) + whole[i + 1 :] for i in range(len(whole))]
    cut = [whole[:i] for i in range(len(whole))]
    for content in [*damaged, *cut, whole + b"x", b"", b"garbage" * 20]:
        file.write_bytes(content)
        with pytest.raises(tf.errors.DataLossError) as caught:
            checkpoint.read(path)
        assert caught.value.file == str(file)
    assert values(iterator) == [0, 1, 2]


def test_a_hostile_file_with_a_true_checksum_is_refused(tmp_path: Path) -> None:
    import struct
    import zlib

    def write(body: bytes) -> None:
        content = struct.pack("<8sI", b"SPILLCKP", 1) + body
        checksum = struct.pack("<I", zlib.crc32(content))
        (tmp_path / "ckpt.index").write_bytes(content + checksum)

    entry = struct.pack("<I", 2) + b"it" + struct.pack("<Q", 3) + b"abc"
    chance = random.Random(3)
    bodies = [
        struct.pack("<I", 2**32 - 1), struct.pack("<II", 1, 2**32 - 1),
        struct.pack("<II", 1, 2) + b"it" + struct.pack("<Q", 2**64 - 1),
        struct.pack("<II", 1, 2) + b"\xff\xff" + struct.pack("<Q", 0),
        struct.pack("<I", 0) + entry, struct.pack("<I", 2) + entry,
        *[chance.randbytes(chance.randint(4, 60)) for _ in range(300)],
    ]  # fmt: skip
    checkpoint = Checkpoint(it=iter(Dataset.range(3)))
    for body in bodies:
        write(body)
        with pytest.raises(tf.errors.DataLossError):
            checkpoint.read(tmp_path / "ckpt")
    write(struct.pack("<I", 1) + entry)  # whole, but no position
    with pytest.raises(tf.errors.OpError):
        checkpoint.read(tmp_path / "ckpt")
    array = Checkpoint(it=Variable(0))
    with pytest.raises(tf.errors.DataLossError, match="it must hold an array"):
        array.read(tmp_path / "ckpt")


def test_an_array_is_never_unpickled(tmp_path: Path) -> None:
    import io

    from spillway.tf.train import checkpoint_file

    out = io.BytesIO()
    np.save(out, np.array([print], object), allow_pickle=True)
    checkpoint_file.write(str(tmp_path / "ckpt"), {"v": out.getvalue()})
    with pytest.raises(tf.errors.DataLossError, match="v must hold an array"):
        Checkpoint(v=Variable(0)).read(tmp_path / "ckpt")


@pytest.mark.parametrize("content", [b"", b"nonsense", b"\xff\xfe", b'model_checkpoint_path: "x'])
def test_a_state_file_that_cannot_be_read_is_ignored_aloud(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "checkpoint").write_bytes(content)
    with pytest.warns(UserWarning, match="ignored"):
        assert tf.train.latest_checkpoint(tmp_path) is None
    (tmp_path / "checkpoint").write_text('model_checkpoint_path: "gone-1"\n')
    with pytest.warns(UserWarning, match="Couldn't match files"):
        assert tf.train.latest_checkpoint(tmp_path) is None


def test_odd_names_and_foreign_paths_come_back_from_the_state_file(tmp_path: Path) -> None:
    from spillway.tf.train import state_file

    odd = str(tmp_path / 'é "quoted" \\ back')
    outside = "/elsewhere/ckpt-1"
    state_file.update(
        str(tmp_path), state_file.CheckpointState(odd, [odd, outside], [1.5, 2.0], 0.5)
    )
    got = tf.train.get_checkpoint_state(tmp_path)
    assert got == state_file.CheckpointState(odd, [odd, outside], [1.5, 2.0], 0.5)


# ---- The manager


def test_a_manager_keeps_the_last_ones(tmp_path: Path) -> None:
    iterator = iter(Dataset.range(9))
    manager = tf.train.CheckpointManager(Checkpoint(it=iterator), tmp_path, max_to_keep=2)
    assert manager.latest_checkpoint is None and manager.checkpoints == []
    paths = []
    for _ in range(3):
        take(iterator, 1)
        paths.append(manager.save())
    assert paths == [f"{tmp_path}/ckpt-{i}" for i in (1, 2, 3)]
    assert manager.checkpoints == paths[1:] and manager.latest_checkpoint == paths[2]
    assert sorted(os.listdir(tmp_path)) == ["checkpoint", "ckpt-2.index", "ckpt-3.index"]
    fresh = iter(Dataset.range(9))
    again = tf.train.CheckpointManager(Checkpoint(it=fresh), str(tmp_path), max_to_keep=2)
    assert again.checkpoints == paths[1:] and again.directory == str(tmp_path)
    assert again.restore_or_initialize() == paths[2]
    assert take(fresh, 1) == [3]
    assert again.save() == f"{tmp_path}/ckpt-4"
    assert again.checkpoints == [paths[2], f"{tmp_path}/ckpt-4"]
    assert again.save(checkpoint_number=77) == f"{tmp_path}/ckpt-77"
    assert tf.train.latest_checkpoint(tmp_path) == f"{tmp_path}/ckpt-77"
    again.sync()


def test_a_manager_never_deletes_outside_of_its_folder(tmp_path: Path) -> None:
    victim, folder = tmp_path / "victim.index", tmp_path / "folder"
    victim.write_text("mine")
    folder.mkdir()
    (folder / "checkpoint").write_text(
        'model_checkpoint_path: "ckpt-1"\n'
        'all_model_checkpoint_paths: "../victim"\n'
        f'all_model_checkpoint_paths: "{tmp_path}/victim"\n'
        "all_model_checkpoint_timestamps: 10.0\nall_model_checkpoint_timestamps: 11.0\n"
        "last_preserved_timestamp: 5.0\n"
    )
    manager = tf.train.CheckpointManager(Checkpoint(), folder, max_to_keep=1)
    assert manager.checkpoints == []
    for _ in range(3):
        manager.save()
    assert victim.read_text() == "mine"


def test_a_manager_waits_for_its_interval(tmp_path: Path) -> None:
    step = Variable(0)
    manager = tf.train.CheckpointManager(
        Checkpoint(step=step), tmp_path, None, step_counter=step, checkpoint_interval=2
    )
    assert manager.checkpoint_interval == 2
    saved = []
    for number in range(5):
        step.assign(number)
        saved.append(manager.save() is not None)
    assert saved == [True, False, True, False, True]
    step.assign(5)
    assert manager.save(check_interval=False) is not None
    assert manager.save(check_interval=False) is None  # the same step


def test_a_manager_initializes_when_there_is_nothing(tmp_path: Path) -> None:
    called: list[int] = []
    manager = tf.train.CheckpointManager(
        Checkpoint(), tmp_path, 1, checkpoint_name="model", init_fn=lambda: called.append(1)
    )
    assert manager.restore_or_initialize() is None and called == [1]
    assert manager.save() == f"{tmp_path}/model-1"


def test_a_manager_keeps_one_in_so_many_hours_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import time

    now = [1_000_000.0]
    monkeypatch.setattr(time, "time", lambda: now[0])
    manager = tf.train.CheckpointManager(
        Checkpoint(), tmp_path, max_to_keep=1, keep_checkpoint_every_n_hours=2
    )
    for _ in range(5):
        now[0] += 3600
        manager.save()
    kept = sorted(name for name in os.listdir(tmp_path) if name.endswith(".index"))
    assert kept == ["ckpt-2.index", "ckpt-4.index", "ckpt-5.index"]


def test_a_manager_refuses_what_makes_no_sense(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="positive integer"):
        tf.train.CheckpointManager(Checkpoint(), tmp_path, max_to_keep=0)
    with pytest.raises(ValueError, match="`step_counter` should be passed"):
        tf.train.CheckpointManager(Checkpoint(), tmp_path, 1, checkpoint_interval=2)


@pytest.mark.parametrize("stage", ["cache", "unique", "ignore_errors"])
def test_a_symbolic_checkpoint_is_refused_where_tensorflow_has_none(
    stage: str, tmp_path: Path
) -> None:
    options = tf.data.Options()
    options.experimental_symbolic_checkpoint = True
    ds: Any = getattr(tf.data.Dataset.range(4), stage)()
    it = iter(ds.with_options(options))
    next(it)
    with pytest.raises(tf.errors.UnimplementedError, match="does not support symbolic"):
        tf.train.Checkpoint(it=it).save(tmp_path / "refused")
    plain = iter(ds)
    next(plain)
    tf.train.Checkpoint(it=plain).save(tmp_path / "saved")


def test_state_outside_of_the_pipeline_is_refused_where_that_is_chosen(tmp_path: Path) -> None:
    options = tf.data.Options()
    policy = tf.data.experimental.ExternalStatePolicy
    ds: Any = tf.data.Dataset.range(4).map(lambda x: tf.py_function(lambda v: v, [x], tf.int64))
    for chosen in (None, policy.WARN, policy.IGNORE):
        if chosen is not None:
            options.experimental_external_state_policy = chosen
        tf.train.Checkpoint(it=iter(ds.with_options(options))).save(tmp_path / "saved")
    options.experimental_external_state_policy = policy.FAIL
    with pytest.raises(tf.errors.FailedPreconditionError, match="is stateful"):
        tf.train.Checkpoint(it=iter(ds.with_options(options))).save(tmp_path / "refused")
