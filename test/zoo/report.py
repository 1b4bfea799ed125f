# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""docs/model-zoo.md, of the rows that the zoo measured."""

import collections
import pathlib
import re

import suites
from checking import Row
from real import RealRow

HEADER = """# The model zoo

`scripts/model-zoo` builds each model in a small configuration with random weights, exports it, compiles it for the
CPU and compares two steps of SGD with PyTorch's: the loss, every gradient, every parameter and running statistic
afterwards, by the rule of `accc diff`. Dropout is off. The formats are `export` (torch.export, training IR as
exported), `core` (the same decomposed to core ATen), `onnx` and `program` (`accc_export.export`; the latter is newer than these tables), `traced` (`torch.jit.trace`),
`scripted` (`torch.jit.script`) and `joint` (`accc_export.export_joint`: the gradients are PyTorch's own backward pass,
accc adds the optimizer).

The loss is the mean of what a model returns, each value weighted by the cosine of its index, and scaled so that the
median gradient has a root mean square of about 0.05, or, in large models, the gradients together a norm of 8: far above
the tolerance. A seed in whose run rounding decides (by the same rule, PyTorch is wrong against itself after weights are
moved by some units in the last place) is replaced by another. Where that was missed, the verdict is `rounding`: the
same library is right when it starts from weights four units in the last place away. A program that has another loss than
the module by PyTorch itself, or an ONNX file by ONNX's own reference evaluator, counts as not exported.

`worst` is the greatest relative RMSE of a tensor. One that is zero but for rounding, such as the gradient of a bias
before a batch norm, may show a large one and be right.

The suite `transformers` has one model of each architecture of that library that can be made small by rule (186), with the loss that it
computes of labels. It takes hours, and is run where it is asked for: `--suite transformers`. On 2026-11-30 these models, made small in nearly the same way
and exported by `accc_export` as programs of torch.export, all trained as in PyTorch. As joint graphs
184 of the suite's models train so, too; two are not built (one takes too long, the loss of another is infinite in PyTorch).

The suite `multimodal` has ten of its models of images and words (`--suite multimodal`). Nine train as in PyTorch as programs, eight as ONNX (PyTorch exports no
Mllama), and six as joint graphs (PyTorch traces none of Qwen-VL's). Idefics 3 selects images by their pixels, and is refused.
"""


REAL = """
## At real size

`scripts/model-zoo --real` trains models in their published configurations for one step, on two images or two sequences,
exported by torch.export. `compile s` is the compiler's processor time. `working` is what the compiler planned for a
step beside parameters and optimizer state, `memory` the most that a process holds beyond what it held before the model.
Steps (forward, backward, SGD; float32, threads: {threads}) of accc and of PyTorch in eager mode are measured in turns,
and `eager / accc` is the median of the ratios of a turn. The machine was shared with other work: times are rough.

| model | parameters | verdict | worst | compile s | kernels | working MiB | memory MiB | eager MiB | accc ms | eager ms | eager / accc |
|---|--:|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|
"""


def write(rows: list[Row], at_real_size: list[RealRow], path: pathlib.Path) -> None:
    text = HEADER + "\n" + _summary(rows) + _at_real_size(at_real_size) + _tables(rows)
    path.write_text(text + _problems([*rows, *at_real_size]) + _not_exported([*rows, *at_real_size]))


def _at_real_size(rows):
    if not rows:
        return ""
    text = REAL.format(threads=", ".join(sorted({str(row.threads) for row in rows if row.threads})))
    for row in rows:
        mebibytes = (x and x / 2**20 for x in (row.working, row.memory, row.eager_memory))
        values = (row.parameters and row.parameters / 1e6, row.processor_seconds, row.worst)
        million, seconds, worst = (_number(x, form) for x, form in zip(values, (".1f", ".1f", ".1e")))
        columns = [row.model, f"{million} M" if million else "", row.verdict, worst, seconds, _number(row.kernels, "d")]
        columns += [_number(x, ".0f") for x in (*mebibytes, row.step_ms, row.eager_ms)]
        text += "| " + " | ".join([*columns, _number(row.ratio, ".2f")]) + " |\n"
    return text


def _number(value, form):
    return "" if value is None else format(value, form)


def _summary(rows):
    lines = ["| suite | format | models tried | right | decided by rounding | wrong | refused by accc | no export |"]
    lines.append("|---|---|--:|--:|--:|--:|--:|--:|")
    groups = collections.defaultdict(list)
    for row in rows:
        groups[row.suite, row.format].append(row)
    for (suite, form), held in groups.items():
        count = collections.Counter(row.verdict for row in held)
        none = count["no export"] + count["not built"]
        lines.append(
            f"| {suite} | {form} | {len(held)} of {len(suites.load(suite).MODELS)} | {count['right']} "
            f"| {count['rounding']} | {count['wrong']} | {count['refused']} | {none} |"
        )
    return "\n".join(lines) + "\n"


def _tables(rows):
    text = ""
    for suite in dict.fromkeys(row.suite for row in rows):
        text += f"\n## {suite}\n\n| model | format | verdict | compile s | kernels | worst |\n"
        text += "|---|---|---|--:|--:|--:|\n"
        for row in rows:
            if row.suite == suite and row.verdict in ("right", "rounding", "wrong", "refused"):
                seconds = f"{row.seconds:.1f}" if row.seconds is not None else ""
                worst = f"{row.worst:.1e}" if row.worst is not None else ""
                kernels = row.kernels if row.kernels is not None else ""
                text += f"| {row.model} | {row.format} | {row.verdict} | {seconds} | {kernels} | {worst} |\n"
    return text


def _problems(rows):
    bad = [row for row in rows if row.verdict in ("wrong", "refused")]
    decided = [row for row in rows if row.verdict == "rounding"]
    text = _listed("What is not right yet", "No row.", bad)
    return text + _listed("What rounding decides", "No row.", decided)


def _not_exported(rows):
    """First the models that have no format at all, then what single exporters do not take."""
    bad = [row for row in rows if row.verdict in ("no export", "not built")]
    exported = {(row.suite, row.model) for row in rows if row not in bad}
    none = [row for row in bad if (row.suite, row.model) not in exported]
    some = [row for row in bad if (row.suite, row.model) in exported]
    text = _listed("What no exporter exports", "Some exporter takes every model.", none)
    return text + _listed("What one exporter does not export", "No row.", some)


def _listed(title, none, rows):
    text = f"\n## {title}\n\n"
    if not rows:
        return text + none + "\n"
    for row in rows:
        line = " ".join(re.sub(r"/\S*/(?=\S)", "", row.message).split())[:300].replace("`", "'")
        text += f"- {row.suite} {row.model}, {row.format}: `{line}`\n"
    return text
