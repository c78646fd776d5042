"""Models whose generation is tuned: published sizes, which are given random weights."""
import json
import pathlib

PRESETS = pathlib.Path(__file__).resolve().parents[2] / "configs/presets.json"
# What the presets do not say of a model, because attention does not depend on it. The sources are the presets' own.
MODELS = {
    "llama-3.1-8b": {"model_type": "llama", "hidden_size": 4096, "intermediate_size": 14336, "vocab_size": 128256},
    "qwen2.5-7b": {"model_type": "qwen2", "hidden_size": 3584, "intermediate_size": 18944, "vocab_size": 152064},
    "gemma-2-9b": {"model_type": "gemma2", "hidden_size": 3584, "intermediate_size": 14336, "vocab_size": 256000},
}
# Members of a preset, what transformers calls them, and the type that it insists on.
NAMES = {"heads": ("num_attention_heads", int), "kv_heads": ("num_key_value_heads", int), "d_head": ("head_dim", int),
         "window": ("sliding_window", int), "softcap": ("attn_logit_softcapping", float)}
MOST_POSITIONS = 131072


def settings_of(model):
    """Returns the members of transformers' configuration of a model in MODELS, or of a file such as a published
    config.json. Raises ValueError or OSError."""
    if model not in MODELS:
        settings = json.loads(pathlib.Path(model).read_text(encoding="utf-8"))
        if "model_type" not in settings:
            raise ValueError(f"{model} has no model_type: it is not a config.json of transformers")
        return settings
    presets = json.loads(PRESETS.read_text(encoding="utf-8"))["presets"]
    preset = next(one for one in presets if one["name"] == model)
    attention = {name: kind(preset[member]) for member, (name, kind) in NAMES.items() if member in preset}
    return {"max_position_embeddings": MOST_POSITIONS, **MODELS[model], **attention}
