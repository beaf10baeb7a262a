"use strict";
// The array, cycle by cycle: what is in the registers of its cells, and what the rest does meanwhile.
// The worker simulates (`watch.js`), and keeps a window of cycles; a cycle outside of it is simulated
// again from the beginning, which gives the same.
(function () {
  const page = globalThis.celosia;
  if (!page || !page.data.array) return;
  const { at, made, data, number } = page, view = data.array, known = data.presets[view.preset];
  const { dim, size, cells: places } = known.machine.watched, blocks = blocksOf(page);
  const calm = matchMedia("(prefers-reduced-motion: reduce)");
  let run = null, cycle = 0, timer = null, worker = null, asked = 0, chosen = null;

  const cells = [];
  for (let place = 0; place < dim * dim; place++) {
    const cell = made("button", undefined, { type: "button", className: "cell" }), parts = {};
    for (const name of Object.keys(places)) {
      parts[name] = made("span", "", { className: name });
      cell.append(parts[name]);
    }
    cell.addEventListener("click", () => { chosen = place, explain(); });
    cells.push({ cell, parts });
    at("cells").append(cell);
  }
  at("cells").style.setProperty("--dim", dim);

  function say(text, kind) {
    at("array-status").textContent = text;
    at("array-status").className = "hint " + (kind || "");
  }

  // The words of a cycle; null if they are not kept.
  function words(of) {
    const from = size * (of - run.first);
    return of >= run.first && from + size <= run.words.length ? run.words.subarray(from, from + size) : null;
  }

  // Simulates, and keeps cycles from `first` on.  Whether nothing else was asked for meanwhile.
  function simulate(title, program, list, first) {
    const turn = ++asked;
    worker ??= page.worker();
    return new Promise((done) => {
      const fail = (text) => { worker.terminate(), worker = null, say("The simulator has failed: " + text, "wrong"), done(false); };
      worker.onmessage = ({ data: told }) => {
        if (told.progress) return;
        if (told.failure) return fail(told.failure);
        if (told.turn !== asked) return;
        run = { ...told.watched, title, program, list, digest: told.digest };
        done(true);
      };
      worker.onerror = (event) => fail(event.message);
      const module = worker.sent ? null : at("module-" + view.preset).textContent;
      worker.sent = true;
      worker.postMessage({ preset: view.preset, module, machine: known.machine, program, timing: data.timing, turn,
        watch: { first, count: view.cycles, budget: view.budget } });
    });
  }

  // Shows a program from its first cycle on.
  async function open(title, program, list) {
    pause();
    say("Running.");
    if (!await simulate(title, program, list, 1)) return;
    fillCommands();
    at("at-cycle").max = at("slider").max = Math.max(1, run.last);
    const where = run.command === null ? "" : " (command number " + number(run.command) + ", from 0)";
    const equal = program.digest && !run.problem ? run.last === program.cycles && (!run.digest || run.digest === program.digest) : null;
    say(title + ": " + number(run.last) + " cycles. " + (run.problem ? run.problem + where + "." :
      equal === null ? "" : equal ? "The native simulator took as many, and left the same memory." :
        "The native simulator took " + number(program.cycles) + ", or left another memory."),
    run.problem || equal === false ? "wrong" : "");
    cycle = 0;
    if (run.last) await go(run.turns.length ? run.turns[0].cycle + dim : 1);  // Where one sees something.
    at("array").dataset.opened = Number(at("array").dataset.opened || 0) + 1;
  }

  // Shows a cycle; whether it is there.
  async function go(to, motion) {
    if (!run || !run.last) return false;
    const wanted = Math.min(Math.max(1, Math.round(to) || 1), run.last);
    if (!words(wanted) && !await simulate(run.title, run.program, run.list, Math.max(1, wanted - view.cycles / 2))) return false;
    const step = wanted === cycle + 1;
    cycle = wanted;
    draw(step ? motion || 0 : 0);
    return true;
  }

  function slide(part, from, time) {
    if (time && !calm.matches) part.animate([{ transform: from }, { transform: "none" }], { duration: time, easing: "ease-out" });
  }

  function draw(time) {
    const now = words(cycle), before = cycle > 1 ? words(cycle - 1) : null;
    cells.forEach(({ cell, parts }, place) => {
      for (const [name, part] of Object.entries(parts)) {
        const value = now[places[name] + place], old = before ? before[places[name] + place] : 0;
        part.textContent = number(value);
        part.classList.toggle("zero", value === 0);
        part.classList.toggle("new", value !== old);
        // Activations come from the left, sums and shadow weights from above; a weight was the shadow.
        if (name === "activation" && (value || old)) slide(part, "translateX(-" + cell.offsetWidth + "px)", time);
        if (name === "sum" && (value || old)) slide(part, "translateY(-" + cell.offsetHeight + "px)", time);
        if (name === "shadow" && value !== old) slide(part, "translateY(-100%)", time);
        if (name === "weight" && value !== old) slide(part, "translate(60%, -80%)", time);
      }
    });
    at("slider").value = at("at-cycle").value = cycle;
    at("array").dataset.cycle = cycle;
    at("cycle-of").textContent = "of " + number(run.last);
    at("array-owners").replaceChildren(...data.units.map((unit) => {
      const found = blocks.ownerOf(now, unit.name), line = made("li"), swatch = made("i");
      swatch.style.background = found ? found.color : "transparent";
      line.append(swatch, made("b", unit.unit + ": " + (found ? found.group : "-")), " " + (found ? found.doc : "Nothing is busy."));
      return line;
    }));
    blocks.update(now, before);
    showCommand();
    explain();
  }

  // How the number in a cell has come about.
  function explain() {
    if (chosen === null || !cycle) return;
    cells.forEach(({ cell }, place) => cell.setAttribute("aria-pressed", String(place === chosen)));
    const now = words(cycle), before = cycle > 1 ? words(cycle - 1) : null, row = Math.floor(chosen / dim);
    const value = (from, name, place) => number(from[places[name] + place]);
    let text = "Row " + row + ", column " + chosen % dim + ": ";
    if (!before) text += "the cycle before is not kept.";
    else {
      text += value(now, "activation", chosen) + " × " + value(before, "weight", chosen) + (row ? " + " +
        value(before, "sum", chosen - dim) + ", the sum above a cycle before," : "") + " = " + value(now, "sum", chosen) +
        ". The weight " + (now[places.weight + chosen] === before[places.weight + chosen] ? "stays " : "becomes ") +
        value(now, "weight", chosen) + "; the next one, " + value(now, "shadow", chosen) + ", waits in its shadow.";
    }
    at("cell-says").textContent = text;
  }

  // The commands of the program: each leads to the cycle that takes it, and to those in which the
  // array turns to its products.
  function fillCommands() {
    const { texts, sources } = run.list, turns = {};
    for (const turn of run.turns) (turns[sources ? sources[turn.command] : -1] ??= []).push(turn.cycle);
    at("commands").replaceChildren(...texts.map((text, place) => {
      const item = made("li"), taken = run.taken[place];
      const to = (of, label) => {
        const button = made("button", label, { type: "button" });
        button.addEventListener("click", () => { pause(), go(of); });
        button.dataset.to = of;
        return button;
      };
      item.append(taken ? to(taken, text) : made("span", text, { className: "note" }));
      const found = turns[place] || [];
      const small = made("small", "in the array from cycle ");
      small.append(...found.map((of) => to(of, number(of))));
      if (found.length) item.append(" ", small);
      return item;
    }));
  }

  function showCommand() {
    let last = -1;
    while (last + 1 < run.taken.length && run.taken[last + 1] <= cycle) last++;
    [...at("commands").children].forEach((item, place) => {
      if (place === last) item.setAttribute("aria-current", "step");
      else item.removeAttribute("aria-current");
    });
    const item = at("commands").children[last], box = at("commands");
    if (item) box.scrollTop = item.offsetTop - box.offsetTop - box.clientHeight / 2;
  }

  function pause() {
    clearTimeout(timer), timer = null;
    at("play").textContent = "Play";
  }

  function play() {
    if (timer !== null || !run || !run.last) return pause();
    at("play").textContent = "Pause";
    (async function next() {
      const wait = 1000 / Number(at("speed").value);
      timer = setTimeout(async () => {
        if (cycle < run.last && await go(cycle + 1, Math.min(400, 0.8 * wait)) && timer !== null) next();
        else pause();
      }, wait);
    })();
  }

  const acts = { back: () => { pause(), go(cycle - 1); }, step: () => { pause(), go(cycle + 1, 400); }, play,
    begin: () => { pause(), go(1); }, end: () => { pause(), go(run.last); } };
  for (const [id, act] of Object.entries(acts)) at(id).addEventListener("click", () => run && act());
  at("slider").addEventListener("input", () => { pause(), go(Number(at("slider").value)); });
  at("at-cycle").addEventListener("change", () => { pause(), go(Number(at("at-cycle").value)); });
  const keys = { ArrowLeft: "back", ArrowRight: "step", Home: "begin", End: "end", " ": "play" };
  at("array").addEventListener("keydown", (event) => {
    const { tagName } = event.target, button = tagName === "BUTTON" && event.key === " ";
    if (!keys[event.key] || button || ["INPUT", "SELECT", "TEXTAREA"].includes(tagName) || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    at(keys[event.key]).click();
  });

  for (const name of Object.keys(view.programs)) at("watched").append(made("option", data.titles[name], { value: name }));
  const choose = () => open(data.titles[at("watched").value], known.programs[at("watched").value], view.programs[at("watched").value]);
  at("watched").addEventListener("change", choose);
  // A program of one's own, as the assembler has made it.
  page.watch = (title, preset, program, texts) => {
    at("array").scrollIntoView();
    if (preset !== view.preset) {
      return say("Only programs for " + view.preset + " can be looked at cell by cell; this one is for " + preset + ".", "wrong");
    }
    open(title, program, { texts, sources: program.loops ? null : texts.map((_, place) => place) });
  };
  at("watch-own").addEventListener("click", () => {
    const found = page.assembled(), lines = at("source").value.split("\n");
    if (!found) return;
    const texts = found.program.lines.map((line) => lines[line - 1].split("#")[0].trim());
    page.watch("Your own", found.preset, found.program, texts);
  });
  choose();
})();
