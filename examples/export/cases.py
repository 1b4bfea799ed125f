# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a model of the table is: a module with a batch, a loss and an optimizer."""

import dataclasses
import pathlib
import sys

import torch
from torch import nn

# The package of this repository, before one that is installed. (In a pack of scripts/gpu it stands beside this file.)
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "python"))

import accc_export  # noqa: E402


@dataclasses.dataclass
class Case:
    """One model with everything that its golden run needs.

    `inputs` are the module's positional arguments in order, by the names they get in the ONNX file.
    Without `outputs`, these are named as the module does.
    """

    module: torch.nn.Module
    inputs: dict
    target: torch.Tensor | None
    outputs: tuple | None = ("logits",)
    loss: str = "cross_entropy"
    optimizer: str = "sgd"
    lr: float = 0.01
    steps: int = 10
    dynamic: dict = dataclasses.field(default_factory=dict)
    """Dimensions left open: name -> {input: axis}."""

    def export(self, exporter, path):
        """Writes the model alone."""
        return accc_export.export(self.module, self.arguments(), path, exporter=exporter, **self._names())

    def golden(self, exporters, directory, **options):
        """Writes the model, its batch and what PyTorch makes of them."""
        return accc_export.golden(
            self.module,
            self.arguments(),
            directory,
            loss=self.loss,
            target=self.target,
            optimizer=self.optimizer,
            lr=self.lr,
            exporter=exporters,
            **{"steps": self.steps, **self._names(), **options},
        )

    def narrowed(self, dtype):
        """The same with the module, and inputs of floats, in this type."""
        inputs = {name: x.to(dtype) if x.is_floating_point() else x for name, x in self.inputs.items()}
        return dataclasses.replace(self, module=self.module.to(dtype), inputs=inputs)

    def arguments(self):
        return tuple(self.inputs.values())

    def _names(self):
        return {"dynamic": self.dynamic, "input_names": list(self.inputs), "output_names": self.outputs}


def perturb(module, seed=1):
    """Moves one-dimensional parameters off their ones and zeros.

    A golden in which every bias is zero and every scale one misses some wrong gradients.
    """
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in module.parameters():
            if parameter.dim() == 1:
                parameter.add_(0.05 * torch.randn(parameter.shape, generator=generator))


def remove_randomness(module):
    """Turns dropout, stochastic depth and their kin off, of a module in training mode."""
    for part in module.modules():
        if isinstance(part, (nn.Dropout, nn.Dropout1d, nn.Dropout2d, nn.Dropout3d, nn.AlphaDropout)):
            part.p = 0.0
        if type(part).__name__ in ("DropPath", "StochasticDepth", "DropBlock2d"):
            part.forward = lambda x, *rest: x
        for name in ("dropout", "drop_rate", "attn_drop", "attn_drop_rate"):  # where a function drops
            if isinstance(getattr(part, name, None), float):
                setattr(part, name, 0.0)
