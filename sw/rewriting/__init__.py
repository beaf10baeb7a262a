"""One engine for all rewriting of graphs: recognizers and substitutions are its rules."""
