// node node.js HOST.js... MODULE.wasm JOB.json: runs each of the job's programs on the module, and
// prints what has become of them as JSON.  The processor time is that of the last repetition.
const fs = require("fs"), vm = require("vm"), { createHash } = require("crypto");
const words = process.argv.slice(2), [modulePath, jobPath] = words.splice(-2);
const sources = words.map((path) => fs.readFileSync(path, "utf8")).join("\n");
const { runProgram, watchProgram } = vm.runInThisContext(sources + "\n;({ runProgram, watchProgram });");
const bytes = (text) => Uint8Array.from(Buffer.from(text, "base64"));
const job = JSON.parse(fs.readFileSync(jobPath, "utf8"));
const module_ = new WebAssembly.Module(fs.readFileSync(modulePath));
const results = job.programs.map(({ timing, memory, commands, budget, repeat, watch }) => {
  const program = { memory: bytes(memory), commands: bytes(commands) };
  if (watch) {
    const { memory: left, words, ...watched } = watchProgram(module_, job.machine, timing, program, watch);
    return { ...watched, words: [...words], digest: createHash("sha256").update(left).digest("hex") };
  }
  let result, seconds = 0;
  for (let i = 0; i < repeat; i++) {
    const begin = process.cpuUsage();
    result = runProgram(module_, job.machine, timing, program, budget);
    const used = process.cpuUsage(begin);
    seconds = (used.user + used.system) / 1e6;
  }
  const { state, problem, command, cycles, counters } = result;
  const digest = createHash("sha256").update(result.memory).digest("hex");
  return { state, problem, command, cycles, counters, digest, seconds };
});
console.log(JSON.stringify(results));
