"use strict";
// The page: what is chosen, and what has come of it.  `worker.js` computes.
(function () {
  const at = (id) => document.getElementById(id), data = JSON.parse(at("page-data").textContent);
  const query = new URLSearchParams(location.search), number = (value) => value.toLocaleString("en");

  function made(kind, text, properties) {
    const element = Object.assign(document.createElement(kind), properties);
    if (text !== undefined) element.textContent = text;
    return element;
  }

  function say(text, kind) {
    at("status").textContent = text;
    at("status").className = "hint " + (kind || "");
  }

  const missing = [["WebAssembly", "WebAssembly"], ["Worker", "workers"], ["DecompressionStream", "DecompressionStream"]]
    .find(([name]) => typeof globalThis[name] === "undefined");
  if (missing) {
    say("This browser has no " + missing[1] + ", on which the accelerator runs: any of " +
      "2023 or later does.", "wrong");
    at("run").disabled = true;
    return;
  }

  function fill(id, choices, chosen) {
    for (const [value, text] of choices) at(id).append(made("option", text, { value }));
    const asked = query.get(id);
    at(id).value = choices.some(([value]) => String(value) === asked) ? asked : chosen;
  }
  const presets = Object.entries(data.presets);
  fill("program", Object.entries(data.titles), Object.keys(data.titles)[0]);
  fill("preset", presets.map(([name, preset]) => [name, preset.title]), presets[presets.length - 1][0]);
  fill("latency", data.latencies.map((value) => [value, number(value)]), data.timing.latency);
  fill("rate", data.rates.map((value) => [value, number(value)]), data.timing.bytesPerCycle);
  at("budget").value = query.get("budget");
  if (!at("budget").checkValidity()) at("budget").value = data.budget;

  let worker = null, sent = new Set(), address = null;
  function newWorker() {
    address ??= URL.createObjectURL(new Blob([at("worker").textContent.replaceAll("<\\/", "</")]));
    return new Worker(address);
  }
  function begin() { worker = newWorker(), sent = new Set(); }

  // A button that was pressed has the focus again when it can be pressed again.
  let pressed = false;
  function busy(yes) {
    if (yes) pressed = document.activeElement === at("run");
    at("run").disabled = at("assemble").disabled = yes, at("stop").disabled = !yes;
    if (!yes && pressed) at("run").focus({ preventScroll: true });
  }

  at("stop").addEventListener("click", () => {
    worker.terminate(), worker = null, pressed = true;
    busy(false), say("Stopped.");
  });

  at("controls").addEventListener("submit", (event) => {
    event.preventDefault();
    const name = at("program").value, preset = at("preset").value;
    run(data.titles[name], preset, data.presets[preset].programs[name]);
  });

  // Runs a program with the memory that is chosen, unless one runs.
  function run(title, preset, program) {
    if (at("run").disabled || !at("controls").reportValidity()) return;
    const budget = Number(at("budget").value), known = data.presets[preset];
    const timing = { latency: Number(at("latency").value), bytesPerCycle: Number(at("rate").value) };
    if (!worker) begin();
    busy(true), say("Running.");
    worker.onmessage = ({ data: told }) => {
      if (told.progress) return say(told.progress);
      busy(false);
      if (told.failure) return sent.delete(preset), say("The simulator has failed: " + told.failure, "wrong");
      show({ title, preset, timing, program }, told);
    };
    worker.onerror = (event) => { busy(false), say("The simulator could not start: " + event.message, "wrong"); };
    const module = sent.has(preset) ? null : at("module-" + preset).textContent;
    sent.add(preset);
    worker.postMessage({ preset, module, machine: known.machine, program, timing, budget });
  }

  const assembler = assemblerOf(data.assembly);
  // The program in the editor; null if it has mistakes, which are shown.
  function assembled() {
    const { preset, checks, memory, commands, lines, loops, errors } = assembler.assemble(at("source").value);
    at("errors").replaceChildren(...errors.map(({ line, message }) => made("li", "line " + line + ": " + message)));
    return errors.length ? null : { preset, program: { assembled: { memory, commands }, checks, lines, loops, count: lines.length } };
  }
  function assemble() {
    const found = assembled();
    if (found) run("Your own", found.preset, found.program);
  }
  at("assemble").addEventListener("click", assemble);
  at("source").addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) event.preventDefault(), assemble();
  });
  for (const [name, { doc, fields }] of Object.entries(data.assembly.instructions)) {
    const row = made("tr");
    row.append(made("td", name), made("td", Object.keys(fields).join(" ") || "-"), made("td", doc));
    at("instructions").append(row);
  }

  function tile(value, label, kind) {
    const box = made("div", undefined, { className: "tile" });
    box.append(made("b", value, { className: kind || "" }), made("span", label));
    return box;
  }

  function against(cycles, usual) {
    if (cycles === usual) return "the same";
    const more = cycles > usual, ratio = more ? cycles / usual : usual / cycles;
    return ratio.toFixed(2) + " times as " + (more ? "many" : "few");
  }

  // Bytes as lines of 16, each behind its address.
  function dumped({ offset }, bytes) {
    const lines = [];
    for (let at = 0; at < bytes.length && lines.length < 64; at += 16) {
      const pairs = [...bytes.subarray(at, at + 16)].map((byte) => byte.toString(16).padStart(2, "0"));
      lines.push("0x" + (data.assembly.base + offset + at).toString(16) + "  " + pairs.join(" "));
    }
    return made("pre", lines.join("\n") + (bytes.length > 1024 ? "\nand so on" : ""));
  }

  function show(asked, { result, digest, checked }) {
    const { program, preset, timing, title } = asked, own = !!program.assembled;
    at("result").hidden = false;
    if (result.problem) {
      // Without loops, commands are those that were written, and have a line.
      const line = own && !program.loops && program.lines[result.command];
      const place = result.command === null ? "" : "; the command is number " + number(result.command) +
        " (from 0; loops expanded)" + (line ? ", line " + line : "") + ", of " + number(program.count) + " in the program";
      say(result.problem + place + ".", "wrong");
    } else say("Done.");
    const usual = timing.latency === data.timing.latency && timing.bytesPerCycle === data.timing.bytesPerCycle;
    const ended = !result.problem, tiles = [tile(number(result.cycles), "cycles")];
    if (!own) {
      const right = digest === program.digest, known = ended && digest;
      tiles.push(tile(number(program.cycles), "cycles of the native simulator, usual memory",
        ended && usual ? (result.cycles === program.cycles ? "right" : "wrong") : ""));
      tiles.push(tile(!known ? "not compared" : right ? "equal" : "different",
        "memory, against what the native simulator left (SHA-256)", !known ? "" : right ? "right" : "wrong"));
    }
    tiles.push(tile(number(Math.round(result.cycles / Math.max(result.seconds, 1e-3) / 100) * 100), "cycles per second here"));
    at("tiles").replaceChildren(...tiles);
    at("checked").replaceChildren(...(own ? program.checks.map((region, at) => dumped(region, checked[at])) : []));
    at("owners").replaceChildren(...(result.counters ? data.units.map((unit) => owners(unit, result.counters)) : []));
    const row = made("tr"), cells = [title, preset, number(timing.latency), number(timing.bytesPerCycle),
      number(result.cycles) + (ended ? "" : ", stopped"), ended && !own ? against(result.cycles, program.cycles) : "-"];
    const heads = [...document.querySelectorAll("#history th")];
    cells.forEach((text, place) => {
      const cell = made("td", text, { className: place > 1 ? "number" : "" });
      cell.dataset.head = heads[place].textContent;
      row.append(cell);
    });
    at("history").tBodies[0].prepend(row);
    document.body.dataset.runs = Number(document.body.dataset.runs || 0) + 1;
  }

  // Colors that stand for ink and for nothing follow the page.
  const ink = (color) => ({ "#111111": "var(--ink)", "#e6e6e6": "var(--line)" })[color] || color;

  // Whose the cycles of a unit were: a bar, what each color means, and all owners as a table.
  function owners(unit, counters) {
    const box = made("div", undefined, { className: "unit" }), bar = made("div", undefined, { className: "bar" });
    const legend = made("ul", undefined, { className: "legend" }), rows = made("tbody"), total = counters.cycles;
    for (const group of unit.groups) {
      const names = Object.entries(group.owners).filter(([name]) => counters[name]);
      const cycles = names.reduce((sum, [name]) => sum + counters[name], 0);
      if (!cycles) continue;
      const share = (100 * cycles / total).toFixed(1) + " %", part = made("span", undefined, { title: group.name + ": " + share });
      part.style.cssText = "width:" + 100 * cycles / total + "%;background:" + ink(group.color);
      bar.append(part);
      const entry = made("li"), swatch = made("i");
      swatch.style.background = ink(group.color);
      entry.append(swatch, group.name + " ", made("b", number(cycles)), " (" + share + ")");
      legend.append(entry);
      for (const [name, doc] of names) {
        const row = made("tr");
        row.append(made("td", name), made("td", number(counters[name]), { className: "number" }), made("td", doc));
        rows.append(row);
      }
    }
    bar.setAttribute("aria-hidden", "true");  // The list says the same.
    const details = made("details"), scroll = made("div", undefined, { className: "scroll" }), table = made("table");
    table.append(rows), scroll.append(table), details.append(made("summary", "As a table"), scroll);
    box.append(made("b", unit.unit), bar, legend, details);
    return box;
  }

  // For the scripts behind this one.
  globalThis.celosia = { at, data, made, number, ink, worker: newWorker, assembled };
  at("controls").requestSubmit();
})();
