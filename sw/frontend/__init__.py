"""From files of other tools to graphs that the compiler takes."""
