"""`assay import` on Chakra execution traces: protobuf as Google's library writes it, and what PyTorch writes."""

import json
import os
import pathlib
import subprocess

import pytest
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

PYTHON = pathlib.Path(os.environ.get("ASSAY_ENVIRONMENTS", "none")) / "pytorch-2.13.0" / "bin" / "python"
COMP_NODE, COMM_COLL_NODE = 4, 7
ALL_REDUCE, ALL_GATHER = 0, 2

OBSERVE = """
import sys, torch
net = torch.nn.Linear(8, 4)
best = torch.optim.SGD(net.parameters(), lr=0.1)
observer = torch.profiler.ExecutionTraceObserver()
observer.register_callback(sys.argv[1])
observer.start()
torch.nn.functional.cross_entropy(net(torch.randn(2, 8)), torch.randint(4, (2,))).backward()
best.step()
observer.stop()
observer.unregister_callback()
"""


def field(message, name, number, kind, label=1, type_name=None):
    message.field.add(name=name, number=number, type=kind, label=label, type_name=type_name)


@pytest.fixture(scope="module")
def schema():
    """The messages of et_def.proto that a trace consists of, with their numbers there."""
    text, whole, truth, repeated = 9, 4, 8, 3
    signed, nested, enumerated = 3, 11, 14
    file = descriptor_pb2.FileDescriptorProto(name="et_def.proto", package="ChakraProtoMsg", syntax="proto3")
    kinds = file.enum_type.add(name="NodeType")
    for name, number in [("INVALID_NODE", 0), ("COMP_NODE", COMP_NODE), ("COMM_COLL_NODE", COMM_COLL_NODE)]:
        kinds.value.add(name=name, number=number)
    attribute = file.message_type.add(name="AttributeProto")
    field(attribute, "name", 1, text)
    attribute.oneof_decl.add(name="value")
    for name, number, kind in [("int64_val", 9, signed), ("bool_val", 27, truth), ("string_val", 29, text)]:
        attribute.field.add(name=name, number=number, type=kind, label=1, oneof_index=0)
    metadata = file.message_type.add(name="GlobalMetadata")
    field(metadata, "version", 1, text)
    field(metadata, "attr", 2, nested, repeated, ".ChakraProtoMsg.AttributeProto")
    inputs = file.message_type.add(name="IOInfo")
    field(inputs, "values", 1, text)
    node = file.message_type.add(name="Node")
    field(node, "id", 1, whole)
    field(node, "name", 2, text)
    field(node, "type", 3, enumerated, type_name=".ChakraProtoMsg.NodeType")
    field(node, "ctrl_deps", 4, whole, repeated)
    field(node, "data_deps", 5, whole, repeated)
    field(node, "duration_micros", 7, whole)
    field(node, "inputs", 8, nested, type_name=".ChakraProtoMsg.IOInfo")
    field(node, "attr", 10, nested, repeated, ".ChakraProtoMsg.AttributeProto")
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    names = ("GlobalMetadata", "Node", "AttributeProto")
    return {n: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"ChakraProtoMsg.{n}")) for n in names}


def delimited(messages):
    out = b""
    for message in messages:
        body = message.SerializeToString()
        size = len(body)
        while size >= 0x80:
            out += bytes([size & 0x7F | 0x80])
            size >>= 7
        out += bytes([size]) + body
    return out


def comp(schema, number, name, micros, data=(), parent=None, values=None, **attributes):
    node = schema["Node"](id=number, name=name, type=COMP_NODE, duration_micros=micros, data_deps=list(data))
    if parent is not None:
        node.ctrl_deps.append(parent)
    if values is not None:
        node.inputs.values = values
    for key, value in attributes.items():
        node.attr.add(name=key, **({"bool_val": value} if isinstance(value, bool) else {"int64_val": value}))
    return node


def coll(schema, number, size, kind, data):
    node = schema["Node"](id=number, name=f"coll{number}", type=COMM_COLL_NODE, data_deps=list(data))
    node.attr.add(name="comm_type", int64_val=kind)
    node.attr.add(name="comm_size", int64_val=size)
    return node


def imported(assay, validate, place, messages):
    (place / "step.et").write_bytes(delimited(messages))
    return validate(json.loads(assay("import", "step.et", "--batch", "4", "-o", "l.json", "--json").stdout), "layers")


def test_layers_and_collectives_of_a_protobuf_trace(assay, validate, schema, tmp_path):
    """As Chakra's converter of text writes a data-parallel step; forward is gathered once, which is no gradient."""
    nodes = [
        schema["GlobalMetadata"](version="0.0.4", attr=[schema["AttributeProto"](name="x", string_val="y" * 300)]),
        comp(schema, 0, "COMP_NODE_conv_FWD", 300),
        coll(schema, 1, 777, ALL_REDUCE, [0]),
        comp(schema, 2, "COMP_NODE_fc_FWD", 100, [0]),
        comp(schema, 3, "COMP_NODE_fc_BWD_WG", 110, [2]),
        coll(schema, 4, 4_000_000, ALL_REDUCE, [3]),
        comp(schema, 5, "COMP_NODE_fc_BWD_IG", 90, [3]),
        coll(schema, 6, 555, ALL_GATHER, [5]),
        comp(schema, 7, "COMP_NODE_conv_BWD_WG", 650, [5]),
        coll(schema, 8, 9_000, ALL_REDUCE, [7]),
    ]
    conv, fc = imported(assay, validate, tmp_path, nodes)["layers"]
    assert conv["forward_seconds"] == pytest.approx(300e-6) and conv["backward_seconds"] == pytest.approx(650e-6)
    assert fc["forward_seconds"] == pytest.approx(100e-6) and fc["backward_seconds"] == pytest.approx(200e-6)
    assert conv["gradient_bytes"] == [9_000] and fc["gradient_bytes"] == [4_000_000]
    (tmp_path / "c.yaml").write_text("nodes: 2\nacross: {latency: 1 us, bandwidth: 1 GB/s}\nslow_down: 1\n")
    asked = ["predict", "mine", "--cluster", "c.yaml", "--layers", "l.json", "--devices", "1", "--json"]
    assert json.loads(assay(*asked).stdout)["points"][0]["step"]["seconds"] == pytest.approx(1250e-6)


def test_a_converted_trace_of_pytorch(assay, validate, schema, tmp_path):
    """Kernels count in place of operators, and gradients are those that autograd accumulated."""
    cpu = {"is_cpu_op": True}
    nodes = [
        schema["GlobalMetadata"](version="0.0.4"),
        comp(schema, 2, "[pytorch|profiler|execution_trace|thread]", 0, scope=7, **cpu),
        comp(schema, 3, "aten::linear", 50, parent=2, seq_id=5, **cpu),
        comp(schema, 4, "aten::addmm", 40, parent=3, seq_id=6, **cpu),
        comp(schema, 5, "sgemm", 1000, parent=4, is_cpu_op=False),
        comp(schema, 6, "autograd::engine::evaluate_function: AddmmBackward0", 9, parent=2, **cpu),
        comp(schema, 7, "AddmmBackward0", 8, parent=6, seq_id=6, scope=1, **cpu),
        comp(schema, 8, "sgemm", 2000, parent=7, is_cpu_op=False),
        comp(schema, 9, "autograd::engine::evaluate_function: torch::autograd::AccumulateGrad", 1, parent=2, **cpu),
        comp(schema, 10, "torch::autograd::AccumulateGrad", 1, parent=9, scope=1,
             values="[[104, 95, 0, 64, 4, 'cuda:0']]", **cpu),
        coll(schema, 11, 999, ALL_REDUCE, [8]),
    ]  # fmt: skip
    [layer] = imported(assay, validate, tmp_path, nodes)["layers"]
    assert layer["name"] == "3 aten::linear"
    assert layer["forward_seconds"] == pytest.approx(1e-3) and layer["backward_seconds"] == pytest.approx(2e-3)
    assert layer["gradient_bytes"] == [256]


@pytest.mark.skipif(not PYTHON.exists(), reason="the worker pytorch is not installed")
def test_what_pytorch_writes_needs_durations(assay, validate, tmp_path):
    """Refused as it is; with durations, as chakra_trace_link adds them, it is the linear layer and the loss."""
    path = tmp_path / "step.json"
    subprocess.run([PYTHON, "-c", OBSERVE, path], capture_output=True, text=True, timeout=300, check=True)
    told = assay("import", "step.json", "--batch", "2", code=1).stderr
    assert "step.json: no node has a duration" in told and "chakra_trace_link" in told
    trace = json.loads(path.read_text())
    for node in trace["nodes"]:
        node["exclusive_dur"] = 10
    path.write_text(json.dumps(trace))
    table = validate(json.loads(assay("import", "step.json", "--batch", "2", "--json").stdout), "layers")
    linear, loss = table["layers"]
    assert linear["name"].endswith("aten::linear") and loss["name"].endswith("aten::cross_entropy_loss")
    assert sorted(linear["gradient_bytes"]) == [4 * 4, 4 * 4 * 8] and loss["gradient_bytes"] == []
    assert table["update_seconds"] > 0


def test_bytes_that_are_cut_off_are_refused(assay, schema, tmp_path):
    whole = delimited([schema["GlobalMetadata"](version="0.0.4"), comp(schema, 1, "a_fwd", 5)])
    (tmp_path / "step.et").write_bytes(whole[:-2])
    told = assay("import", "step.et", "--batch", "1", code=1).stderr
    assert "step.et: this is neither JSON nor a Chakra trace" in told
