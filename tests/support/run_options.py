"""Options of a run with others in their place, whichever record holds them."""

from dataclasses import fields, is_dataclass, replace

from celosia.sim.run.options.options import RunOptions

__all__ = ["changed"]


def changed(options: RunOptions, **values: object) -> RunOptions:
    """`options` with other values: of their own fields, or of those of their records."""
    for name, value in values.items():
        if name in {each.name for each in fields(options)}:
            options = replace(options, **{name: value})
            continue
        (record,) = (
            each.name
            for each in fields(options)
            if each.name != "details"
            and is_dataclass(part := getattr(options, each.name))
            and name in {field.name for field in fields(part)}
        )
        part = replace(getattr(options, record), **{name: value})
        options = replace(options, **{record: part})
    return options
