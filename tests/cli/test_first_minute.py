"""model_onnx.transcript comes true where ONNX Runtime is installed, function.transcript and template.transcript where
PyTorch is; first_minute.test has known numbers."""

import subprocess

from test_changed import ENVIRONMENTS, python_of
from test_cli import HERE, follow

# Short runs of the same commands: variables take the place of flags.
SHORT = {"ASSAY_SECONDS": "100ms", "ASSAY_WARMUP": "0", "ASSAY_NO_PEAK": "1", "ASSAY_RETRIES": "0"}
WRITE = """
from onnx import TensorProto, helper, save
for name, batch in (("model", "n"), ("fixed", 8)):
    ends = [helper.make_tensor_value_info(end, TensorProto.FLOAT, [batch, 4096]) for end in "xy"]
    graph = helper.make_graph([helper.make_node("Softmax", ["x"], ["y"])], "g", ends[:1], ends[1:])
    save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), name + ".onnx")
"""


def test_the_first_minute_with_a_file_of_ones_own(tmp_path):
    subprocess.run([python_of("onnxruntime"), "-c", WRITE], cwd=tmp_path, check=True, timeout=120)
    follow(HERE / "model_onnx.transcript", tmp_path, ASSAY_ENVIRONMENTS=str(ENVIRONMENTS), **SHORT)


def test_the_first_minute_with_a_function_of_ones_own(tmp_path):
    python_of("pytorch")
    follow(HERE / "function.transcript", tmp_path, ASSAY_ENVIRONMENTS=str(ENVIRONMENTS), **SHORT)


def test_a_function_that_cannot_be_measured_is_answered_by_a_template(tmp_path):
    python_of("pytorch")
    follow(HERE / "template.transcript", tmp_path, ASSAY_ENVIRONMENTS=str(ENVIRONMENTS), **SHORT)
