"""Where and in which precision tensors lie, and how one waits until the device is idle."""

import assay_worker
import torch

PRECISIONS = {"fp32": torch.float32, "bf16": torch.bfloat16}


class Device:
    """Moves modules and tensors; `wait()` returns when the device is idle."""

    def __init__(self, prepare):
        kind = prepare.placement.get("device") or "cpu"
        if kind not in ("cpu", "cuda"):
            raise assay_worker.Refused("device '%s' is unknown here. There is cpu and cuda." % kind)
        if kind == "cuda" and not torch.cuda.is_available():
            raise assay_worker.Refused("device cuda: torch %s finds no GPU here." % torch.__version__)
        precision = prepare.workload["precision"]
        is_network = prepare.graph is not None or prepare.file is not None
        known = PRECISIONS if is_network else {**PRECISIONS, "int8": torch.int8}
        if precision not in known:
            raise assay_worker.Refused(
                "precision '%s' is unknown here. There is %s." % (precision, " and ".join(known))
            )
        self.kind, self.dtype = kind, known[precision]
        self.wait = torch.cuda.synchronize if kind == "cuda" else _nothing
        self._channels_last = prepare.settings.get("layout") == "nhwc"

    def move_module(self, module):
        module.to(self.kind, self.dtype)
        return module.to(memory_format=torch.channels_last) if self._channels_last else module

    def move_inputs(self, inputs):
        """Real values take the precision, integers stay."""
        moved = [x.to(self.kind, self.dtype if x.is_floating_point() else None) for x in inputs]
        if self._channels_last:
            moved = [x.contiguous(memory_format=torch.channels_last) if x.dim() == 4 else x for x in moved]
        return moved


def layout_of(inputs):
    """nchw or nhwc as the strides of the first image say; None where no input is an image."""
    for x in inputs:
        if x.dim() == 4:
            return "nhwc" if x.stride(1) == 1 and not x.is_contiguous() else "nchw"
    return None


def is_out_of_memory(error):
    """torch raises a plain RuntimeError when the CPU's memory is used up."""
    text = str(error)
    wants = ("DefaultCPUAllocator", "not enough memory", "std::bad_alloc")
    return isinstance(error, torch.OutOfMemoryError) or any(part in text for part in wants)


def _nothing():
    pass
