# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The precisions in which a model is packed (`accc compile --precision`): bf16 also with all or none of the attentions
that cuDNN can run whole, where these are others than it runs by default."""

LIBRARIES = {
    "fp32": "model.so",
    "tf32": "model_tf32.so",
    "bf16": "model_bf16.so",
    "bf16-attention": "model_bf16_attention.so",
    "bf16-products": "model_bf16_products.so",
    "fp16": "model_fp16.so",
}
"""The file of a model's folder that holds it in each."""

OPTIONS = {
    "fp32": ["--precision", "fp32"],
    "tf32": ["--precision", "tf32"],
    "bf16": ["--precision", "bf16"],
    "bf16-attention": ["--precision", "bf16", "--library-attention"],
    "bf16-products": ["--precision", "bf16", "--no-library-attention"],
    "fp16": ["--precision", "fp16"],
}
"""What `accc compile` is told for each."""

LIKE = {"bf16-attention": "bf16", "bf16-products": "bf16"}
"""What a precision is the same as unless the library runs more or fewer attentions."""

OF_GOLDENS = {"fp32": ["fp32", "tf32"], "bf16": ["bf16", *LIKE], "fp16": ["fp16"]}
"""Those in which goldens are packed, by their own."""


def packed_in(folder):
    """By precision, those of the folder's libraries that are there."""
    return {precision: folder / name for precision, name in LIBRARIES.items() if (folder / name).exists()}
