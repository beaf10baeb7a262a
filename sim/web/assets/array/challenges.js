"use strict";
// Challenges: a slow program, to be made as fast as the compiler's, whose results must stay.
(function () {
  const page = globalThis.celosia;
  if (!page || !page.data.array) return;
  const { at, made, data, number } = page, { challenges, preset } = data.array, assembler = assemblerOf(data.assembly);
  const known = data.presets[preset];
  let worker = null, sent = false;
  const chosen = () => challenges[at("challenge").value];

  function say(text, kind) {
    at("challenge-status").textContent = text;
    at("challenge-status").className = "hint " + (kind || "");
  }

  function show() {
    const { hint, text, answer, cycles, bound } = chosen();
    at("challenge-says").textContent = "It takes " + number(cycles) + " cycles on " + preset + ", and the compiler's own program " +
      number(bound) + ": make it take at most " + number(bound) + ". What it leaves in memory must stay the same.";
    at("challenge-source").value = text;
    at("answer").textContent = answer;
    at("hint").textContent = hint;
    at("answer-box").open = at("hint-box").open = false;
    at("challenge-errors").replaceChildren();
    say("");
  }

  // The program that stands there, on the memory of the challenge; null if it has mistakes.
  function program() {
    const { commands, lines, loops, errors } = assembler.assemble(at("challenge-source").value);
    at("challenge-errors").replaceChildren(...errors.map(({ line, message }) => made("li", "line " + line + ": " + message)));
    return errors.length ? null : { memory: chosen().memory, commands, lines, loops };
  }

  function judge({ result, digest }, { cycles, bound, digest: wanted }, given) {
    if (result.problem) {
      const line = !given.loops && given.lines[result.command];
      return say(result.problem + (line ? ", line " + line : result.command === null ? "" : ", command number " +
        number(result.command) + " (from 0; loops expanded)") + ".", "wrong");
    }
    if (!digest) return say("This browser computes no SHA-256 here: results cannot be compared.", "wrong");
    const taken = number(result.cycles) + " cycles";
    if (digest !== wanted) return say(taken + ", but other results in memory.", "wrong");
    if (result.cycles < bound) return say(taken + ": faster than the compiler. Done!", "right");
    if (result.cycles === bound) return say(taken + ": as fast as the compiler. Done!", "right");
    say(taken + ", the right results: " + number(result.cycles - bound) + " too many" +
      (result.cycles < cycles ? ", " + number(cycles - result.cycles) + " fewer than at first." : "."));
  }

  at("try").addEventListener("click", () => {
    const given = program(), challenge = chosen();
    if (!given) return say("");
    say("Running.");
    at("try").disabled = true;
    if (!worker) worker = page.worker(), sent = false;
    const done = () => { at("try").disabled = false, at("challenges").dataset.tries = Number(at("challenges").dataset.tries || 0) + 1; };
    worker.onmessage = ({ data: told }) => {
      if (told.progress) return;
      if (told.failure) sent = false, say("The simulator has failed: " + told.failure, "wrong");
      else judge(told, challenge, given);
      done();
    };
    worker.onerror = (event) => { say("The simulator could not start: " + event.message, "wrong"), worker = null, done(); };
    worker.postMessage({ preset, module: sent ? null : at("module-" + preset).textContent, machine: known.machine, program: given,
      timing: data.timing, budget: data.array.budget });
    sent = true;
  });
  at("watch-try").addEventListener("click", () => {
    const given = program();
    if (given) page.watch("Your own", preset, given, given.lines.map((line) => at("challenge-source").value.split("\n")[line - 1].split("#")[0].trim()));
  });
  for (const [name, { title }] of Object.entries(challenges)) at("challenge").append(made("option", title, { value: name }));
  at("challenge").addEventListener("change", show);
  if (Object.keys(challenges).length) show();
  else at("challenges").hidden = true;
})();
