// Runs a program and keeps what `watched.py` names of some of its cycles.  Cycle 1 is the one that
// takes the first command, and the last one is that of the last response, as in `bench.h`.
//
// `program` is as for `runProgram`.  What is kept are the words of at most `count` cycles from cycle
// `first` on; the rest of the run is looked at, too, for at most `budget` cycles: `taken` has the
// cycle in which each command was taken, and `turns` the products that the array turned to.
function watchProgram(module, machine, timing, program, { first = 1, count = 2000, budget = 200000 } = {}) {
  const accelerator = new Accelerator(module, machine, timing), { size, said } = machine.watched, { calls } = accelerator;
  accelerator.bytes(0, program.memory.length).set(program.memory);
  accelerator.start(program.commands);
  const place = calls.malloc(4 * size), kept = new Int32Array(size * count), taken = [], turns = [];
  let going = true, cycle = 0, turned = false, left = budget;
  while (going && left-- > 0) {
    going = !!calls.celosia_watch(accelerator.handle, place);
    const words = new Int32Array(calls.memory.buffer, place, size);
    cycle = words[said.cycle];
    if (!cycle) continue;
    while (taken.length < words[said.accepted]) taken.push(cycle);
    if (turned) turns.push({ cycle, command: words[said.product] });
    turned = !!words[said.turns];
    if (cycle >= first && cycle < first + count) kept.set(words, size * (cycle - first));
  }
  const result = accelerator.result(), last = going ? cycle : result.cycles;
  if (going) {
    result.problem = stoppedAfter(budget);
    result.command = taken.length - 1;
  }
  const cycles = Math.max(0, Math.min(count, last - first + 1));
  return { ...result, first, last, words: kept.slice(0, size * cycles), taken, turns,
    memory: accelerator.bytes(0, program.memory.length).slice() };
}
