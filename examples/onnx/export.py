"""Exports small transformers from their real producers, and compares them with Celosia's own.

    python export.py FOLDER [NAME ...]

writes a file for each name of `celosia.lab.exports.catalog` that torch and transformers (and,
for the fused ones, ONNX Runtime's optimizer) can make here, with random weights, and prints its
operators beside those of the model that Celosia builds without these packages.  What a producer
cannot export is said, and the others go on.
"""

import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

from celosia.lab.exports.catalog import EXPORTS
from celosia.lab.exports.writing.size import SMALL, Size

NEEDED = "torch transformers onnx onnxscript onnxruntime"


@dataclass(frozen=True)
class Producer:
    """A model of transformers, and how it is exported."""

    model: str
    configuration: str
    settings: dict[str, Any]
    attention: str = "eager"
    opset: int = 17
    dynamo: bool = False
    optimize: bool = True
    part: str = ""
    """The attribute that is exported instead of the whole model."""
    fused: bool = False
    arguments: dict[str, Any] = field(default_factory=dict)


def producers(size: Size) -> dict[str, Producer]:
    """The producers by the names of the catalog."""
    bert = {
        "vocab_size": size.vocabulary,
        "hidden_size": size.width,
        "num_hidden_layers": size.layers,
        "num_attention_heads": size.heads,
        "intermediate_size": size.hidden,
        "max_position_embeddings": size.positions,
    }
    image = {"image_size": size.image, "patch_size": size.patch}
    vit = {name: value for name, value in bert.items() if "embed" not in name} | image
    vit.pop("vocab_size")
    gpt2 = {
        "vocab_size": size.vocabulary,
        "n_embd": size.width,
        "n_layer": size.layers,
        "n_head": size.heads,
        "n_positions": size.positions,
        "use_cache": False,
    }
    opt = {
        "vocab_size": size.vocabulary,
        "hidden_size": size.width,
        "word_embed_proj_dim": size.width,
        "num_hidden_layers": size.layers,
        "num_attention_heads": size.heads,
        "ffn_dim": size.hidden,
        "max_position_embeddings": size.positions,
        "use_cache": False,
    }
    llama = bert | {"num_key_value_heads": size.key_heads, "use_cache": False}
    whisper = {
        "d_model": size.width,
        "encoder_layers": size.layers,
        "encoder_attention_heads": size.heads,
        "encoder_ffn_dim": size.hidden,
        "decoder_layers": 1,
        "decoder_attention_heads": size.heads,
        "num_mel_bins": size.mels,
        "max_source_positions": size.positions // 2,
    }
    bart = {
        "vocab_size": size.vocabulary,
        "d_model": size.width,
        "encoder_layers": 1,
        "decoder_layers": size.layers,
        "encoder_attention_heads": size.heads,
        "decoder_attention_heads": size.heads,
        "decoder_ffn_dim": size.hidden,
        "max_position_embeddings": size.positions,
        "use_cache": False,
    }
    t5 = {
        "vocab_size": size.vocabulary,
        "d_model": size.width,
        "d_kv": size.head_width,
        "d_ff": size.hidden,
        "num_layers": size.layers,
        "num_heads": size.heads,
    }
    plain = {"add_pooling_layer": False}

    def of(name: str, settings: dict[str, Any], **others: Any) -> Producer:
        return Producer(f"{name}Model", f"{name}Config", settings, **others)

    return {
        "bert-13": of("Bert", bert, opset=13, arguments=plain),
        "bert-17": of("Bert", bert, arguments=plain),
        "bert-sdpa": of("Bert", bert, attention="sdpa", arguments=plain),
        "bert-dynamo": of(
            "Bert", bert, attention="sdpa", opset=18, dynamo=True, optimize=False, arguments=plain
        ),
        "bert-attention": of(
            "Bert", bert, attention="sdpa", opset=23, dynamo=True, arguments=plain
        ),
        "bert-fused": of("Bert", bert, opset=13, fused=True, arguments=plain),
        "vit": of("ViT", vit, attention="sdpa", arguments=plain),
        "gpt2": Producer("GPT2LMHeadModel", "GPT2Config", gpt2, opset=18, dynamo=True),
        "opt": Producer("OPTForCausalLM", "OPTConfig", opt),
        "llama": Producer("LlamaForCausalLM", "LlamaConfig", llama, opset=18, dynamo=True),
        "whisper-encoder": of("Whisper", whisper, attention="sdpa", part="encoder"),
        "bart-decoder": of("Bart", bart, attention="sdpa", part="decoder"),
        "t5-encoder": Producer("T5EncoderModel", "T5Config", t5, opset=13),
    }


def export(name: str, producer: Producer, folder: Path) -> Path:
    """Write the model of a producer; raises what torch raises."""
    torch, transformers = import_module("torch"), import_module("transformers")
    torch.manual_seed(0)
    settings = producer.settings | {"attn_implementation": producer.attention, "return_dict": True}
    configuration = getattr(transformers, producer.configuration)(**settings)
    model = getattr(transformers, producer.model)(configuration, **producer.arguments).eval()
    if producer.part:
        model = getattr(model, producer.part)
    declared = {one.name: one for one in EXPORTS[name].build(SMALL).graph.input}
    inputs = EXPORTS[name].inputs(SMALL, 0, batch=2, tokens=16)
    axes = {
        key: {
            axis: dimension.dim_param
            for axis, dimension in enumerate(declared[key].type.tensor_type.shape.dim)
            if dimension.dim_param
        }
        for key in inputs
    }
    path = folder / f"{name}.onnx"
    options: dict[str, Any] = {"dynamic_axes": axes | {"output": {0: "batch"}}}
    if producer.dynamo:
        open_size = torch.export.Dim.DYNAMIC
        shapes = {key: dict.fromkeys(found, open_size) for key, found in axes.items()}
        options = {
            "dynamic_shapes": shapes,
            "optimize": producer.optimize,
            "external_data": False,
            "verbose": False,
        }
    torch.onnx.export(
        model,
        args=(),
        kwargs={key: torch.from_numpy(value) for key, value in inputs.items()},
        f=path,
        input_names=list(inputs),
        output_names=["output"],
        opset_version=producer.opset,
        dynamo=producer.dynamo,
        **options,
    )
    if producer.fused:
        optimizer = import_module("onnxruntime.transformers.optimizer")
        heads = {"num_heads": SMALL.heads, "hidden_size": SMALL.width}
        fused = optimizer.optimize_model(str(path), model_type="bert", **heads)
        fused.save_model_to_file(str(path))
    return path


def operators(model: Any) -> Counter[str]:
    """How often each operator occurs."""
    return Counter(node.op_type for node in model.graph.node)


def compare(name: str, real: Counter[str], say: Callable[[str], Any] = print) -> None:
    """Print by how many of each operator a real export differs from Celosia's model."""
    ours = operators(EXPORTS[name].build(SMALL))
    kinds = [kind for kind in sorted(real | ours) if real[kind] != ours[kind]]
    differences = ", ".join(f"{kind} {ours[kind]} for {real[kind]}" for kind in kinds)
    say(f"{name}: {ours.total()} nodes for {real.total()}; {differences or 'the same operators'}")


def main(arguments: list[str]) -> int:
    """Export what is named, or all; 2 for bad arguments or missing packages."""
    known = producers(SMALL)
    unknown = [name for name in arguments[1:] if name not in known]
    if not arguments or unknown:
        wrong = f"{unknown[0]}: is not one of them\n" if unknown else ""
        print(f"{wrong}usage: export.py FOLDER [{' | '.join(known)}]", file=sys.stderr)
        return 2
    try:
        for package in ("torch", "transformers", "onnx"):
            import_module(package)
    except ImportError as error:
        print(f"{error.name}: is not installed; pip install {NEEDED}", file=sys.stderr)
        return 2
    folder = Path(arguments[0])
    folder.mkdir(parents=True, exist_ok=True)
    load = import_module("onnx").load
    for name in arguments[1:] or known:
        try:
            path = export(name, known[name], folder)
        except Exception as error:
            # A producer's own limits: torch and transformers raise all kinds.
            print(f"{name}: {type(error).__name__}: {str(error).splitlines()[0]}")
            continue
        compare(name, operators(load(path)))
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
