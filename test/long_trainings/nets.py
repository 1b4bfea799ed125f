# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Small networks with their losses and data, of the kinds that people train.

A network is drawn from a random.Random; `loss` is that of `accc compile --loss`, `batch` draws inputs and target of so many rows,
which are the first dimension of each. `fault` names an input of numbers that must be those of a row or a class, `gain` one of
floats that gradients overflow with. One with several `losses` has outputs NAME_loss, the mean of NAME_rows; for each name expressions
for what it may train, of which the first finds all that the loss reaches. The first of these losses reads what is at fault. A gradient `stops`
where it is detached, which ONNX has no way to say. No bias stands where a norm or a softmax takes it away again: its gradient would be rounding alone.
"""

import torch
from torch import nn

WORDS, WIDTH, LENGTH, CLASSES, PIXELS = 11, 8, 5, 4, 6
ACTIVATIONS = (nn.Tanh, nn.GELU, nn.SiLU, nn.Softplus, nn.ReLU, nn.ELU)
ELEMENTS = ("mse", "smooth_l1,beta=0.5", "huber,delta=0.7", "bce_with_logits")
LABELS = ("cross_entropy", "cross_entropy,label_smoothing=0.1", "cross_entropy,ignore_index=2", "cross_entropy,weight=1:2:0.5:1.5")


class Net(nn.Module):
    fault, gain, stops = None, "x", False

    def batch(self, rows, generator):
        raise NotImplementedError

    def vectors(self, rows, generator):
        return torch.randn(rows, WIDTH, generator=generator)

    def labels(self, shape, generator):
        return torch.randint(0, CLASSES, shape, generator=generator)


class Mlp(Net):
    """Vectors to vectors or classes; some layers are frozen, two may share their weight."""

    def __init__(self, draw):
        super().__init__()
        norm = draw.choice([nn.BatchNorm1d, nn.LayerNorm, nn.Identity])
        has_bias = norm is not nn.BatchNorm1d
        self.first = nn.Linear(WIDTH, 12, bias=has_bias)
        self.norm, self.activation = norm(12), draw.choice(ACTIVATIONS)()
        self.middle, self.again = nn.Linear(12, 12), nn.Linear(12, 12)
        self.head = nn.Linear(12, CLASSES)
        if draw.random() < 0.3:
            self.again.weight = self.middle.weight
        if draw.random() < 0.3:
            self.first.requires_grad_(False)
        if draw.random() < 0.3:
            self.middle.bias.requires_grad_(False)
        self.loss = draw.choice(ELEMENTS + LABELS)
        self.fault = "target" if self.loss.startswith("cross") else None

    def forward(self, x):
        x = self.activation(self.norm(self.first(x)))
        x = x + torch.tanh(self.middle(x))
        return {"scores": self.head(x + torch.tanh(self.again(x)))}

    def batch(self, rows, generator):
        x = self.vectors(rows, generator)
        if self.fault:
            return {"x": x, "target": self.labels((rows,), generator)}
        wanted = torch.sin(2 * x[:, :CLASSES])
        return {"x": x, "target": (wanted > 0).float() if self.loss.startswith("bce") else wanted}


class Convolutions(Net):
    """Images to classes, by convolutions with norms of a batch or of groups."""

    fault = "target"

    def __init__(self, draw):
        super().__init__()
        activation = draw.choice(ACTIVATIONS)
        momentum = draw.choice([0.1, 0.5, 0.01])
        self.stem = nn.Conv2d(3, 8, 3, padding=1, bias=False)
        self.norm = nn.BatchNorm2d(8, momentum=momentum)
        self.groups = nn.GroupNorm(2, 8) if draw.random() < 0.5 else nn.BatchNorm2d(8, momentum=momentum)
        settings = {"padding": draw.choice([0, 1]), "groups": draw.choice([1, 2, 8]), "stride": draw.choice([1, 2])}
        self.deep = nn.Conv2d(8, 8, 3, bias=isinstance(self.groups, nn.GroupNorm), **settings)
        self.activation, self.pool = activation(), draw.choice([nn.AvgPool2d(2), nn.Identity()])
        self.head = nn.Linear(8, CLASSES)
        if draw.random() < 0.3:
            self.stem.requires_grad_(False)
        if draw.random() < 0.2:
            self.norm.eval().requires_grad_(False)  # as detectors freeze those of their backbones
        self.loss = draw.choice(LABELS)

    def forward(self, x):
        x = self.pool(self.activation(self.norm(self.stem(x))))
        x = self.activation(self.groups(self.deep(x)))
        return {"scores": self.head(x.mean((2, 3)))}

    def batch(self, rows, generator):
        return {"x": torch.randn(rows, 3, PIXELS, PIXELS, generator=generator), "target": self.labels((rows,), generator)}


class Words(Net):
    """Rows of words, times a gain of each row."""

    fault, gain = "words", "gain"

    def sentences(self, rows, generator):
        gain = 1 + 0.1 * torch.randn(rows, generator=generator)
        return {"words": torch.randint(1, WORDS, (rows, LENGTH), generator=generator), "gain": gain}


class Transformer(Words):
    """The next word, by attention; the last layer mostly is the embedding's weight."""

    def __init__(self, draw):
        super().__init__()
        self.words, self.places = nn.Embedding(WORDS, WIDTH), nn.Parameter(0.1 * torch.randn(LENGTH, WIDTH))
        self.before, self.between, self.behind = (nn.LayerNorm(WIDTH) for _ in range(3))
        self.mixed, self.out = nn.Linear(WIDTH, 3 * WIDTH, bias=False), nn.Linear(WIDTH, WIDTH)
        self.wide, self.narrow = nn.Linear(WIDTH, 2 * WIDTH), nn.Linear(2 * WIDTH, WIDTH)
        self.head = nn.Linear(WIDTH, WORDS, bias=False)
        if draw.random() < 0.7:
            self.head.weight = self.words.weight
        if draw.random() < 0.2:
            self.places.requires_grad_(False)
        self.is_causal, self.heads = draw.random() < 0.7, draw.choice([1, 2])
        self.loss = draw.choice(["cross_entropy=scores,class_dim=-1", "cross_entropy=scores,class_dim=-1,ignore_index=3"])

    def forward(self, words, gain):
        x = self.words(words) * gain[:, None, None] + self.places
        q, k, v = self.mixed(self.before(x)).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        attended = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=self.is_causal)
        x = x + self.out(attended.transpose(1, 2).flatten(2))
        x = x + self.narrow(nn.functional.gelu(self.wide(self.between(x))))
        return {"scores": self.head(self.behind(x))}

    def batch(self, rows, generator):
        given = self.sentences(rows, generator)
        return given | {"target": given["words"].roll(-1, 1)}


class Recurrent(Words):
    """A class for each row by its last state; the module computes the loss itself."""

    loss = "output:loss"

    def __init__(self, draw):
        super().__init__()
        self.words = nn.Embedding(WORDS, WIDTH, padding_idx=draw.choice([None, 0, 1]))
        kind = draw.choice([nn.LSTM, nn.GRU, nn.RNN])
        self.layers = kind(WIDTH, 6, num_layers=draw.choice([1, 2]), batch_first=True)
        self.head = nn.Linear(6, CLASSES)
        if draw.random() < 0.3:
            self.words.requires_grad_(False)

    def forward(self, words, gain, labels):
        x, _ = self.layers(self.words(words) * gain[:, None, None])
        scores = self.head(x[:, -1]) * gain[:, None]
        return {"loss": nn.functional.cross_entropy(scores, labels), "scores": scores}

    def batch(self, rows, generator):
        return self.sentences(rows, generator) | {"labels": self.labels((rows,), generator)}


class Bags(Words):
    """A number for each row by the mean of its words and some features."""

    loss = "mse"

    def __init__(self, draw):
        super().__init__()
        self.norm = draw.choice([nn.BatchNorm1d(WIDTH), nn.LayerNorm(WIDTH), nn.Identity()])
        self.words = nn.Embedding(WORDS, WIDTH)
        self.features = nn.Linear(WIDTH, WIDTH, bias=not isinstance(self.norm, nn.BatchNorm1d))
        self.head = nn.Linear(WIDTH, 3)
        self.scale = nn.Parameter(torch.tensor(0.5))

    def forward(self, words, gain, x):
        bag = self.words(words).mean(1) * gain[:, None]
        return {"values": self.head(torch.tanh(bag) * self.norm(self.features(x))) * self.scale}

    def batch(self, rows, generator):
        x = self.vectors(rows, generator)
        return self.sentences(rows, generator) | {"x": x, "target": torch.cos(x[:, :3])}


class Autoencoder(Net):
    """One weight, read as it is and transposed."""

    loss = "mse"

    def __init__(self, draw):
        super().__init__()
        self.weight = nn.Parameter(0.4 * torch.randn(5, WIDTH))
        self.bias, self.shift = nn.Parameter(torch.zeros(5)), nn.Parameter(torch.zeros(WIDTH))
        self.activation = draw.choice(ACTIVATIONS)()

    def forward(self, x):
        code = self.activation(nn.functional.linear(x, self.weight, self.bias))
        return {"y": nn.functional.linear(code, self.weight.t(), self.shift)}

    def batch(self, rows, generator):
        x = self.vectors(rows, generator)
        return {"x": x, "target": x.clone()}


class Adversaries(Net):
    """What makes vectors of noise, and what judges whether they are real, as GANs have it."""

    gain = "noise"
    losses = {"judge": [".", r"^judge\.", r"^judge\.\d\.weight"], "make": [".", r"^make\.", r"^make\.3"]}

    def __init__(self, draw):
        super().__init__()
        first, second = (draw.choice([nn.BatchNorm1d, nn.LayerNorm, nn.Identity]) for _ in range(2))
        has_bias = second is not nn.BatchNorm1d  # also of what is made for it
        last = nn.Linear(12, WIDTH, bias=has_bias)
        self.make = nn.Sequential(nn.Linear(4, 12, bias=first is not nn.BatchNorm1d), first(12), draw.choice(ACTIVATIONS)(), last)
        self.judge = nn.Sequential(nn.Linear(WIDTH, 12, bias=has_bias), second(12), nn.Tanh(), nn.Linear(12, 1))

    def forward(self, x, noise):
        made = self.make(noise)
        score = self.judge(made)
        softplus = nn.functional.softplus
        judged, deceived = softplus(-self.judge(x)) + softplus(score), softplus(-score)
        return {"judge_loss": judged.mean(), "judge_rows": judged, "make_loss": deceived.mean(), "make_rows": deceived, "made": made}

    def batch(self, rows, generator):
        x = self.vectors(rows, generator)
        return {"x": torch.sin(2 * x), "noise": torch.randn(rows, 4, generator=generator)}


class ActorCritic(Net):
    """A policy and the values of states, of one trunk, which both may train."""

    fault, stops = "actions", True
    losses = {"actor": [r"^(trunk|norm|policy)\.", r"^policy\."], "critic": [r"^(trunk|norm|value)\.", r"^value\.", r"^(trunk|value)\.weight"]}

    def __init__(self, draw):
        super().__init__()
        norm = draw.choice([nn.BatchNorm1d, nn.LayerNorm])
        self.trunk, self.norm, self.activation = nn.Linear(WIDTH, 12, bias=False), norm(12), draw.choice(ACTIVATIONS)()
        self.policy, self.value = nn.Linear(12, CLASSES), nn.Linear(12, 1)

    def forward(self, x, actions, returns):
        seen = self.activation(self.norm(self.trunk(x)))
        values = self.value(seen).squeeze(1)
        taken = self.policy(seen).log_softmax(1).gather(1, actions[:, None]).squeeze(1)
        regret, missed = -taken * (returns - values.detach()), (values - returns).square()
        return {"actor_loss": regret.mean(), "actor_rows": regret, "critic_loss": missed.mean(), "critic_rows": missed, "values": values}

    def batch(self, rows, generator):
        x = self.vectors(rows, generator)
        return {"x": x, "actions": self.labels((rows,), generator), "returns": torch.cos(x.sum(1))}


KINDS = {kind.__name__: kind for kind in (Mlp, Convolutions, Transformer, Recurrent, Bags, Autoencoder, Adversaries, ActorCritic)}
