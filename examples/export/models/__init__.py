# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The models, by name: a function from the configuration ("small" or "full") to a Case."""

import functools

from models import digits

MODELS = {
    "digits_cnn": digits.cnn,
    "digits_cnn_dropout": functools.partial(digits.cnn, dropout=0.25),
    "digits_mlp": digits.mlp,
    "digits_mlp_dropout": functools.partial(digits.mlp, dropout=0.25),
}
