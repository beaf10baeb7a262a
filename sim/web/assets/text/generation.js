// Steps of one text on the RTL, as `celosia.sw.decoding.steps` takes them: programs are patched for
// the length of the text, and rows of tables written to memory.  All numbers come from the document
// (`celosia.sim.web.text.steps`), whose parts are places in `data`.
class TextSteps {
  constructor(module, document, data, timing, tell = () => {}) {
    Object.assign(this, { document, data, tell, length: 0 });
    this.accelerator = new Accelerator(module, document.machine, timing);
    const image = this.part(document.image);
    this.accelerator.bytes(0, image.length).set(image);
  }

  part([at, size]) { return this.data.subarray(at, at + size); }

  memory() { return this.accelerator.bytes(0, this.document.image[1]); }

  // The logits of what follows each token, and the steps that it took.
  append(tokens) {
    const { rows } = this.document, logits = [], steps = [];
    for (let at = 0; at < tokens.length; at += rows) {
      const { found, ...step } = this.step(tokens.slice(at, at + rows));
      logits.push(...found), steps.push(step);
    }
    return { logits, steps };
  }

  goBack(length) { this.length = length; }

  step(tokens) {
    const { document, accelerator } = this, context = this.length;
    const rows = 2 ** Math.ceil(Math.log2(tokens.length));
    const program = document.programs.find((each) => each.rows === rows && context - each.first < document.bucket);
    for (const [at, size] of program.poisoned) accelerator.bytes(at, size).fill(document.poison);
    for (const [name, at] of Object.entries(program.inputs)) {
      const table = document.tables[name], all = this.part(table.rows), size = table.bytes;
      for (let row = 0; row < rows; row++) {
        const chosen = table.by === "token" ? tokens[row] || 0 : context + row;
        accelerator.bytes(at + row * size, size).set(all.subarray(chosen * size, (chosen + 1) * size));
      }
    }
    const result = this.run(this.patched(program, context));
    this.length += tokens.length;
    const bytes = document.bytes.fixed + document.bytes.key * this.length;
    return { found: tokens.map((_, row) => this.logits(program, row)), context, rows, tokens: tokens.length, bytes,
      cycles: result.cycles };
  }

  // The commands of a program for a text so long.
  patched({ commands, patches, length }, context) {
    const image = this.part(commands).slice(), view = new DataView(image.buffer), more = BigInt(context - length);
    for (const [at, token] of patches) {
      view.setBigUint64(at, BigInt.asUintN(64, view.getBigUint64(at, true) + more * BigInt(token)), true);
    }
    return image;
  }

  run(commands) {
    const { accelerator } = this, batch = 20000;
    accelerator.again(commands);
    while (accelerator.advance(batch)) this.tell(accelerator.status().cycles);
    const result = accelerator.result();
    if (result.problem) throw new Error(result.problem);
    return result;
  }

  logits({ logits: [at, size] }, row) {
    const { step, zeroPoint } = this.document.logits, { vocabulary } = this.document;
    const bytes = this.accelerator.bytes(at + row * size, size).slice(), view = new DataView(bytes.buffer);
    return Array.from({ length: vocabulary }, (_, token) =>
      Math.fround((view.getInt16(2 * token, true) - zeroPoint) * step));
  }
}

// What follows a prompt, token by token, as `celosia.sw.reference.language.sampling.generate`: each
// token with its logits, and with the step that made it, if it is the first of that step.
function* written(text, prompt, count, sampler, end, drafts) {
  const all = [...prompt], last = prompt.length + count;
  let known = 0;
  while (all.length < last) {
    const drafted = drafts && known ? drafts.after(all, last - all.length - 1) : [];
    const { logits, steps } = text.append([...all.slice(known), ...drafted]);
    known = all.length;
    const rows = logits.slice(logits.length - drafted.length - 1);
    for (let place = 0; place < rows.length; place++) {
      const token = sampler.choose(rows[place]), ends = token === end;
      yield { token, ends, logits: rows[place], steps: place ? [] : steps, drafted: drafted.length };
      if (ends) return text.goBack(known);
      all.push(token);
      if (place === drafted.length || token !== drafted[place]) break;
      known++;
    }
    text.goBack(known);
  }
}
