// The part of the page that computes, so that the rest stays awake: it takes jobs one at a time.
const modules = {};

// A page that was cut, or changed on its way, is told by what `make` cannot make of its parts.
async function intact(what, make) {
  try {
    return await make();
  } catch {
    throw new Error(what + " in this page is damaged. Get the page again, and open that.");
  }
}

function inflated(text, what) {
  return intact(what, async () => {
    const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Uint8Array(await new Response(stream).arrayBuffer());
  });
}

async function simulatorOf(preset, module) {
  const what = "The simulator of " + preset, bytes = await inflated(module, what);
  return intact(what, () => WebAssembly.compile(bytes));
}

// SHA-256 as the page has it; empty where a browser does not compute it (a page over plain HTTP).
async function digestOf(bytes) {
  if (!globalThis.crypto || !crypto.subtle) return "";
  const sum = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return [...sum].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

async function work({ preset, module, machine, program, timing, budget, watch, turn }) {
  if (module !== null) {
    postMessage({ progress: "compiling the simulator of " + preset });
    modules[preset] = await simulatorOf(preset, module);
  }
  const bytes = async (from) => typeof from === "string" ? inflated(from, "The program") : from;
  const image = program.assembled || { memory: await bytes(program.memory), commands: await bytes(program.commands) };
  if (watch) {
    const { memory, ...watched } = watchProgram(modules[preset], machine, timing, image, watch);
    return { watched, turn, digest: await digestOf(memory) };
  }
  const tell = (cycles) => postMessage({ progress: cycles.toLocaleString("en") + " cycles", cycles });
  const { memory, ...result } = runProgram(modules[preset], machine, timing, image, budget, tell);
  const checked = (program.checks || []).map(({ offset, size }) => memory.slice(offset, offset + size));
  return { result, digest: await digestOf(memory), checked };
}

onmessage = async ({ data }) => {
  try {
    postMessage(await (data.text ? writeText(data.text) : work(data)));
  } catch (error) {
    postMessage({ failure: String(error && error.message || error) });
  }
};
