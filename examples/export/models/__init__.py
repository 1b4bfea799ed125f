# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The models, by name: a function from the configuration ("small" or "full") to a Case."""

import functools

from models import digits, everyday, language, published, recurrent, vision

MODELS = {
    "digits_mlp": digits.mlp,
    "digits_mlp_dropout": functools.partial(digits.mlp, dropout=0.25),
    "digits_cnn": digits.cnn,
    "digits_cnn_dropout": functools.partial(digits.cnn, dropout=0.25),
    "resnet18": vision.resnet18,
    "efficientnet_b0": vision.efficientnet_b0,
    "swin_t": vision.swin_t,
    "bert": language.bert,
    "bert_dropout": functools.partial(language.bert, dropout=0.1),
    "gpt2": language.gpt2,
    "llama15m": language.llama15m,
    "lstm": recurrent.lstm,
}


def find(name):
    """The function from the configuration to a Case, or None if there is no such model."""
    if build := everyday.MODELS.get(name):
        return lambda config: build()
    return MODELS.get(name) or published.find(name)
