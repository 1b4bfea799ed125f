# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A text classifier on torch's own LSTM."""

import torch
from torch import nn

from cases import Case, perturb


class LSTMClassifier(nn.Module):
    """Embedding, two LSTM layers, a linear layer on the last step."""

    def __init__(self, words, embedding, hidden, classes):
        super().__init__()
        self.embedding = nn.Embedding(words, embedding)
        self.lstm = nn.LSTM(embedding, hidden, num_layers=2, batch_first=True)
        self.classify = nn.Linear(hidden, classes)

    def forward(self, tokens):
        states, _ = self.lstm(self.embedding(tokens))
        return self.classify(states[:, -1])


def lstm(config):
    words, embedding, hidden, batch, time = (
        (10000, 256, 512, 16, 64) if config == "full" else (50, 8, 12, 4, 6)
    )
    module = LSTMClassifier(words, embedding, hidden, 4)
    perturb(module)
    generator = torch.Generator().manual_seed(2)
    return Case(
        module=module,
        inputs={"tokens": torch.randint(words, (batch, time), generator=generator)},
        target=torch.randint(4, (batch,), generator=generator),
        optimizer="adam",
        lr=1e-3,
    )
