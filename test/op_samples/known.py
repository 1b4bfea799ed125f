# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Where accc differs from PyTorch by intention, and why."""

import re

import torch

# The operator, what the message says, and the reason.
DIFFERENCES = (
    (r"softmax|softmin", "NaN", "a row that is masked as a whole is zero, not NaN"),
    (r"^index_fill$", r"^grad\.p\d+_2 is off", "PyTorch counts an index that stands there twice twice in the gradient of the value"),
    (r"^as_strided_scatter$", r"^grad\.p\d+_0 is", "PyTorch gives elements that were replaced a gradient"),
    (r"native_(batch|layer)_norm|_batch_norm_with_update", r"^grad", "a file of ONNX does not say that PyTorch takes no gradient from saved statistics"),
    (r"^linalg\.norm\.subgradients_at_zero$", r"^grad\.p\d+_0 has other NaN", "PyTorch's core decomposition divides by the norm, where its own gradient at zero is zero"),
    (r"^nn\.MultiLabelMarginLoss$", r"^y0_0 has the shape \[1\]", "PyTorch's decomposition gives the one loss of a single sample a dimension"),
    (r"^(topk|kthvalue)$", r"^y\d+_1 is", "of equal elements any may be taken"),
    (r"^nn.LPPool", "NaN", "an element outside of all windows has no gradient, whatever the function is there"),
    (r"^frexp$", r"e-4\d|PyTorch's \[-1[2-4]\d|NaN", "numbers below the least normal one are zero while a step runs"),
    (r"^multinomial$", r"^y", "the numbers are random"),
    (r"^(svd|linalg\.svd)$", r"^(y\d+_[02]|grad\.p\d+_0) is off", "the signs of these vectors are not determined, and the samples' loss depends on them"),
    (r"^linalg\.pinv\.hermitian$", r"^grad", "the samples are not symmetric, where only one triangle is read"),
    (r"^empty", "", "the elements are not defined"),
)
OF_NARROW = (
    (r"^(topk|kthvalue|mode|m?sort)$", r"^(y\d+_1 is|grad\.p\d+_0 is off)", "of equal elements any may be taken"),
    (r"^argsort$", r"^y\d+_0 is", "of equal elements any may be taken"),
)
"""The same of types of 16 bits, of which samples have equal elements by rounding."""

OF_BYTES = (
    (r"^(gradient|.*triplet_margin_loss|.*cosine_embedding_loss)$", r" is off by ", "PyTorch subtracts and multiplies bytes as they wrap"),
    (r"^atan2$", r"^grad", "PyTorch's gradient squares bytes as they wrap"),
)
"""The same where tensors of floats meet some of bytes without a sign."""

OF_MIXED = (
    (r"^(add(mv|mm|bmm)|baddbmm|mv|v?dot|inner|tensordot|einsum|nn\.Bilinear|.*linear_cross_entropy|.*_flash_attention_for_cpu)", r" is off by ", "accc rounds every product, and torch.autocast leaves this one in float32 on a CPU"),
)
"""The same in mixed precision."""


def difference(operator, message, task):
    """The reason of a known difference, or an empty text."""
    is_narrow = task.dtype.is_floating_point and task.dtype.itemsize == 2
    more = OF_MIXED if task.precision.is_mixed else OF_BYTES if task.beside == torch.uint8 else OF_NARROW if is_narrow else ()
    for name, pattern, reason in DIFFERENCES + more:
        if re.search(name, operator) and all(re.search(pattern, line) for line in message.split("\n")):
            return reason
    return ""
