# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The models written in JAX: functions (tensors, new statistics, config, *inputs) -> logits."""

from jax_models import language, swin, vision

MODELS = {
    "digits_mlp": vision.digits_mlp,
    "digits_cnn": vision.digits_cnn,
    "resnet18": vision.resnet18,
    "resnet50": vision.resnet50,
    "vit_b16": vision.vit_b16,
    "efficientnet_b0": vision.efficientnet_b0,
    "swin_t": swin.swin_t,
    "bert": language.bert,
    "gpt2": language.gpt2,
    "llama15m": language.llama15m,
    "lstm": language.lstm,
}
