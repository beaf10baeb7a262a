"use strict";
// The blocks of the accelerator, as the README's figure has them: lit by what they do in a cycle.
function blocksOf({ at, made, ink, data }) {
  const { blocks } = data.array, { flags, queues, said, events } = data.presets[data.array.preset].machine.watched;
  const units = Object.fromEntries(data.units.map((unit) => [unit.name, unit]));
  const buttons = {};
  let chosen = null, words = null, before = null;

  function event(row, name) {
    const [word, low, mask] = events[name];
    return row[word] >> low & mask;
  }

  // Whose the cycle of a unit is: its group, color and owner; null while nothing is busy.
  function ownerOf(row, name) {
    if (!event(row, "busy")) return null;
    let number = event(row, name);
    const owners = units[name].order, owner = owners[number];
    const group = units[name].groups.find((each) => owner in each.owners);
    return { owner, doc: group.owners[owner], group: group.name, color: ink(group.color), works: group.works };
  }

  // What a block does in this cycle: a word, a color and sentences; null for nothing.
  function stateOf(block) {
    if (block.unit) {
      const found = ownerOf(words, block.unit);
      return found && { word: found.group, color: found.color, quiet: !found.works, says: [found.owner + ": " + found.doc] };
    }
    const says = flags.filter((flag) => flag.block === block.name && words[flag.word]).map((flag) => flag.says);
    if (block.commands === "accepted" && words[said.accepted] > (before ? before[said.accepted] : 0)) says.push("a command is taken");
    if (block.commands === "command" && event(words, "command")) says.unshift("a command is accepted");
    if (block.queues) {
      const waiting = Object.entries(queues).filter(([, word]) => words[word]);
      says.push(...waiting.map(([name, word]) => words[word] + " " + name));
      return waiting.length ? { word: says.join(", "), color: "var(--accent)", says: ["queued: " + says.join(", ")] } : null;
    }
    if (block.name === "owners" && event(words, "busy")) says.push("this cycle is counted");
    return says.length ? { word: says.join("; "), color: "var(--accent)", says } : null;
  }

  function describe() {
    if (!chosen) return;
    const state = words && stateOf(chosen);
    at("block-says").replaceChildren(made("b", chosen.title), ": " + chosen.doc + " ", made("code", chosen.file), " ",
      made("span", "In this cycle: " + (state ? state.says.join("; ") : "nothing.")));
  }

  for (const block of blocks) {
    const button = made("button", undefined, { type: "button", className: "block" });
    button.style.setProperty("--column", Math.round(block.column) + 1);
    button.append(made("b", block.title), made("small", block.says), made("i", ""));
    button.dataset.name = block.name;
    button.addEventListener("click", () => {
      chosen = block;
      for (const each of Object.values(buttons)) each.setAttribute("aria-pressed", String(each === button));
      describe();
    });
    button.setAttribute("aria-pressed", "false");
    buttons[block.name] = button;
  }
  // The rows of the figure: each is a line of six places.
  for (const row of new Set(blocks.map((block) => block.row))) {
    const line = made("div", undefined, { className: "blocks-row" });
    line.append(...blocks.filter((block) => block.row === row).map((block) => buttons[block.name]));
    at("blocks").append(line);
  }

  // Lights the blocks by the words of a cycle, and of the one before.
  function update(now, earlier) {
    words = now, before = earlier;
    for (const block of blocks) {
      const state = stateOf(block), button = buttons[block.name];
      button.style.setProperty("--lit", state ? state.color : "transparent");
      button.classList.toggle("lit", !!state && !state.quiet);
      button.lastChild.textContent = state ? state.word : "";
    }
    describe();
  }
  return { update, ownerOf };
}
