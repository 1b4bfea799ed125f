# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""BERT, GPT-2 and a Llama-style model as Hugging Face transformers has them, random weights.

The language models return logits as [batch * time, words], so that cross_entropy applies. Small
configurations start from larger weights than the full ones: with the usual 0.02 and a width of 16,
nothing of the input would reach the output.
"""

import torch
from torch import nn

from cases import Case, perturb


class Logits(nn.Module):
    """Only the logits of a Hugging Face classifier."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, input_ids, attention_mask):
        return self.model(input_ids, attention_mask=attention_mask).logits


class FlatLogits(nn.Module):
    """Only the logits of a Hugging Face language model, batch and time joined."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, input_ids):
        # Without a mask the models look for packed sequences by means of aten::diff, which the
        # TorchScript exporter does not know. A mask of ones means the same.
        mask = torch.ones_like(input_ids) if torch.jit.is_tracing() else None
        logits = self.model(input_ids, attention_mask=mask, use_cache=False).logits
        return logits.reshape(-1, logits.shape[-1])


def bert(config, dropout=0.0):
    """Sequence classification, two classes, the ends of some rows padded.

    With dropout, attention is written out: at opset 23 PyTorch adds the boolean mask of the fused form to the scores.
    """
    from transformers import BertConfig, BertForSequenceClassification

    small = dict(
        vocab_size=100,
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=32,
        initializer_range=0.25,
    )
    settings = BertConfig(
        hidden_dropout_prob=dropout,
        attention_probs_dropout_prob=dropout,
        attn_implementation="eager" if dropout else "sdpa",
        **({} if config == "full" else small),
    )
    module = Logits(BertForSequenceClassification(settings))
    perturb(module)
    batch, time = (8, 128) if config == "full" else (4, 16)
    generator = torch.Generator().manual_seed(2)
    mask = torch.ones(batch, time, dtype=torch.int64)
    mask[1, time // 2 :] = 0
    mask[-1, -3:] = 0
    return Case(
        module=module,
        inputs={
            # From 1 on: 0 is the padding word, whose embedding PyTorch does not train, and ONNX has no way
            # to say so.
            "input_ids": torch.randint(1, settings.vocab_size, (batch, time), generator=generator),
            "attention_mask": mask,
        },
        target=torch.randint(2, (batch,), generator=generator),
        optimizer="adamw,weight_decay=0.01",
        lr=5e-5,
    )


def _language_model(model, batch, time, words, **options):
    module = FlatLogits(model)
    perturb(module)
    generator = torch.Generator().manual_seed(2)
    tokens = torch.randint(words, (batch, time + 1), generator=generator)
    return Case(
        module=module,
        inputs={"input_ids": tokens[:, :-1].contiguous()},
        target=tokens[:, 1:].reshape(-1).contiguous(),
        **options,
    )


def gpt2(config):
    """124 million parameters, embedding and output tied, dropout off."""
    from transformers import GPT2Config, GPT2LMHeadModel

    small = dict(vocab_size=100, n_positions=32, n_embd=16, n_layer=2, n_head=2)
    small.update(initializer_range=0.25)
    settings = GPT2Config(
        resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0, **({} if config == "full" else small)
    )
    batch, time = (2, 256) if config == "full" else (2, 16)
    return _language_model(
        GPT2LMHeadModel(settings),
        batch,
        time,
        settings.vocab_size,
        optimizer="adamw,weight_decay=0.1",
        lr=1e-4,
    )


def llama15m(config):
    """15 million parameters: RMS norm, rotary embedding, SwiGLU, embedding and output tied."""
    from transformers import LlamaConfig, LlamaForCausalLM

    full = dict(
        vocab_size=32000,
        hidden_size=288,
        intermediate_size=768,
        num_hidden_layers=6,
        num_attention_heads=6,
        max_position_embeddings=256,
    )
    small = dict(
        vocab_size=100,
        hidden_size=16,
        intermediate_size=40,
        num_hidden_layers=2,
        num_attention_heads=2,
        max_position_embeddings=32,
        initializer_range=0.25,
    )
    settings = LlamaConfig(tie_word_embeddings=True, **(full if config == "full" else small))
    batch, time = (4, 256) if config == "full" else (2, 16)
    return _language_model(
        LlamaForCausalLM(settings),
        batch,
        time,
        settings.vocab_size,
        optimizer="adamw,weight_decay=0.1,beta2=0.95",
        lr=1e-4 if config == "full" else 1e-3,
    )
