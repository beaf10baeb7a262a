// The text: what is asked for, and each token as it comes.  `job.js` computes, in a worker.
(function () {
  if (!globalThis.celosia || !celosia.data.text) {
    if (document.getElementById("text-write")) document.getElementById("text-write").disabled = true;
    return;
  }
  const { at, data, made, number } = celosia, text = data.text, { example } = text;
  const fields = ["prompt", "tokens", "temperature", "topP", "seed", "drafted"], input = (name) => at("text-" + name);
  for (const name of fields) input(name).value = example.asked[name];
  input("drafted").max = text.drafts.most;
  let worker = null, sent = false, run = null;

  function say(words, kind) {
    at("text-status").textContent = words;
    at("text-status").className = "hint " + (kind || "");
  }

  function busy(yes) {
    const had = document.activeElement === at("text-write") || document.activeElement === at("text-stop");
    at("text-write").disabled = yes, at("text-stop").disabled = !yes;
    if (had) at(yes ? "text-stop" : "text-write").focus({ preventScroll: true });
  }

  function ended(words, kind) {
    busy(false), say(words, kind);
    document.body.dataset.texts = Number(document.body.dataset.texts || 0) + 1;
  }

  // What the fields say; a number that is none is an error, in a sentence.
  function asked() {
    const found = { prompt: input("prompt").value, seed: input("seed").value.trim() };
    if (!/^\d+$/.test(found.seed)) throw new Error("Seed: '" + found.seed + "' is not a whole number from 0 on.");
    for (const name of ["tokens", "temperature", "topP", "drafted"]) {
      const label = input(name).labels[0].firstChild.textContent.trim();
      if (!input(name).value) throw new Error(label + ": write a number.");
      found[name] = Number(input(name).value);
    }
    return found;
  }

  at("text-form").addEventListener("submit", (event) => {
    event.preventDefault();
    let wanted;
    try { wanted = asked(); } catch (error) { return say(error.message, "wrong"); }
    worker ??= celosia.worker();
    run = { asked: wanted, found: [], steps: [], followed: true };
    worker.onmessage = ({ data: told }) => {
      if (told.progress) say(told.progress);
      else if (told.found) take(told.found);
      else if (told.failure) stop(told.failure, "wrong");
      else finish(told);
    };
    worker.onerror = (event) => stop("The simulator could not start: " + event.message, "wrong");
    const preset = text.preset, module = sent ? null : at("module-" + preset).textContent;
    const bytes = sent ? null : at("text-data").textContent, parts = sent ? null : text;
    busy(true), say("Beginning."), sent = true;
    worker.postMessage({ text: { preset, module, document: parts, data: bytes, asked: wanted, timing: data.timing } });
  });

  // What has stopped begins anew.
  function stop(words, kind) {
    worker.terminate(), worker = null, sent = false;
    ended(words, kind);
  }
  at("text-stop").addEventListener("click", () => stop("Stopped."));

  function take(found) {
    if (!run.found.length) begin();
    const place = run.found.push(found) - 1;
    for (const step of found.steps) run.steps.push({ ...step, made: 0 }), addRow(run.steps.length - 1);
    const last = run.steps.length - 1;
    run.steps[last].made++;
    at("text-steps").tBodies[0].rows[last].cells[2].textContent = run.steps[last].made;
    const button = made("button", found.ends ? " (end of the text)" : found.text, { type: "button" });
    button.addEventListener("click", () => { run.followed = false, show(place); });
    at("text-written").append(button);
    if (run.followed) show(place);
    tiles();
  }

  function begin() {
    at("text-result").hidden = false;
    at("text-steps").tBodies[0].replaceChildren();
    at("text-written").replaceChildren(made("span", run.asked.prompt));
  }

  const share = (step) => step.bytes / data.timing.bytesPerCycle / step.cycles;
  const percent = (value) => (100 * value).toFixed(1) + " %";

  function addRow(place) {
    const step = run.steps[place], row = made("tr");
    for (const words of [step.context, step.rows, step.made, number(step.cycles), percent(share(step))]) {
      row.append(made("td", words, { className: "number" }));
    }
    at("text-steps").tBodies[0].append(row);
  }

  // A token as one sees it: spaces are marked, and what does not print is escaped.
  const seen = ({ token, text: piece }) => token === text.tokens.end ? "(end of the text)" :
    JSON.stringify(piece).slice(1, -1).replaceAll(" ", "\u2423");

  // The alternatives of a token of the text.
  function show(place) {
    const buttons = [...at("text-written").querySelectorAll("button")];
    buttons.forEach((button, each) => button.setAttribute("aria-pressed", String(each === place)));
    const { alternatives } = run.found[place], most = Math.max(...alternatives.map((each) => each.share));
    at("text-choice").textContent = "What could stand at token " + (place + 1);
    at("text-alternatives").replaceChildren(...alternatives.map((each) => {
      const item = made("li", undefined, { className: (each.chosen ? "chosen " : "") + (each.left && !each.chosen ? "left" : "") });
      const bar = made("i");
      bar.style.width = 100 * each.share / most + "%";
      bar.setAttribute("aria-hidden", "true");
      item.append(made("code", seen(each)), bar, made("b", percent(each.share)));
      if (each.left) item.title = "Left out by top-p";
      return item;
    }));
  }

  function tile(value, label, kind) {
    const box = made("div", undefined, { className: "tile" });
    box.append(made("b", value, { className: kind || "" }), made("span", label));
    return box;
  }

  function tiles(...more) {
    const last = run.steps[run.steps.length - 1], behind = run.steps.slice(1);
    const cycles = behind.reduce((sum, step) => sum + step.cycles, 0), count = behind.reduce((sum, step) => sum + step.made, 0);
    const found = [tile(number(last.cycles), "cycles of the last step"), tile(percent(share(last)), "of the memory's limit, the last step")];
    if (count) found.push(tile(number(Math.round(cycles / count)), "cycles per token behind the prompt"));
    at("text-tiles").replaceChildren(...found, ...more);
  }

  function finish({ digest, seconds }) {
    const cycles = run.steps.map((step) => step.cycles), total = cycles.reduce((sum, each) => sum + each, 0);
    const more = [tile(number(Math.round(total / seconds / 100) * 100), "cycles per second here")];
    if (JSON.stringify(run.asked, fields) === JSON.stringify(example.asked, fields)) {
      const { written } = example, tokens = run.found.filter((each) => !each.ends).map((each) => each.token);
      const same = String(tokens) === String(written.tokens) && String(cycles) === String(written.cycles);
      const right = same && (!digest || digest === written.digest);
      more.push(tile(right ? "equal" : "different", "tokens, cycles and " + (digest ? "memory (SHA-256)" : "no memory") +
        ", against the native simulator", right ? "right" : "wrong"));
    }
    tiles(...more);
    ended(run.found[run.found.length - 1].ends ? "Done: the model has ended the text." : "Done.");
  }
})();
