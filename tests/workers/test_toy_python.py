"""The Python loop, by the toy worker that uses it."""


def test_what_a_framework_prints_goes_to_stderr(start):
    worker = start("toy_python")
    assert worker.prepare()["type"] == "prepared"
    assert worker.measure(max_samples=2)["type"] == "done"
    assert worker.close() == 0
    stderr = worker.kill()
    assert b"greets on stdout" in stderr and b"writes to descriptor 1" in stderr


def test_parameters_are_what_was_built(start):
    assert start("toy_python").prepare(options={"width": 5})["parameters"] == 5 * 5 + 5


def test_an_exception_becomes_an_error_with_its_text(start):
    worker = start("toy_python")
    worker.prepare(options={"fail_after": 3})
    assert len(worker.measure(max_samples=3)["ns"]) == 3
    answer = worker.measure(max_samples=3)
    assert answer["kind"] == "failed" and "told to fail here" in answer["message"]
    assert worker.read_line() is None
