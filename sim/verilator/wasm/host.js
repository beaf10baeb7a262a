// Runs programs on a module of `modules.py`, as `celosia.sim.devices.rtl_device` does natively: the
// registers are written, commands stream, cycles pass, and counters are read.  `machine` is what
// `machine.py` says of a configuration: no offset and no register is written here.
class Accelerator {
  // `module` is a compiled WebAssembly.Module; `timing` has `latency` and `bytesPerCycle`.
  constructor(module, machine, timing) {
    const instance = new WebAssembly.Instance(module, systemOf(() => this.calls.memory));
    this.calls = instance.exports, this.machine = machine;
    this.calls._initialize();
    const bench = Uint8Array.from(atob(machine.bench), (letter) => letter.charCodeAt(0));
    const set = new DataView(bench.buffer), at = machine.benchFields;
    const patience = machine.patience + machine.patiencePerLatency * timing.latency;
    set.setUint32(at.latency, timing.latency, true);
    set.setUint32(at.bytesPerCycle, timing.bytesPerCycle, true);
    set.setBigUint64(at.watchdog, BigInt(patience + machine.margin), true);
    this.handle = this.calls.celosia_create(this.put(bench), machine.seed);
    this.memory = this.calls.celosia_memory(this.handle);
    for (const [offset, word] of machine.before) this.access(offset, word);
    this.access(machine.watchdog, patience);
  }

  put(bytes) {
    const place = this.calls.malloc(bytes.length || 1);
    new Uint8Array(this.calls.memory.buffer).set(bytes, place);
    return place;
  }

  // Bytes of device memory, from `offset` behind its base on: a view, until more memory is taken.
  bytes(offset, size) {
    return new Uint8Array(this.calls.memory.buffer, this.memory + offset, size);
  }

  // Reads a register, or writes `word` to it.
  access(offset, word) {
    const { goals, accessCycles, whole } = this.machine, write = word !== undefined;
    const request = new Uint32Array([write ? 1 : 0, offset, word || 0, whole]);
    const place = this.put(new Uint8Array(request.buffer));
    this.calls.celosia_access(this.handle, place);
    this.calls.celosia_run(this.handle, BigInt(accessCycles), goals.access);
    this.calls.free(place);
    const status = this.status();
    if (status.accessing || status.response) throw new Error("no answer of a register: " + status.message);
    return status.data;
  }

  status() {
    const { size, fields } = this.machine.status;
    this.place ??= this.calls.malloc(size);
    this.calls.celosia_status(this.handle, this.place);
    const view = new DataView(this.calls.memory.buffer, this.place, size), found = {};
    for (const [name, [at, bytes]] of Object.entries(fields)) {
      if (bytes === 4) found[name] = view.getUint32(at, true);
      else if (bytes === 8) found[name] = Number(view.getBigUint64(at, true));
      else found[name] = String.fromCharCode(...new Uint8Array(view.buffer, this.place + at, bytes)).split("\0")[0];
    }
    return found;
  }

  // Two registers as one number: of 64 bits, which no other number keeps.
  long([low, high]) { return BigInt(this.access(low)) | BigInt(this.access(high)) << 32n; }

  pair(places) { return Number(this.long(places)); }

  // Puts a ring image of commands on offer; `advance` lets them run.
  start(commands) {
    const place = this.put(commands);
    this.calls.celosia_load(this.handle, place, BigInt(commands.length / this.machine.commandBytes));
    this.calls.free(place);
  }

  // The same behind a program that has ended well: counters begin anew.
  again(commands) {
    for (const [offset, word] of this.machine.again) this.access(offset, word);
    this.start(commands);
  }

  // At most so many cycles more.  Whether the run goes on.
  advance(cycles) {
    this.calls.celosia_run(this.handle, BigInt(cycles), this.machine.goals.over);
    return !!this.calls.celosia_towards(this.handle, this.machine.goals.over);
  }

  counters() {
    const found = {};
    for (const [name, place] of Object.entries(this.machine.counters)) found[name] = this.pair(place);
    return found;
  }

  // How the run stands: `problem` is empty if it ended well, or has not ended yet.
  result() {
    const status = this.status(), { states, error, causes } = this.machine;
    const state = states[status.state], alive = status.state < states.indexOf("PROTOCOL");
    let problem = "", command = null;
    if (state === "ERROR_REGISTER") {
      const cause = this.access(error.cause) & error.mask, address = this.long(error.address);
      command = this.access(error.command);
      problem = causes[cause] + (address ? " at address 0x" + address.toString(16) : "");
    } else if (state === "WATCHDOG") problem = "nothing moved any more";
    else if (!alive) problem = status.message || state.toLowerCase();
    const ended = state !== "RUNNING";
    return { state, problem, command, cycles: status.cycles, accepted: status.accepted,
      counters: ended && alive && state !== "WATCHDOG" ? this.counters() : null };
  }
}

function stoppedAfter(budget) {
  return "it was stopped after " + budget.toLocaleString("en") + (budget === 1 ? " cycle" : " cycles");
}

// Runs `program` to its end, or for `budget` cycles at most; `tell(cycles)` now and then.
function runProgram(module, machine, timing, program, budget, tell = () => {}) {
  const accelerator = new Accelerator(module, machine, timing), batch = 20000;
  accelerator.bytes(0, program.memory.length).set(program.memory);
  accelerator.start(program.commands);
  let left = budget, going = true;
  const begin = performance.now();
  for (; going && left > 0; left -= batch) {
    going = accelerator.advance(Math.min(batch, left));
    tell(accelerator.status().cycles);
  }
  const seconds = (performance.now() - begin) / 1000;
  const result = { ...accelerator.result(), seconds };
  if (going) {
    result.problem = stoppedAfter(budget);
    result.command = Math.max(0, accelerator.pair(machine.counters.commands) - 1);
  }
  result.memory = accelerator.bytes(0, program.memory.length).slice();
  return result;
}
