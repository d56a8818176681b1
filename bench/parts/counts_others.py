"""Counts networks as others wrote them; the last line is JSON. bench/counts starts it in PyTorch's environment."""

import importlib
import json
import sys
import types

import torch
from torch.utils.flop_counter import FlopCounterMode

TOKENS = 128
BERT_LARGE = {"hidden_size": 1024, "num_hidden_layers": 24, "num_attention_heads": 16, "intermediate_size": 4096}
ROBERTA = {"vocab_size": 50265, "max_position_embeddings": 514, "type_vocab_size": 1}
TINY_LLAMA = {
    "vocab_size": 32000,
    "hidden_size": 2048,
    "intermediate_size": 5632,
    "num_hidden_layers": 22,
    "num_attention_heads": 32,
    "num_key_value_heads": 4,
}


def parameters_of(module):
    return sum(parameter.numel() for parameter in module.parameters())


def macs_of(module, example):
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        module.eval()(example)
    return counter.get_total_flops() / 2


def told(network, by, module, example=None, published=None):
    macs = None if example is None else macs_of(module, example)
    count = parameters_of(module)
    return {"network": network, "by": by, "parameters": count, "macs": macs, "published": published or {}}


def of_torchvision():
    # Only its Python is needed; the compiled operators may be of another build of torch.
    sys.modules["torchvision._meta_registrations"] = types.ModuleType("torchvision._meta_registrations")
    models = importlib.import_module("torchvision.models")
    by = "torchvision " + importlib.import_module("torchvision").__version__.split("+")[0]

    def published(name):
        meta = next(iter(models.get_model_weights(name))).meta
        return {"parameters": meta["num_params"], "gigamacs": meta["_ops"]}

    bare = {"aux_logits": False, "init_weights": False}
    for network, name, options, side in (
        ("alexnet", "alexnet", {}, 224),
        ("densenet121", "densenet121", {}, 224),
        ("googlenet", "googlenet", bare, 224),
        ("mobilenet_v2", "mobilenet_v2", {}, 224),
        ("resnet50", "resnet50", {}, 224),
        ("squeezenet", "squeezenet1_0", {}, 224),
        ("vgg16", "vgg16", {}, 224),
        ("vgg19", "vgg19", {}, 224),
        ("vit_b16", "vit_b_16", {}, 224),
    ):
        module = getattr(models, name)(**options)
        yield told(network, by, module, torch.empty(1, 3, side, side), published(name))
    # Published with the auxiliary head, which takes part in training only.
    module = models.inception_v3(**bare)
    work = {"gigamacs": published("inception_v3")["gigamacs"]}
    yield told("inception_v3", by + " without auxiliary head", module, torch.empty(1, 3, 299, 299), work)
    # Published with its auxiliary head, in parameters and in work.
    module = models.segmentation.deeplabv3_resnet50(weights_backbone=None, aux_loss=False)
    yield told("deeplabv3", by + " without auxiliary head", module, torch.empty(1, 3, 520, 520))
    yield told("ssd300", by, Boxes(models.detection), torch.empty(1, 3, 300, 300), published("ssd300_vgg16"))


class Boxes(torch.nn.Module):
    """SSD without scaling the image before and suppressing boxes behind."""

    def __init__(self, detection):
        super().__init__()
        self.whole = detection.ssd300_vgg16(weights_backbone=None)

    def forward(self, images):
        return self.whole.head(list(self.whole.backbone(images).values()))


def of_timm():
    timm = importlib.import_module("timm")
    by = f"timm {timm.__version__}"
    for network, name, side in (("deit", "deit_small_patch16_224", 224), ("xception", "legacy_xception", 299)):
        yield told(network, f"{by}: {name}", timm.create_model(name), torch.empty(1, 3, side, side))


def of_transformers():
    lib = importlib.import_module("transformers")
    by = f"transformers {lib.__version__}"
    for network, kind, config in (
        ("bert_base", lib.BertModel, lib.BertConfig()),
        ("bert_large", lib.BertModel, lib.BertConfig(**BERT_LARGE)),
        ("roberta", lib.RobertaModel, lib.RobertaConfig(**ROBERTA)),
        ("gpt2", lib.GPT2LMHeadModel, lib.GPT2Config()),
        ("llama", lib.LlamaForCausalLM, lib.LlamaConfig(**TINY_LLAMA)),
    ):
        yield told(network, f"{by}: {kind.__name__}", kind(config), torch.zeros(1, TOKENS, dtype=torch.long))


def of_torch():
    """Layers of torch.nn put together; their work is not counted, since they are not called."""
    nn, by = torch.nn, "torch.nn " + torch.__version__.split("+")[0]
    parts = [nn.Embedding(10_000, 650), nn.GRU(650, 650, num_layers=2), nn.Linear(650, 10_000)]
    yield told("gru", by, nn.ModuleList(parts))
    both = nn.Transformer()
    both.encoder.norm = both.decoder.norm = None  # the paper has none behind the last layers
    yield told("transformer", by, nn.ModuleList([nn.Embedding(37_000, 512), both]))


def main():
    with torch.device("meta"):
        found = [one for source in (of_torchvision, of_timm, of_transformers, of_torch) for one in source()]
    print(json.dumps(found))


if __name__ == "__main__":
    main()
