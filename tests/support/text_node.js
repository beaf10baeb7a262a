// node text_node.js HOST.js... MODULE.wasm TEXT.json DATA.bin JOBS.json: writes texts on the module,
// with the scripts of the page, and prints what has come of them as JSON.
const fs = require("fs"), vm = require("vm"), { createHash } = require("crypto");
const words = process.argv.slice(2), [modulePath, textPath, dataPath, jobsPath] = words.splice(-4);
const sources = words.map((path) => fs.readFileSync(path, "utf8")).join("\n");
const { TextWriter } = vm.runInThisContext(sources + "\n;({ TextWriter });");
const module_ = new WebAssembly.Module(fs.readFileSync(modulePath));
const document = JSON.parse(fs.readFileSync(textPath)), data = new Uint8Array(fs.readFileSync(dataPath));
const results = JSON.parse(fs.readFileSync(jobsPath)).map(({ asked, timing }) => {
  try {
    const tokens = [], cycles = [], bytes = [];
    const writer = new TextWriter(document, data);
    let text = "";
    for (const found of writer.write(module_, asked, timing)) {
      if (!found.ends) tokens.push(found.token), text += found.text;
      for (const step of found.steps) cycles.push(step.cycles), bytes.push(step.bytes);
    }
    const digest = createHash("sha256").update(writer.memory()).digest("hex");
    return { tokens, text, cycles, bytes, digest };
  } catch (error) {
    return { error: error.message };
  }
});
console.log(JSON.stringify(results));
