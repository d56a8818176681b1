"""Writes TorchScript files for test_libtorch_files.py and test_matrix.py; run by an interpreter that has torch."""

import pathlib
import sys
import warnings

import torch

warnings.simplefilter("ignore")  # that TorchScript is old


class Words(torch.nn.Module):
    """Integers and real values in, two tensors out; a buffer of integers."""

    def __init__(self):
        super().__init__()
        self.table = torch.nn.Embedding(2, 4)
        self.register_buffer("shift", torch.tensor([1]))

    def forward(self, tokens: torch.Tensor, scale: torch.Tensor):
        return self.table((tokens + self.shift) % 2) * scale, scale


class Fixed(torch.nn.Module):
    """Nothing to train."""

    def forward(self, x):
        return torch.relu(x)


class Marked(torch.nn.Module):
    """Fails unless the input is a float image of the given size and order of dimensions."""

    def __init__(self, dtype: torch.dtype, channels_last: bool):
        super().__init__()
        self.dtype, self.channels_last = dtype, channels_last
        self.conv = torch.nn.Conv2d(3, 4, 3)

    def forward(self, x):
        assert x.shape == [2, 3, 8, 9]
        assert x.dtype == self.dtype and self.conv.weight.dtype == self.dtype
        assert (x.stride(1) == 1) == self.channels_last and (self.conv.weight.stride(1) == 1) == self.channels_last
        return self.conv(x)


def main():
    folder = pathlib.Path(sys.argv[1])
    modules = {
        "linear": torch.nn.Linear(4, 3),
        "words": Words(),
        "fixed": Fixed(),
        "fp32": Marked(torch.float32, False),
        "bf16": Marked(torch.bfloat16, False),
        "nhwc": Marked(torch.float32, True),
    }
    for name, module in modules.items():
        torch.jit.script(module).save(str(folder / (name + ".pt")))


if __name__ == "__main__":
    main()
