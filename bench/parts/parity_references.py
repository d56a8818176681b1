"""What a user would write: transformers' BertModel, and ResNet-50 in plain torch.nn. Runs beside torch only.

Each has the names of Assay's nodes, or says which they are, so that weights can be copied over.
"""

from torch import nn


class Bottleneck(nn.Module):
    def __init__(self, channels_in, channels, stride, project):
        super().__init__()
        self.conv1 = nn.Conv2d(channels_in, channels, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(channels)
        self.conv2 = nn.Conv2d(channels, channels, 3, stride, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(channels)
        self.conv3 = nn.Conv2d(channels, 4 * channels, 1, bias=False)
        self.bn3 = nn.BatchNorm2d(4 * channels)
        self.relu = nn.ReLU(inplace=True)
        self.project = project
        if project:
            self.conv_shortcut = nn.Conv2d(channels_in, 4 * channels, 1, stride, bias=False)
            self.bn_shortcut = nn.BatchNorm2d(4 * channels)

    def forward(self, x):
        shortcut = self.bn_shortcut(self.conv_shortcut(x)) if self.project else x
        x = self.relu(self.bn1(self.conv1(x)))
        x = self.relu(self.bn2(self.conv2(x)))
        x = self.bn3(self.conv3(x))
        x += shortcut
        return self.relu(x)


class ResNet50(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 64, 7, 2, 3, bias=False)
        self.bn1 = nn.BatchNorm2d(64)
        self.relu = nn.ReLU(inplace=True)
        self.pool1 = nn.MaxPool2d(3, 2, 1)
        channels_in = 64
        for stage, blocks in enumerate((3, 4, 6, 3)):
            channels = 64 << stage
            layer = []
            for i in range(blocks):
                layer.append(Bottleneck(channels_in, channels, 2 if i == 0 and stage > 0 else 1, i == 0))
                channels_in = 4 * channels
            self.add_module("layer%d" % (stage + 1), nn.Sequential(*layer))
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.fc = nn.Linear(2048, 1000)

    def forward(self, x):
        x = self.pool1(self.relu(self.bn1(self.conv1(x))))
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        return self.fc(self.pool(x).flatten(1))


class Bert(nn.Module):
    """BertModel as it comes, called with tokens and types; its pooled output."""

    def __init__(self):
        super().__init__()
        from transformers import BertConfig, BertModel

        self.bert = BertModel(BertConfig())

    def forward(self, tokens, types):
        return self.bert(input_ids=tokens, token_type_ids=types).pooler_output


_BERT_EMBEDDINGS = {
    "words": "word_embeddings",
    "types": "token_type_embeddings",
    "positions": "position_embeddings",
    "norm": "LayerNorm",
}
_BERT_LAYER = {
    "query": "attention.self.query",
    "key": "attention.self.key",
    "value": "attention.self.value",
    "attention_output": "attention.output.dense",
    "attention_norm": "attention.output.LayerNorm",
    "intermediate": "intermediate.dense",
    "output": "output.dense",
    "norm": "output.LayerNorm",
}


def _bert_name(node):
    if node == "pooler":
        return "bert.pooler.dense"
    prefix, name = node.split(".")
    if prefix == "embeddings":
        return "bert.embeddings." + _BERT_EMBEDDINGS[name]
    return "bert.encoder.layer.%s.%s" % (prefix.removeprefix("layer"), _BERT_LAYER[name])


# The module, and the name there of the layer that a node of ours is.
REFERENCES = {"resnet50": (ResNet50, lambda node: node), "bert_base": (Bert, _bert_name)}
