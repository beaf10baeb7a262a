// Turns assembly into commands, as `celosia.sw.driver.assembly` and `program_file` do, and says what
// is wrong in their words.  What instructions there are, and where their fields stand, is in `tables`
// (`celosia.sim.web.assembly`).
function assemblerOf(tables) {
  const quoted = (text) => "'" + text + "'";
  const wholeNumber = /^[+-]?(0x[0-9a-f]+(_[0-9a-f]+)*|0b[01]+|0o[0-7]+|0+|[1-9][0-9]*(_[0-9]+)*)$/i;
  const floatNumber = /^[+-]?(inf|infinity|nan|[0-9]+(\.[0-9]*)?(e[+-]?[0-9]+)?|\.[0-9]+(e[+-]?[0-9]+)?)$/i;

  function whole(text) {
    if (!wholeNumber.test(text)) throw new Error(quoted(text) + " is not a whole number");
    const digits = text.replaceAll("_", "").replace(/^[+-]/, "");
    return text[0] === "-" ? -BigInt(digits) : BigInt(digits);
  }

  function within(name, value, low, limit, shown) {
    if (value < low || value >= limit) throw new Error(name + ": " + (shown ?? value) + " is not in " + low + ".." + (limit - 1n));
    return value;
  }

  function floatBits(text) {
    if (text.startsWith("0x")) return whole(text);
    const view = new DataView(new ArrayBuffer(4)), word = text.toLowerCase().replace(/inf(inity)?/, "Infinity");
    const value = Math.fround(word === "nan" ? NaN : Number(word));
    if (!floatNumber.test(text) || (!/^[+-]?Infinity$/.test(word) && Math.abs(value) === Infinity))
      throw new Error(quoted(text) + " is not a float32, nor its bits as 0x...");
    view.setFloat32(0, value);
    return BigInt(view.getUint32(0));
  }

  function local(text) {
    const { none, garbage, bits, flags } = tables.local;
    if (text === none) return BigInt(garbage);
    if (text.startsWith("0x")) return whole(text);
    const match = /^(sp|acc)\[([^\]]*)\]((?:\+[a-z]+(?:=\w+)?)*)$/.exec(text);
    if (!match) {
      throw new Error(quoted(text) + " is not a local address: sp[ROW] or acc[ROW], then any of +accumulate, +full, " +
        "+norm=N; or " + none);
    }
    const found = {};
    for (const suffix of match[3].split("+").slice(1)) {
      const [name, value] = suffix.split("=");
      if (name in found || (value !== undefined) !== (name === "norm") || ![...flags, "norm"].includes(name))
        throw new Error(quoted(text) + ": +" + suffix + " is not one of +accumulate, +full, +norm=N, once");
      found[name] = value === undefined ? 1n : whole(value);
    }
    const row = within("local address row", whole(match[2]), 0n, 1n << BigInt(bits.row));
    const norm = within("local address norm", found.norm ?? 0n, 0n, 1n << BigInt(bits.norm));
    const bit = (on, place) => on ? 1n << BigInt(place) : 0n;
    return row | (norm << BigInt(bits.normLow)) | bit(match[1] === "acc", bits.accumulator) |
      bit(found.accumulate, bits.accumulate) | bit(found.full, bits.full);
  }

  function valueOf(field, text) {
    const limit = 1n << BigInt(field.bits);
    switch (field.kind) {
      case "FLOAT": return floatBits(text);
      case "LOCAL": return local(text);
      case "SIGNED": {
        const value = whole(text), half = limit / 2n;
        if (value < -half || value >= half) throw new Error(text + " is not in " + -half + ".." + (half - 1n));
        return BigInt.asUintN(field.bits, value);
      }
      case "CHOICE": {
        if (text in field.choices) return BigInt(field.choices[text]);
        if (/^[0-9]+$/.test(text)) return BigInt(text);
        throw new Error(quoted(text) + " is not one of " + Object.keys(field.choices).join(", "));
      }
      default: return whole(text);
    }
  }

  function placed(prefix, act) {
    try { return act(); } catch (error) { throw new Error(prefix + error.message); }
  }

  // The command of a line: funct, rs1 and rs2.
  function command(line) {
    const [mnemonic, ...words] = line.trim().split(/\s+/);
    if (mnemonic === tables.raw) {
      if (words.length !== 3) throw new Error(tables.raw + ": " + words.length + " numbers given, needs funct, rs1 and rs2");
      return ["funct", "rs1", "rs2"].map((name, at) => {
        const value = whole(words[at]), limit = 1n << BigInt(at ? 64 : tables.functBits);
        if (value < 0n || value >= limit)
          throw new Error(tables.raw + "." + name + ": " + words[at] + " is not in 0..0x" + (limit - 1n).toString(16));
        return value;
      });
    }
    const instruction = Object.hasOwn(tables.instructions, mnemonic) ? tables.instructions[mnemonic] : null;
    const known = (names) => names.join(", ");
    if (!instruction) {
      throw new Error("there is no instruction " + quoted(mnemonic) + "; there are " +
        known([...Object.keys(tables.instructions), tables.raw]));
    }
    const fields = instruction.fields, values = {};
    for (const word of words) {
      const at = word.indexOf("="), name = at < 0 ? word : word.slice(0, at), text = at < 0 ? "" : word.slice(at + 1);
      if (at < 0) throw new Error(mnemonic + ": " + quoted(word) + ": write operands as field=value");
      if (!Object.hasOwn(fields, name)) {
        throw new Error(mnemonic + ": there is no field " + quoted(name) + "; there are: " +
          (known(Object.keys(fields)) || "none"));
      }
      if (name in values) throw new Error(mnemonic + "." + name + ": " + text + " is the second value of this field");
      values[name] = placed(mnemonic + "." + name + ": ", () => valueOf(fields[name], text));
    }
    const operands = instruction.words.map(BigInt);
    for (const [name, value] of Object.entries(values)) {
      const { word, low, bits, preset } = fields[name];
      within(mnemonic + "." + name, value, 0n, 1n << BigInt(bits));
      operands[word] += (value - BigInt(preset)) << BigInt(low);
    }
    return [BigInt(instruction.funct), ...operands];
  }

  // A region of memory, by its offset behind the base.
  function region(address, size) {
    const offset = whole(address) - BigInt(tables.base), bytes = within("SIZE", whole(size), 1n, BigInt(tables.memory) + 1n);
    if (offset < 0n || offset + bytes > BigInt(tables.memory)) {
      const last = (BigInt(tables.base) + BigInt(tables.memory) - 1n).toString(16);
      throw new Error(bytes + " bytes at " + address + " are not inside the memory, 0x" + tables.base.toString(16) +
        "..0x" + last + ", which has the same size for all programs here");
    }
    return { offset: Number(offset), size: Number(bytes) };
  }

  const directives = {
    ".preset": (program, [name]) => {
      if (!tables.presets.includes(name)) throw new Error("preset: there is no " + quoted(name) + " here; there are " + tables.presets.join(", "));
      program.preset = name;
    },
    ".memory": (program, [size]) => { within("SIZE", whole(size), 1n, BigInt(tables.memory) + 1n); },
    ".data": (program, [address, digits]) => {
      if (!/^([0-9a-f]{2})+$/i.test(digits)) throw new Error("BYTES: " + quoted(digits) + " is not pairs of hexadecimal digits");
      const bytes = Uint8Array.from(digits.match(/../g), (pair) => parseInt(pair, 16));
      program.contents.push({ ...region(address, String(bytes.length)), bytes });
    },
    ".zeros": (program, [address, size]) => {
      const place = region(address, size);
      program.contents.push({ ...place, bytes: new Uint8Array(place.size) });
    },
    ".check": (program, [address, size]) => { program.checks.push(region(address, size)); },
  };

  // A program, or what is wrong: each with its line, counted from 1.
  function assemble(text) {
    const program = { preset: tables.presets[tables.presets.length - 1], contents: [], checks: [] };
    const commands = [], lines = [], errors = [];
    text.split("\n").forEach((whole, at) => {
      const line = whole.split("#")[0].trim(), [word, ...rest] = line.split(/\s+/);
      try {
        if (!line) return;
        if (!line.startsWith(".") || word === tables.raw) commands.push(command(line)), lines.push(at + 1);
        else if (!Object.hasOwn(tables.directives, word) || !directives[word])
          throw new Error("there is no directive " + quoted(word) + " here; there are " + [...Object.keys(directives), tables.raw].join(", "));
        else if (rest.length !== tables.directives[word].length)
          throw new Error(word + " with " + rest.length + " values; write it as " + [word, ...tables.directives[word]].join(" "));
        else directives[word](program, rest);
      } catch (error) { errors.push({ line: at + 1, message: error.message }); }
    });
    if (!errors.length && !commands.length) errors.push({ line: 1, message: "there is no command" });
    const ends = [...program.contents, ...program.checks].map(({ offset, size }) => offset + size);
    const memory = new Uint8Array(Math.max(64, ...ends)), image = new DataView(new ArrayBuffer(tables.commandBytes * commands.length));
    for (const { offset, bytes } of program.contents) memory.set(bytes, offset);
    commands.forEach(([funct, rs1, rs2], at) => {
      image.setUint32(tables.commandBytes * at, Number(funct), true);
      image.setBigUint64(tables.commandBytes * at + 8, rs1, true);
      image.setBigUint64(tables.commandBytes * at + 16, rs2, true);
    });
    return { preset: program.preset, checks: program.checks, memory, commands: new Uint8Array(image.buffer), lines, errors,
      loops: commands.some(([funct]) => tables.loops.includes(Number(funct))) };
  }

  return { assemble, command };
}
