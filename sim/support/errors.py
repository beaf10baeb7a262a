"""What is wrong with the machine rather than with the program."""

__all__ = ["EnvironmentProblem"]


class EnvironmentProblem(RuntimeError):
    """A tool, a package or a place to write is missing.

    The message says what, and which package has it or what to set instead; the command line turns
    it into exit code 2.
    """
