"""What operations do, executed to the end on NumPy arrays.

`celosia.isa.operations.semantics` says which operation a command is; `machine.Machine` executes it.
This is the one executable meaning of the instruction set: the functional simulator, the interpreter
of programs and the models of RTL tests all use it.
"""
