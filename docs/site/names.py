"""References to names of Python in the site: one that has two meanings leads nowhere."""

import builtins
from typing import Any

from sphinx.domains.python import PythonDomain

__all__ = ["Names", "setup"]


class Names(PythonDomain):
    """Sphinx's own domain, whose words of docstrings are links only where one thing is meant."""

    def find_obj(
        self, env: Any, modname: Any, classname: Any, name: str, type: Any, searchmode: int = 0
    ) -> list[Any]:
        """What `name` may be: one thing, or none; Python's own names are none of ours."""
        if hasattr(builtins, name):
            return []
        found = super().find_obj(env, modname, classname, name, type, searchmode)
        return found if len(found) == 1 else []


def setup(app: Any) -> dict[str, Any]:
    """Take the place of Sphinx's domain of Python."""
    app.add_domain(Names, override=True)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
