"""Random programs with loops, of commands that mean nothing else."""

import random
from itertools import islice

from celosia.isa.config import AcceleratorConfig
from celosia.isa.encoding import CONFIG_PRODUCTS, PRODUCTS, REPEAT, STRIDE, Command, Funct
from celosia.isa.operations.loops import MAX_LOOP_DEPTH, expand

__all__ = ["LoopPrograms", "payload"]

PLAIN = [Funct.MVIN, Funct.MVOUT, Funct.CONFIG, Funct.COMPUTE_PRELOADED, Funct.FLUSH]


class LoopPrograms:
    """Draws programs from `rng`.

    `faults` is the chance that a loop is not well formed; it may then be followed by anything.
    With `products`, some commands are those of products.
    """

    def __init__(
        self,
        config: AcceleratorConfig,
        rng: random.Random,
        *,
        faults: float = 0.0,
        products: bool = True,
    ):
        self.config, self.rng, self.faults, self.with_products = config, rng, faults, products

    def short_program(self, parts: int, most: int = 300) -> tuple[list[Command], list[Command]]:
        """One that stands for at most so many commands, and these."""
        while True:
            program = self.program(parts)
            expanded = list(islice(expand(program, self.config), most + 1))
            if len(expanded) <= most:
                return program, [command for _, command in expanded]

    def program(self, parts: int) -> list[Command]:
        """Plain commands, products and loops."""
        commands = []
        for _ in range(parts):
            kind = self.rng.random()
            if kind < 0.4:
                commands += self.loop(0)
            elif kind < 0.45 and self.faulty():
                commands.append(self.rng.choice([self.stride(), REPEAT.encode(count=3)]))
            else:
                commands.append(self.command())
        return commands

    def loop(self, depth: int) -> list[Command]:
        """A REPEAT and its body."""
        body: list[Command] = []
        starts = []
        for _ in range(self.rng.choice([1, 1, 2, 3])):
            starts.append(len(body))
            if depth + 1 < MAX_LOOP_DEPTH and self.rng.random() < 0.4:
                body += self.loop(depth + 1)
                continue
            body.append(self.command())
            body += [self.stride() for _ in range(self.rng.randint(0, depth + 1))]
        length, count = len(body), self.rng.choice([1, 2, 2, 3, 4])
        left_out = length - self.rng.choice([*starts[1:], length]) if count > 1 else 0
        if self.faulty():
            length = self.rng.choice([0, length, max(1, length - 1), self.config.loop_entries + 1])
            count = self.rng.choice([0, 1, count])
            left_out = self.rng.choice([left_out, left_out, self.rng.randrange(length + 2)])
            body.insert(self.rng.randrange(len(body) + 1), self.stride())
        return [REPEAT.encode(count=count, length=length, left_out=left_out), *body]

    def faulty(self) -> bool:
        """Whether the next thing is wrong."""
        return self.rng.random() < self.faults

    def command(self) -> Command:
        """One that is not of loops, or stands for products."""
        words = self.rng.getrandbits(64), self.rng.getrandbits(64)
        if not self.with_products or self.rng.random() < 0.7:
            return Command(self.rng.choice(PLAIN), *words)
        if self.rng.random() < 0.5:
            return Command(CONFIG_PRODUCTS.funct, *words)
        return self.products()

    def products(self) -> Command:
        """PRODUCTS of a few tiles."""
        small = [1, 1, 2, 3]
        values = {name: self.rng.choice(small) for name in ("k", "pieces", "columns")}
        values |= {name: self.rng.randrange(1 << 16) for name in ("a", "w", "c")}
        for name in ("last_depth", "last_cols"):
            values[name] = self.rng.randint(1, self.config.dim)
        values |= {"rows": self.rng.randint(1, 99), "overwrite": self.rng.randrange(2)}
        if self.faulty():
            wrong = self.rng.choice(["rows", "k", "pieces", "columns", "last_depth", "last_cols"])
            values[wrong] = self.rng.choice([0, self.config.dim + 1])
        return PRODUCTS.encode(**values)

    def stride(self) -> Command:
        """Addends of either sign, with some lanes that wrap."""
        bits = self.rng.choice([3, 17, 33, 48])
        values = {f"addend{n}": self.rng.getrandbits(bits) for n in (1, 2)}
        if self.rng.random() < 0.4:
            values["addend1"] = -self.rng.getrandbits(20) % (1 << 48)
        for name in (f"wrap{n}_{lane}" for n in (1, 2) for lane in range(3)):
            values[name] = self.rng.choice([0, 0, self.rng.randrange(16)])
        return STRIDE.encode(**values)


def payload(command: Command) -> dict[str, int]:
    """`command` for a stream of COMMAND."""
    return command._asdict()
