"""Files that are no models, are damaged, or want to do harm: refused, and nothing is run."""

import io
import json
import os
import pickle
import zipfile

import numpy as np
import pytest
import scipy.sparse as sp
import skops.io

import mercer as mc
from mercer.errors import InvalidFile
from mercer.persistence.container import pack


@pytest.fixture
def model(tmp_path):
    """A model file that is sound."""
    X = np.linspace(0, 1, 12).reshape(6, 2)
    path = tmp_path / "m.mercer"
    mc.save(mc.KernelRidge("gaussian(0.5)", 0.1).fit(X, X[:, 0]), path)
    return path


def body_of(path):
    """The text of a model file, and its arrays."""
    text, *arrays = skops.io.load(path, trusted=[])
    return json.loads(text), arrays


def written(path, body, arrays):
    with path.open("wb") as file:
        pack(json.dumps(body), arrays, file)
    return path


class Harm:
    """An object that runs a command when pickle or skops builds it."""

    def __reduce__(self):
        return os.system, ("touch harmed",)


def test_a_sound_file_is_read(model):
    assert mc.load(model).predict([[0.0, 0.1]]).shape == (1,)


@pytest.mark.parametrize(
    "content", [b"", b"no model", b"PK\x03\x04 and nothing else", b"\0" * 99]
)
def test_what_is_no_model_is_refused(content, tmp_path):
    path = tmp_path / "x.mercer"
    path.write_bytes(content)
    with pytest.raises(InvalidFile, match=r"x\.mercer.*not a model"):
        mc.load(path)


def test_what_is_not_there_is_told(tmp_path):
    for path in (tmp_path / "none.mercer", tmp_path):
        with pytest.raises(InvalidFile, match="cannot be read"):
            mc.load(path)


def test_a_pickle_is_not_loaded(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x.mercer").write_bytes(pickle.dumps(Harm()))
    with pytest.raises(InvalidFile):
        mc.load(tmp_path / "x.mercer")
    assert not (tmp_path / "harmed").exists()


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9, 0.999])
def test_a_truncated_file_is_refused(model, share):
    content = model.read_bytes()
    model.write_bytes(content[: int(share * len(content))])
    with pytest.raises(InvalidFile):
        mc.load(model)


def test_no_flipped_byte_does_more_than_raise_or_change_numbers(model, rng):
    content = bytearray(model.read_bytes())
    for at in rng.integers(0, len(content), size=150):
        spoiled = content.copy()
        spoiled[at] ^= 0xFF
        model.write_bytes(spoiled)
        try:
            mc.load(model)
        except InvalidFile:
            continue


HOSTILE = {
    "a function": os.system,
    "an object that reduces to a call": Harm(),
    "a class": zipfile.ZipFile,
    "a function of numpy": np.fromfile,
    "a kernel": mc.Gaussian(),
    "a machine": mc.KernelRidge(),
    "an array of objects": np.array([1, "a"], dtype=object),
    "a dict": {"a": 1},
}


@pytest.mark.parametrize("name", HOSTILE)
def test_what_skops_could_build_and_a_model_does_not_need_is_refused(
    name, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    data = skops.io.dumps(["text", HOSTILE[name]])
    (tmp_path / "x.mercer").write_bytes(data)
    with pytest.raises(InvalidFile, match=r"refused|cannot be read"):
        mc.load("x.mercer")
    assert [found.name for found in tmp_path.iterdir()] == ["x.mercer"]


def forged(path, change):
    """The file with its scheme changed."""
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    scheme = json.loads(parts["schema.json"])
    change(scheme)
    parts["schema.json"] = json.dumps(scheme).encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, part in parts.items():
            archive.writestr(name, part)
    return path


@pytest.mark.parametrize(
    ("loader", "module", "kind"),
    [
        ("FunctionNode", "os", "system"),
        ("ObjectNode", "subprocess", "Popen"),
        ("TypeNode", "builtins", "eval"),
        ("MethodNode", "builtins", "str"),
        ("OperatorFuncNode", "operator", "call"),
        ("NdArrayNode", "os", "system"),
        ("JsonNode", "os", "system"),
    ],
)
def test_a_scheme_that_names_other_things_is_refused_before_skops_sees_it(
    loader, module, kind, model, monkeypatch
):
    def change(scheme):
        scheme["content"][1] |= {
            "__loader__": loader,
            "__module__": module,
            "__class__": kind,
            "content": "touch harmed",
        }

    def unseen(*_, **__):
        raise AssertionError("skops was asked")

    forged(model, change)
    monkeypatch.setattr(skops.io, "load", unseen)
    with pytest.raises(InvalidFile, match=f"{module}.{kind}"):
        mc.load(model)


def test_a_compressed_file_is_refused(model):
    with zipfile.ZipFile(model) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(model, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, part in parts.items():
            archive.writestr(name, part)
    with pytest.raises(InvalidFile, match="compressed"):
        mc.load(model)


def test_a_zip_bomb_is_refused_at_once(model):
    with zipfile.ZipFile(model, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("bomb.npy", b"\0" * 50_000_000)
    assert model.stat().st_size < 100_000
    with pytest.raises(InvalidFile, match="compressed"):
        mc.load(model)


def test_an_array_that_claims_to_be_huge_is_refused(model):
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        header, {"descr": "<f8", "fortran_order": False, "shape": (10**12,)}
    )
    with zipfile.ZipFile(model, "a") as archive:
        archive.writestr("huge.npy", header.getvalue() + b"\0" * 64)
    with pytest.raises(InvalidFile, match="claims the shape"):
        mc.load(model)


def test_an_array_of_objects_is_refused(model):
    stream = io.BytesIO()
    np.save(stream, np.array([Harm()], dtype=object), allow_pickle=True)
    with zipfile.ZipFile(model, "a") as archive:
        archive.writestr("object.npy", stream.getvalue())
    with pytest.raises(InvalidFile, match="holds object"):
        mc.load(model)


def test_parts_of_one_name_are_refused(model):
    with pytest.warns(UserWarning, match="Duplicate"), zipfile.ZipFile(model, "a") as archive:
        archive.writestr("schema.json", "{}")
    with pytest.raises(InvalidFile, match="one name"):
        mc.load(model)


# A container that is sound, with a text that is not


def test_a_file_of_skops_that_is_no_model_is_refused(tmp_path):
    for text in ("hello", "[]", "{}", '{"what": "another"}', "[" * 100_000):
        with (tmp_path / "x.mercer").open("wb") as file:
            pack(text, [], file)
        with pytest.raises(InvalidFile, match="no model"):
            mc.load(tmp_path / "x.mercer")


def change_learned(name, value):
    def change(body, arrays):
        body["machine"]["learned"][name] = value

    return change


def change_machine(name):
    def change(body, arrays):
        body["machine"]["is"] = name

    return change


def change_kernel(body, arrays):
    body["machine"]["learned"]["kernel_"] = {
        "is": "kernel", "word": "gaussian", "fields": {"scale": -1.0, "metric": None},
    }  # fmt: skip


def change_numbers(body, arrays):
    arrays[:] = [a * np.nan if a.dtype.kind == "f" else a for a in arrays]


UNSOUND = {
    "a machine that there is not": change_machine("Popen"),
    "a value as a machine": change_machine("Plan"),
    "a class by its module": change_learned("x_", {"is": "os.system", "of": ["touch harmed"]}),
    "a word that is no kernel": change_learned(
        "x_", {"is": "kernel", "word": "from_function", "fields": {}}
    ),
    "a method": change_learned("predict", 1),
    "a class for the machine": change_learned("__class__", 1),
    "a parameter that there is not": lambda body, arrays: body["machine"]["parameters"].update(
        shell=True
    ),
    "an array that there is not": change_learned("x_", {"is": "array", "at": 99}),
    "an array counted from the end": change_learned("x_", {"is": "array", "at": -1}),
    "a reference to nothing": change_learned("x_", {"is": "same", "as": 1000}),
    "a negative length": change_kernel,
    "coefficients that are no numbers": change_numbers,
    "labels out of range": change_learned(
        "x_",
        {"is": "CategoryBatch", "fields": {"codes": {"is": "array", "at": 0}, "levels": []}},
    ),
    "nothing": lambda body, arrays: body.clear(),
    "no machine": lambda body, arrays: body.pop("machine"),
}


@pytest.mark.parametrize("name", UNSOUND)
def test_a_text_that_asks_for_what_is_not_allowed_is_refused(name, model, monkeypatch):
    monkeypatch.chdir(model.parent)
    body, arrays = body_of(model)
    UNSOUND[name](body, arrays)
    with pytest.raises(InvalidFile):
        mc.load(written(model, body, arrays))
    assert [found.name for found in model.parent.iterdir()] == ["m.mercer"]


def test_a_text_too_deep_to_be_read_is_refused(model):
    body, arrays = body_of(model)
    body["machine"]["learned"]["x_"] = "HERE"
    deep = '{"is": "tuple", "of": [' * 900 + "0" + "]}" * 900
    with model.open("wb") as file:
        pack(json.dumps(body).replace('"HERE"', deep), arrays, file)
    with pytest.raises(InvalidFile):
        mc.load(model)


def test_indices_of_a_sparse_matrix_are_checked_before_a_loop_trusts_them(tmp_path):
    X = sp.csr_array(np.eye(4))
    path = tmp_path / "m.mercer"
    mc.save(mc.KernelRidge("linear", 0.1).fit(X, np.arange(4.0)), path)
    body, arrays = body_of(path)
    for at, array in enumerate(arrays):
        if array.dtype == np.int32 and array.tolist() == sorted(array.tolist()):
            arrays[at] = array + 10**6
    with pytest.raises(InvalidFile):
        mc.load(written(path, body, arrays))
