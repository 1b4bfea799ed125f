# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Lines of programs in mixed precision, which have many products: what they read is rounded, and other lines read it, too."""

import catalogue
import catalogue_views
from chooser import PRODUCTS, product

PRODUCTS += [catalogue.product, catalogue.einsum, catalogue.attention, catalogue.convolve, catalogue_views.more_products]


@product
def projected(c):
    a = c.x(1)
    return f"helpers.projected({a}, {c.one(1, 2, 3, 4, 6)})"


@product
def gated(c):
    a = c.x(1)
    n = c.shape(a)[-1]
    gate = c.one("torch.sigmoid", "torch.tanh", "F.silu", "F.gelu", "F.relu", "torch.exp", "F.softplus", "F.logsigmoid")
    return c.one(f"{a} * {gate}(helpers.projected({a}, {n}))", f"helpers.projected({gate}({a}), {n}) + {a}", f"helpers.projected({a} * {gate}({a}), {n})")


@product
def normalised(c):
    a = c.x(1)
    n = c.shape(a)[-1]
    norm = c.one(f"F.layer_norm({a}, [{n}])", f"F.normalize({a}, dim=-1)", f"F.rms_norm({a}, [{n}])", f"torch.softmax({a}, -1)", f"F.log_softmax({a}, -1)")
    return c.one(f"helpers.projected({norm}, {n})", f"{a} + helpers.projected({norm}, {n})", f"{norm} * helpers.projected({norm}, {n})")


@product
def selected(c):
    a = c.x(1)
    n = c.shape(a)[-1]
    kept = c.one("amax(-1, keepdim=True)", "cummax(-1).values", "sort(-1).values", "median(-1, keepdim=True).values", "clamp(-0.5, 0.5)", "cumsum(-1)", "logsumexp(-1, keepdim=True)", "logcumsumexp(-1)", "frac()", "round()")
    return c.one(f"helpers.projected({a}, {n}) + {a}.{kept}", f"helpers.projected({a} + {a}.{kept}, {n})", f"helpers.projected({a}, {n}).{kept} * {a}")


@product
def shared(c):
    """A product of what another steep function, comparison or quotient reads."""
    a = c.x(1)
    n = c.shape(a)[-1]
    other = c.one(f"torch.log1p(-torch.sigmoid({a}))", f"torch.log(1.001 - torch.tanh({a}).square())", f"{a} / ({a}.square().sum(-1, keepdim=True) + 0.01)", f"torch.where({a} > 0.5, {a}, 0.0)", f"torch.acos(torch.tanh({a}))", f"torch.expm1({a} * 2)")
    return f"helpers.projected({a}, {n}) * {other}"
