"""A user's own network in workers/pytorch: `file.py:function`, good and bad."""

import hashlib
import textwrap

import pytest

GOOD = """
    import torch
    from helper import HIDDEN

    class Net(torch.nn.Module):
        def __init__(self, width):
            super().__init__()
            self.first = torch.nn.Linear(width, HIDDEN)
            self.second = torch.nn.Linear(HIDDEN, 3)
            self.width = width

        def forward(self, x):
            return self.second(torch.relu(self.first(x)))

        def example_input(self, batch):
            return torch.randn(batch, self.width)

    def net(width=4):
        return Net(width)

    def pair(width=4):
        return Net(width), lambda batch: torch.randn(batch, width)

    def two_inputs():
        class Product(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.scale = torch.nn.Parameter(torch.ones(1))

            def forward(self, a, b):
                return {"product": self.scale * a * b}
        make_input = lambda batch: (torch.randn(batch, 5), torch.randn(batch, 5))
        return Product(), make_input, lambda out: out["product"].mean()

    def no_loss():
        return two_inputs()[:2]

    def no_input():
        return torch.nn.Linear(2, 2)

    def plain():
        return torch.matmul, lambda batch: (torch.randn(batch, 5), torch.randn(5, 2))

    def number():
        return 42

    def not_callable():
        return torch.nn.Linear(2, 2), 3

    def bad_input():
        return torch.nn.Linear(2, 2), lambda batch: [1, 2]

    def raises():
        raise ValueError("the user's own mistake")

    constant = 5
"""


@pytest.fixture
def ask(start, tmp_path):
    """Prepares one function of the file; the answer and the worker."""
    (tmp_path / "helper.py").write_text("HIDDEN = 6\n")

    def asked(function, text=GOOD, hashed=None, file="settings.py", **more):
        path = tmp_path / file  # called like a module of the worker's own
        path.write_text(textwrap.dedent(text))
        digest = hashed or hashlib.sha256(path.read_bytes()).hexdigest()[:32]
        worker = start("pytorch")
        given = {"path": str(path), "function": function, "hash": digest}
        answer = worker.prepare(network="%s:%s" % (path, function), file=given, seconds=60, **more)
        return answer, worker

    return asked


def refused(answer, *parts):
    assert (answer["type"], answer["kind"]) == ("error", "refused"), answer
    for part in parts:
        assert part in answer["message"]


@pytest.mark.parametrize("mode", ["infer", "train"])
@pytest.mark.parametrize("function", ["net", "pair"])
def test_a_function_that_returns_a_module(ask, function, mode):
    """Options reach the function: width 7 gives 7*6 + 6 + 6*3 + 3 parameters."""
    answer, worker = ask(function, options={"width": 7}, mode=mode)
    assert answer["parameters"] == 7 * 6 + 6 + 6 * 3 + 3, answer
    assert len(worker.measure(max_samples=3)["ns"]) == 3
    phases = worker.measure(detail="phases", max_samples=3)["phases"]
    assert set(phases) == ({"forward", "backward", "update"} if mode == "train" else {"forward"})
    refused(worker.measure(detail="layers"), "layers", "user's network")


def test_several_inputs_and_a_loss_of_its_own(ask):
    answer, worker = ask("two_inputs", mode="train", precision="bf16")
    assert answer["parameters"] == 1
    assert len(worker.measure(max_samples=2)["ns"]) == 2


def test_an_output_that_is_no_tensor_needs_a_loss(ask):
    answer, worker = ask("no_loss", mode="train")
    assert answer["type"] == "prepared"
    refused(worker.measure(max_samples=1), "dict", "loss")


def test_any_function_of_tensors_can_be_measured(ask):
    answer, worker = ask("plain")
    assert answer["parameters"] == 0, answer
    assert len(worker.measure(max_samples=2)["ns"]) == 2
    refused(ask("plain", mode="train")[0], "no parameters to train")


def test_a_refusal_shows_how_such_a_function_is_written(ask, tmp_path):
    """The template is code that works: it is taken from the message and measured."""
    answer, _ = ask("number")
    refused(answer, "For example:")
    template = answer["message"].split("For example:\n")[1]
    assert len(template.splitlines()) == 5
    answer, worker = ask("number", text=template)
    assert answer["parameters"] == 64 * 10 + 10, answer
    assert len(worker.measure(max_samples=2)["ns"]) == 2


CASES = {
    "no_input": ("no_input", "example_input"),
    "number": ("number", "int"),
    "no function in the tuple": ("not_callable", "not a function"),
    "input that is no tensor": ("bad_input", "list"),
    "missing": ("banana", "banana"),
    "constant": ("constant", "constant"),
}


@pytest.mark.parametrize("case", CASES)
def test_what_is_not_as_expected_is_refused(ask, case):
    function, part = CASES[case]
    refused(ask(function)[0], part, "settings.py")


def test_an_option_the_function_does_not_take(ask):
    refused(ask("net", options={"banana": 1})[0], "banana")


def test_a_changed_file_is_refused(ask):
    refused(ask("net", hashed="0" * 32)[0], "has changed", "settings.py")


def test_a_layout_without_images_is_refused(ask):
    refused(ask("net", settings={"layout": "nhwc"})[0], "layout")


WRONG = [
    ("raises", GOOD, "the user's own mistake"),
    ("net", "import no_such_module\n", "no_such_module"),
    ("net", "def", "syntax"),
]


@pytest.mark.parametrize("function, text, part", WRONG)
def test_an_exception_in_the_users_code_has_failed_with_its_traceback(ask, function, text, part):
    answer, worker = ask(function, text=text)
    assert answer["kind"] == "failed" and part in answer["message"]
    assert worker.read_line() is None
    assert b"settings.py" in worker.kill()
