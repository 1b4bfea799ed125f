# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes the files of this folder: small models as PyTorch's exporters write them by default.

    python make.py FOLDER [MODEL...]     (needs torch, onnx, timm, torchvision and transformers)

FOLDER is this one, or another to try. Each model is exported in the four ways of `EXPORTS`, none of which is meant for training, and beside them
stand its inputs, and its parameters and buffers before and after three steps of SGD in training mode
(`before.`, `after.`). verdicts.json, written by hand, says what accc makes of each file.
"""

import json
import pathlib
import sys
import warnings

import numpy as np
import onnx
import torch
from torch import nn

HERE = pathlib.Path(__file__).parent
STEPS, RATE = 3, 0.1

EXPORTS = {
    "script_eval": (False, dict(dynamo=False)),
    "dynamo_eval": (False, dict(dynamo=True)),
    "dynamo_train": (True, dict(dynamo=True)),
    "script_train": (True, dict(dynamo=False, training=torch.onnx.TrainingMode.TRAINING)),
}
"""Name -> (training mode?, arguments of torch.onnx.export). The one that changes the module comes last."""

MARKED = {"marked": (True, dict(EXPORTS["script_train"][1], do_constant_folding=False))}

NOTED = {"dynamo_plain": (True, dict(dynamo=True, optimize=False)), "dynamo_train": EXPORTS["dynamo_train"]}
"""Of models that depend on what the dynamo exporter notes of its nodes alone."""

PACKAGED = {**NOTED, "packaged": (True, None)}
"""Of these, by accc_export as well (with PYTHONPATH=python)."""


def words(count, batch=2, time=6):
    return torch.randint(1, count, (batch, time))


class Tied(nn.Module):
    """A language model whose output layer reads the embedding."""

    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(11, 6)
        self.hidden = nn.Linear(6, 6)
        self.head = nn.Linear(6, 11, bias=False)
        self.head.weight = self.embedding.weight

    def forward(self, words):
        return self.head(torch.tanh(self.hidden(self.embedding(words))))


class Marked(nn.Module):
    """What only metadata tells: a padding word, a frozen layer, buffers, two names of one parameter."""

    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(11, 6, padding_idx=0)
        self.frozen = nn.Linear(6, 6).requires_grad_(False)
        self.register_buffer("scale", torch.randn(6))
        self.register_buffer("shift", torch.randn(6), persistent=False)
        self.head = nn.Linear(6, 11, bias=False)
        self.head.weight = self.embedding.weight

    def forward(self, words):
        return self.head(torch.tanh(self.frozen(self.embedding(words))) * self.scale + self.shift)


class Padded(nn.Module):
    """Lookups of which the file's operator has the values, and a note the gradients."""

    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(11, 6, padding_idx=0)
        self.kinds = nn.Embedding(4, 6, padding_idx=3, scale_grad_by_freq=True)
        self.head = nn.Linear(6, 3)

    def forward(self, words):
        return self.head(torch.tanh(self.words(words) + self.kinds(words % 4)))


class LookedUp(nn.Module):
    """A table that is computed, and one that is read in several ways, of which one has a row for padding."""

    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(11, 6, padding_idx=0)
        self.table = nn.Parameter(torch.randn(11, 6))
        self.head = nn.Linear(6, 3)

    def forward(self, words):
        computed = nn.functional.embedding(words, torch.tanh(self.table), padding_idx=2, scale_grad_by_freq=True)
        again = nn.functional.embedding(words, self.words.weight) * self.words.weight.index_select(0, words[:, 0])[:, None]
        return self.head(torch.tanh(self.words(words) + computed + again))


class Smoothed(nn.Module):
    """Scores times a cross entropy whose smoothed labels the file's operator does not have, a note does."""

    def __init__(self):
        super().__init__()
        self.head = nn.Linear(5, 3)
        self.register_buffer("labels", torch.tensor([0, 2, -1, 1]))

    def forward(self, x):
        scores, weight = self.head(x), torch.tensor([1.0, 2.0, 0.5])
        settings = dict(weight=weight, ignore_index=-1, label_smoothing=0.3)
        each = nn.functional.cross_entropy(scores, self.labels, reduction="none", **settings)
        return scores * each[:, None] + nn.functional.cross_entropy(scores, self.labels, **settings)


class Stopped(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Linear(5, 6)
        self.head = nn.Linear(6, 3)

    def forward(self, x):
        hidden = self.hidden(x)
        return self.head(torch.tanh(hidden) * hidden.detach())


class Written(nn.Module):
    """A moving average, which the file does not move."""

    def __init__(self):
        super().__init__()
        self.register_buffer("average", torch.zeros(5))
        self.head = nn.Linear(5, 3)

    def forward(self, x):
        self.average.mul_(0.9).add_(0.1 * x.mean(0))
        return self.head(x - self.average)


class Tracked(nn.Module):
    """An instance norm whose statistics the file does not move."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3)
        self.norm = nn.InstanceNorm2d(4, affine=True, track_running_stats=True)
        self.head = nn.Linear(4 * 16, 3)

    def forward(self, image):
        return self.head(torch.tanh(self.norm(self.conv(image))).flatten(1))


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(11, 4, padding_idx=0)
        self.lstm = nn.LSTM(4, 5, num_layers=2, batch_first=True)
        self.head = nn.Linear(5, 3)

    def forward(self, words):
        out, _ = self.lstm(self.embedding(words))
        return self.head(out[:, -1])


class Up(nn.Module):
    """Down by a strided convolution, up by a transposed one, a class for each pixel."""

    def __init__(self):
        super().__init__()
        self.down = nn.Sequential(nn.Conv2d(3, 4, 3, 2, 1), nn.GroupNorm(2, 4), nn.GELU())
        self.up = nn.ConvTranspose2d(4, 4, 2, 2)
        self.head = nn.Conv2d(4 + 3, 3, 1)

    def forward(self, image):
        return self.head(torch.cat([self.up(self.down(image)), image], 1))


class Quantized(nn.Module):
    """Trained with weights and activations on grids of 8 bits, or 7, for which some of them are too large."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3)
        self.head = nn.Linear(4 * 16, 3)
        self.register_buffer("step", torch.tensor([0.001, 0.0015, 0.002, 0.0025]))
        self.register_buffer("zero", torch.zeros(4, dtype=torch.int32))

    def forward(self, image):
        image = torch.fake_quantize_per_tensor_affine(image, 0.01, 3, -128, 127)
        weight = torch.fake_quantize_per_channel_affine(self.conv.weight, self.step, self.zero, 0, -128, 127)
        x = torch.relu(nn.functional.conv2d(image, weight, self.conv.bias))
        x = torch.fake_quantize_per_tensor_affine(x, 0.004, 0, 0, 127).flatten(1)
        weight = torch.fake_quantize_per_tensor_affine(self.head.weight, 0.0009, 0, -128, 127)
        return nn.functional.linear(x, weight, self.head.bias)


class Logits(nn.Module):
    """Only the logits of a model of transformers."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, input_ids):
        mask = torch.ones_like(input_ids) if torch.jit.is_tracing() else None
        extra = {} if "Classification" in type(self.model).__name__ else {"use_cache": False}
        return self.model(input_ids, attention_mask=mask, **extra).logits


class Transformer(nn.Module):
    def __init__(self):
        super().__init__()
        layer = nn.TransformerEncoderLayer(8, 2, 12, dropout=0.0, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.head = nn.Linear(8, 3)

    def forward(self, x):
        return self.head(self.encoder(x).mean(1))


class Residual(nn.Module):
    def __init__(self):
        super().__init__()
        from torchvision.models.resnet import BasicBlock

        self.conv = nn.Conv2d(3, 4, 3, padding=1, bias=False)
        self.norm = nn.BatchNorm2d(4)
        down = nn.Sequential(nn.Conv2d(4, 6, 1, 2, bias=False), nn.BatchNorm2d(6))
        self.blocks = nn.Sequential(BasicBlock(4, 4), BasicBlock(4, 6, 2, down))
        self.fc = nn.Linear(6, 3)

    def forward(self, image):
        return self.fc(self.blocks(torch.relu(self.norm(self.conv(image)))).mean((2, 3)))


def mlp():
    return nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 3)), torch.randn(4, 6)


def mlp_norm():
    module = nn.Sequential(nn.Linear(6, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 3))
    return module, torch.randn(4, 6)


def mlp_dropout():
    module = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Dropout(0.5), nn.Linear(8, 3))
    return module, torch.randn(4, 6)


def cnn():
    module = nn.Sequential(
        *(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2)),
        *(nn.Conv2d(4, 5, 3), nn.BatchNorm2d(5), nn.ReLU(), nn.Flatten(), nn.Linear(5, 3)),
    )
    return module, torch.randn(4, 3, 8, 8)


def residual():
    return Residual(), torch.randn(4, 3, 6, 6)


def quantized():
    return Quantized(), torch.randn(4, 3, 6, 6)


def up():
    return Up(), torch.randn(2, 3, 6, 6)


def tied():
    return Tied(), words(11)


def marked():
    sentences = words(11)
    sentences[0, 3:] = 0
    return Marked(), sentences


def padded():
    return Padded(), torch.randint(0, 11, (4, 6)) * (torch.rand(4, 6) < 0.7)


def looked_up():
    return LookedUp(), padded()[1]


def smoothed():
    return Smoothed(), torch.randn(4, 5)


def stopped():
    return Stopped(), torch.randn(4, 5)


def written():
    return Written(), torch.randn(4, 5)


def tracked():
    return Tracked(), torch.randn(4, 3, 6, 6)


def recurrent():
    return Recurrent(), words(11, 3)


def transformer():
    return Transformer(), torch.randn(3, 5, 8)


def vit():
    from timm.models.vision_transformer import VisionTransformer

    module = VisionTransformer(img_size=8, patch_size=4, embed_dim=8, depth=2, num_heads=2, num_classes=3)
    return module, torch.randn(3, 3, 8, 8)


def swin():
    from timm.models.swin_transformer import SwinTransformer

    module = SwinTransformer(
        img_size=16, window_size=2, embed_dim=4, depths=(2, 2), num_heads=(1, 2), num_classes=3, drop_path_rate=0.0
    )
    return module, torch.randn(2, 3, 16, 16)


def gpt2():
    from transformers import GPT2Config, GPT2LMHeadModel

    config = GPT2Config(
        vocab_size=23, n_positions=8, n_embd=8, n_layer=2, n_head=2, resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0
    )
    return Logits(GPT2LMHeadModel(config)), words(23)


def bert():
    from transformers import BertConfig, BertForSequenceClassification

    config = BertConfig(
        vocab_size=23,
        hidden_size=8,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=12,
        max_position_embeddings=8,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
    )
    return Logits(BertForSequenceClassification(config)), words(23)


def llama():
    from transformers import LlamaConfig, LlamaForCausalLM

    config = LlamaConfig(
        vocab_size=23,
        hidden_size=8,
        intermediate_size=12,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=1,
        max_position_embeddings=8,
    )
    return Logits(LlamaForCausalLM(config)), words(23)


MODELS = [mlp, mlp_norm, mlp_dropout, cnn, residual, up, tied, recurrent, transformer, vit, swin, gpt2, bert, llama]
MODELS += [marked, quantized, padded, looked_up, smoothed, stopped, written, tracked]
WAYS = {marked: MARKED, padded: NOTED, looked_up: PACKAGED, smoothed: NOTED, stopped: NOTED, written: NOTED, tracked: NOTED}


def train(module, image, target):
    module.train()
    optimizer = torch.optim.SGD(module.parameters(), lr=RATE)
    losses = []
    for _ in range(STEPS):
        optimizer.zero_grad()
        out = module(image)
        axis = 1 if out.dim() == 4 else -1
        loss = nn.functional.cross_entropy(out.movedim(axis, 1), target)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses, axis


def state(module, prefix):
    return {
        prefix + name: value.detach().contiguous().numpy().copy()
        for name, value in module.state_dict().items()
        if value.is_floating_point()
    }


def export(module, image, path, training, options):
    if options is None:
        import accc_export

        accc_export.export(module, image, path, exporter="dynamo")
        return
    saved = {name: value.clone() for name, value in module.state_dict().items()}
    module.train(training)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if options["dynamo"]:
            torch.onnx.export(module, (image,), str(path), external_data=False, verbose=False, **options)
        else:
            torch.onnx.export(module, (image,), str(path), **options)
    if not (training and not options["dynamo"]):  # tracing moves a batch norm's statistics: so be it
        module.load_state_dict(saved)
    strip(path)


def mark(module, path):
    """Writes what accc's own exporter would."""
    model = onnx.load(str(path))
    held = {i.name for i in model.graph.initializer}
    entries = {}
    for name, parameter in module.named_parameters(remove_duplicate=False):
        entry = entries.setdefault(
            id(parameter), {"name": name, "requires_grad": parameter.requires_grad, "aliases": []}
        )
        if entry["name"] != name:
            entry["aliases"].append(name)
    for name, part in module.named_modules():
        if getattr(part, "padding_idx", None) is not None:
            entries[id(part.weight)]["padding_idx"] = part.padding_idx
    saved = module.state_dict().keys()
    buffers = [
        {"name": name, "persistent": name in saved} for name, _ in module.named_buffers() if name in held
    ]
    text = json.dumps({"version": 1, "parameters": list(entries.values()), "buffers": buffers})
    model.metadata_props.add(key="accc.export", value=text)
    onnx.save(model, str(path))


def strip(path):
    """Drops what accc does not read: stack traces, with paths of this machine, and printed graphs."""
    model = onnx.load(str(path))
    for node in [*model.graph.node, *(n for f in model.functions for n in f.node)]:
        node.ClearField("doc_string")
        drop(node.metadata_props, "stack_trace", "namespace", "class_hierarchy")
    drop(model.metadata_props, "graph", "range_constraints")
    drop(model.graph.metadata_props, "graph", "range_constraints")
    held = {i.name for i in model.graph.initializer}
    kept = [v for v in model.graph.value_info if v.name in held]
    del model.graph.value_info[:]
    model.graph.value_info.extend(kept)
    onnx.save(model, str(path))


def drop(properties, *endings):
    kept = [p for p in properties if not p.key.endswith(endings)]
    del properties[:]
    properties.extend(kept)


def make(builder, folder):
    import safetensors.numpy

    folder.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(1)
    module, image = builder()
    for name, (training, options) in WAYS.get(builder, EXPORTS).items():
        export(module, image, folder / f"{name}.onnx", training, options)
        if builder is marked:
            mark(module, folder / f"{name}.onnx")
    with torch.no_grad():
        out = module.eval()(image)
    axis = 1 if out.dim() == 4 else -1
    target = torch.randint(out.shape[axis], out.movedim(axis, -1).shape[:-1])
    tensors = {"input": image.numpy(), "target": target.numpy(), **state(module, "before.")}
    losses, axis = train(module, image, target)
    tensors.update(state(module, "after."), losses=np.array(losses, np.float32))
    safetensors.numpy.save_file(tensors, folder / "golden.safetensors")
    meta = {"loss": f"cross_entropy,class_dim={axis}", "lr": RATE}

    (folder / "meta.json").write_text(json.dumps(meta, indent=1) + "\n")


if __name__ == "__main__":
    torch.set_num_threads(1)
    out = pathlib.Path(sys.argv[1])
    for builder in MODELS:
        if not sys.argv[2:] or builder.__name__ in sys.argv[2:]:
            make(builder, out / builder.__name__)
            print(builder.__name__, "done", flush=True)
