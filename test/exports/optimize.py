# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes files of this folder from those of make.py, as optimizers for inference leave them.

    python optimize.py     (needs onnx, onnxsim and onnxruntime)

A name ends in "_simplified" where onnxsim wrote the file, and in "_optimized" where ONNX Runtime did.
"""

import pathlib

import onnx
import onnxruntime
import onnxsim

HERE = pathlib.Path(__file__).parent
FILES = {"cnn": "inference", "recurrent": "script_train"}


def for_inference(model):
    """As the exporter writes the module in evaluation mode, without folding constants."""
    for node in model.graph.node:
        if node.op_type == "BatchNormalization":
            del node.output[1:]
            next(a for a in node.attribute if a.name == "training_mode").i = 0
    return model


def simplify(model, path):
    simplified, _ = onnxsim.simplify(model)
    onnx.save(simplified, path)


def optimize(model, path):
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    options.optimized_model_filepath = str(path)
    onnxruntime.InferenceSession(model.SerializeToString(), options)


if __name__ == "__main__":
    for folder, name in FILES.items():
        model = for_inference(onnx.load(HERE / folder / "script_train.onnx"))
        simplify(model, HERE / folder / f"{name}_simplified.onnx")
        optimize(model, HERE / folder / f"{name}_optimized.onnx")
