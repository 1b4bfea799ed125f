# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models of transformers, one of each architecture with some head, made small, with random weights and the losses that they compute of labels."""

import inspect

import torch

from wrapping import Model

_HEADS = {
    "AudioClassification": """
        Data2VecAudioForSequenceClassification HubertForSequenceClassification SEWForSequenceClassification
        UniSpeechForSequenceClassification UniSpeechSatForSequenceClassification Wav2Vec2ConformerForSequenceClassification
        Wav2Vec2ForSequenceClassification WavLMForSequenceClassification
    """,
    "CTC": """
        Data2VecAudioForCTC HubertForCTC SEWForCTC UniSpeechForCTC UniSpeechSatForCTC Wav2Vec2ForCTC WavLMForCTC
    """,
    "CausalLM": """
        Apertus1p5TextForCausalLM BambaForCausalLM BioGptForCausalLM BitNetForCausalLM CTRLLMHeadModel CodeGenForCausalLM
        Cohere2ForCausalLM CohereForCausalLM CpmAntForCausalLM CwmForCausalLM DeepseekV4ForCausalLM DogeForCausalLM FlexOlmoForCausalLM
        FlintForCausalLM GPTNeoXJapaneseForCausalLM Gemma3ForConditionalGeneration GotOcr2ForConditionalGeneration GraniteForCausalLM
        GraniteMoeForCausalLM GraniteMoeHybridForCausalLM GraniteMoeSWAForCausalLM GraniteMoeSharedForCausalLM GraniteSWAForCausalLM
        HYV3ForCausalLM HrmTextForCausalLM HyperCLOVAXForCausalLM Inkling2ForCausalLM Inkling2LoopForCausalLM Jais2ForCausalLM
        JambaForCausalLM LaraMiniForCausalLM Lfm2ForCausalLM Lfm3ForCausalLM Llama4ForCausalLM MiniMaxForCausalLM MllamaForCausalLM
        ModernBertDecoderForCausalLM MoshiForCausalLM MossTranscribeDiarizeForConditionalGeneration MvpForCausalLM NanoChatForCausalLM
        NemotronHForCausalLM Olmo2ForCausalLM Olmo3ForCausalLM OlmoForCausalLM OlmoHybridForCausalLM OlmoeForCausalLM
        OpenAIGPTLMHeadModel Phi4MultimodalForCausalLM PhiForCausalLM Qwen2ForCausalLM Qwen3_5MoeForCausalLM RecurrentGemmaForCausalLM
        RwkvForCausalLM SmolLM3ForCausalLM SolarOpenForCausalLM StableLmForCausalLM VaultGemmaForCausalLM ZayaForCausalLM
    """,
    "ImageClassification": """
        CLIPForImageClassification ConvNextForImageClassification ConvNextV2ForImageClassification HieraForImageClassification
        ImageGPTForImageClassification MobileNetV1ForImageClassification MobileNetV2ForImageClassification
        PoolFormerForImageClassification RegNetForImageClassification ResNetForImageClassification SiglipForImageClassification
        SwiftFormerForImageClassification ViTMSNForImageClassification
    """,
    "MaskedLM": """
        ConvBertForMaskedLM GteForMaskedLM JinaEmbeddingsV3ForMaskedLM TapasForMaskedLM
    """,
    "MultipleChoice": """
        AlbertForMultipleChoice FlaubertForMultipleChoice RobertaPreLayerNormForMultipleChoice XLMRobertaXLForMultipleChoice
    """,
    "NextSentencePrediction": """
        ErnieForNextSentencePrediction FNetForNextSentencePrediction
    """,
    "QuestionAnswering": """
        ArceeForQuestionAnswering BartForQuestionAnswering BigBirdForQuestionAnswering BloomForQuestionAnswering
        CanineForQuestionAnswering ConvBertForQuestionAnswering Data2VecTextForQuestionAnswering ErnieForQuestionAnswering
        Exaone4ForQuestionAnswering FNetForQuestionAnswering FlaubertForQuestionAnsweringSimple FunnelForQuestionAnswering
        GPT2ForQuestionAnswering GPTJForQuestionAnswering LlamaForQuestionAnswering MBartForQuestionAnswering
        MarkupLMForQuestionAnswering MiniMaxForQuestionAnswering Ministral3ForQuestionAnswering ModernBertForQuestionAnswering
        MptForQuestionAnswering MvpForQuestionAnswering NystromformerForQuestionAnswering Qwen2ForQuestionAnswering
        Qwen2MoeForQuestionAnswering Qwen3ForQuestionAnswering Qwen3MoeForQuestionAnswering Qwen3NextForQuestionAnswering
        RemBertForQuestionAnswering RoCBertForQuestionAnswering RobertaPreLayerNormForQuestionAnswering SmolLM3ForQuestionAnswering
        SplinterForQuestionAnswering SqueezeBertForQuestionAnswering UltrabertForQuestionAnswering XLMForQuestionAnsweringSimple
        XLMRobertaForQuestionAnswering XLMRobertaXLForQuestionAnswering
    """,
    "SemanticSegmentation": """
        MobileNetV2ForSemanticSegmentation MobileViTForSemanticSegmentation UperNetForSemanticSegmentation
    """,
    "Seq2SeqLM": """
        AudioFlamingo3ForConditionalGeneration BlenderbotForConditionalGeneration EncoderDecoderModel GlmAsrForConditionalGeneration
        GraniteSpeechForConditionalGeneration GraniteSpeechPlusForConditionalGeneration LongT5ForConditionalGeneration MarianMTModel
        MusicFlamingoForConditionalGeneration NllbMoeForConditionalGeneration OmniASRForConditionalGeneration
        PegasusXForConditionalGeneration ProphetNetForConditionalGeneration Qwen2AudioForConditionalGeneration
        Qwen3ASRForConditionalGeneration UMT5ForConditionalGeneration VoxtralForConditionalGeneration
    """,
    "SequenceClassification": """
        BigBirdForSequenceClassification CamembertForSequenceClassification ErnieForSequenceClassification FNetForSequenceClassification
        Gemma2ForSequenceClassification GteForSequenceClassification NystromformerForSequenceClassification OPTForSequenceClassification
        Olmo3ForSequenceClassification TapasForSequenceClassification XLMRobertaXLForSequenceClassification
    """,
    "SpeechSeq2Seq": """
        CohereAsrForConditionalGeneration Pop2PianoForConditionalGeneration SpeechT5ForSpeechToText WhisperForConditionalGeneration
    """,
    "TokenClassification": """
        BertForTokenClassification BioGptForTokenClassification CamembertForTokenClassification EuroBertForTokenClassification
        FalconForTokenClassification GteForTokenClassification JinaEmbeddingsV3ForTokenClassification LayoutLMForTokenClassification
        MegatronBertForTokenClassification NomicBertForTokenClassification NystromformerForTokenClassification
        PersimmonForTokenClassification RemBertForTokenClassification SqueezeBertForTokenClassification T5GemmaForTokenClassification
        UMT5ForTokenClassification
    """,
}
"""What a head is for -> classes with one."""

MODELS: dict[str, str] = {name: head for head, names in _HEADS.items() for name in names.split()}

BATCH, TIME, WORDS, CLASSES = 2, 8, 99, 3

_SMALL = dict(
    vocab_size=WORDS, decoder_vocab_size=WORDS, num_mel_bins=16, image_size=32, patch_size=8, num_queries=5, num_codebooks=2, num_buckets=8,
    relative_attention_num_buckets=8, rotary_dim=4, sliding_window=4, attention_window=4, state_size=8, expand=2, time_step_rank=4,
    conv_kernel_size=3, mamba_n_heads=8, mamba_d_head=8, mamba_n_groups=1, n_mamba_heads=2, n_group=1, topk_group=1, first_k_dense_replace=1,
    num_experts_per_tok=2, moe_topk=2, q_lora_rank=8, kv_lora_rank=8, qk_rope_head_dim=4, qk_nope_head_dim=4, v_head_dim=8,
    **dict.fromkeys(("hidden_size", "d_model", "n_embd", "dim", "embed_dim", "emb_dim", "embedding_size", "projection_dim", "d_embed"), 32),
    **dict.fromkeys(("decoder_hidden_size", "encoder_hidden_size", "mask_feature_size", "fpn_feature_size", "qformer_hidden_size"), 32),
    **dict.fromkeys(("num_hidden_layers", "n_layer", "n_layers", "num_layers", "num_blocks", "encoder_layers", "decoder_layers"), 2),
    **dict.fromkeys(("num_encoder_layers", "num_decoder_layers", "decoder_num_hidden_layers", "encoder_num_hidden_layers"), 2),
    **dict.fromkeys(("num_attention_heads", "n_head", "n_heads", "num_heads", "encoder_attention_heads", "decoder_attention_heads"), 4),
    **dict.fromkeys(("decoder_num_attention_heads", "encoder_num_attention_heads", "num_experts", "num_local_experts", "n_routed_experts"), 4),
    **dict.fromkeys(("num_key_value_heads", "n_kv_heads", "num_kv_heads", "decoder_num_key_value_heads", "encoder_num_key_value_heads"), 2),
    **dict.fromkeys(("intermediate_size", "ffn_dim", "d_ff", "n_inner", "encoder_ffn_dim", "decoder_ffn_dim", "ffn_hidden_size"), 64),
    **dict.fromkeys(("d_inner", "hidden_dim", "decoder_intermediate_size"), 64),
    **dict.fromkeys(("moe_intermediate_size", "shared_expert_intermediate_size"), 32),
    **dict.fromkeys(("d_kv", "head_dim", "kv_channels"), 8),
    **dict.fromkeys(("max_position_embeddings", "n_positions", "max_source_positions", "max_target_positions", "n_ctx"), 64),
)
"""What makes a configuration small, under every name that some class has for it."""

_WORDS = dict(pad_token_id=1, bos_token_id=2, eos_token_id=3, decoder_start_token_id=2)
_PLAIN = dict(use_cache=False, apply_spec_augment=False, mask_time_prob=0.0, mask_feature_prob=0.0)
_PLAIN |= dict(layerdrop=0.0, encoder_layerdrop=0.0, decoder_layerdrop=0.0)


def build(name: str, seed: int = 0) -> Model:
    import transformers

    kind = getattr(transformers, name, None)
    if kind is None:
        raise ValueError(f"transformers {transformers.__version__} has no {name} any more")
    head = MODELS[name]
    torch.manual_seed(seed)
    try:
        module = kind(_configuration(kind.config_class, head, "sdpa"))
    except ValueError:  # it has no fused attention
        module = kind(_configuration(kind.config_class, head, "eager"))
    return Model(module, _inputs(module, head, seed))


def _configuration(kind, head: str, attention: str):
    own = {key: value for key, value in _shrunk(kind()).to_dict().items() if key not in ("transformers_version", "model_type", "architectures", "dtype")}
    configuration = _shrunk(kind(**own))  # which computes some of the others
    configuration.num_labels = 2 if head == "QuestionAnswering" else CLASSES
    for key, value in _WORDS.items():
        if getattr(configuration, key, None) is None:
            setattr(configuration, key, value)
    configuration._attn_implementation = attention
    return configuration


def _shrunk(configuration):
    for key, value in list(vars(configuration).items()):
        if hasattr(value, "to_dict"):
            _shrunk(value)
        elif isinstance(value, (list, tuple)) and value:
            _shorten(configuration, key, value)
        elif key in _WORDS and value is not None and not isinstance(value, (list, tuple)):
            setattr(configuration, key, _WORDS[key])
        elif key in _SMALL and isinstance(value, int) and not isinstance(value, bool):
            setattr(configuration, key, min(value, _SMALL[key]))
        elif "drop" in key and isinstance(value, float):
            setattr(configuration, key, 0.0)
    for key, value in _PLAIN.items():
        if hasattr(configuration, key):
            setattr(configuration, key, value)
    if hasattr(configuration, "classifier_dropout"):
        configuration.classifier_dropout = 0.0
    return configuration


def _shorten(configuration, key: str, value) -> None:
    """Lists with an element for each layer, or stage."""
    if key == "layer_types":
        configuration.layer_types = ([*dict.fromkeys(value)] + value[:1])[:2]
    elif key in ("hidden_sizes", "embed_dims"):
        setattr(configuration, key, [16 * (i + 1) for i in range(len(value))])
    elif key == "depths":
        configuration.depths = [1] * len(value)


def _inputs(module, head: str, seed: int) -> dict[str, torch.Tensor]:
    generator = torch.Generator().manual_seed(seed + 2)
    text = module.config.get_text_config()
    words = torch.randint(4, getattr(text, "vocab_size", None) or WORDS, (BATCH, TIME), generator=generator)
    size = getattr(module.config, "image_size", None) or 32
    size = size if isinstance(size, int) else size[0]
    given = {
        "pixel_values": lambda: torch.randn(BATCH, getattr(module.config, "num_channels", 3), size, size, generator=generator),
        "input_values": lambda: torch.randn(BATCH, 1600, generator=generator),
        "input_features": lambda: _sound(module.config, generator),
        "input_ids": lambda: words,
    }
    name = module.main_input_name if "input_ids" not in inspect.signature(module.forward).parameters or head == "SpeechSeq2Seq" else "input_ids"
    inputs = {name: given[name]()}
    if name == "input_ids":
        inputs["attention_mask"] = (torch.arange(TIME) < torch.tensor([[TIME], [TIME - 3]])).long()
    if head == "MultipleChoice":
        inputs = {name: x[:, None].repeat(1, CLASSES, 1) for name, x in inputs.items()}
    if head == "QuestionAnswering":
        return inputs | {"start_positions": torch.tensor([1, 3]), "end_positions": torch.tensor([2, 4])}
    return inputs | {"labels": _labels(head, words, size, generator)}


def _sound(configuration, generator: torch.Generator) -> torch.Tensor:
    """A spectrogram, with its times last or first."""
    encoder = getattr(configuration, "encoder_config", configuration)
    bins = getattr(encoder, "num_mel_bins", _SMALL["num_mel_bins"])
    return torch.randn(BATCH, bins, 128, generator=generator) if encoder is configuration else torch.randn(BATCH, 128, bins, generator=generator)


def _labels(head: str, words: torch.Tensor, size: int, generator: torch.Generator) -> torch.Tensor:
    if head in ("CausalLM", "Seq2SeqLM", "SpeechSeq2Seq"):
        return words
    if head in ("MaskedLM", "CTC"):  # -100 is none
        return torch.where(torch.rand(words.shape, generator=generator) < 0.5, words, -100)
    if head == "TokenClassification":
        return torch.randint(0, CLASSES, words.shape, generator=generator)
    if head == "SemanticSegmentation":
        return torch.randint(0, CLASSES, (BATCH, size, size), generator=generator)
    return torch.tensor([0, 1])
