// A text in the worker: it tells of each token as soon as it is known.
const textParts = {};

async function writeText({ preset, module, document, data, asked, timing }) {
  if (module !== null) {
    postMessage({ progress: "unpacking the model, and compiling the simulator of " + preset });
    textParts.module = await simulatorOf(preset, module);
    const model = await inflated(data, "The language model");
    textParts.writer = await intact("The language model", () => new TextWriter(document, model));
  }
  const tell = (cycles) => postMessage({ progress: cycles.toLocaleString("en") + " cycles of this step" });
  const begin = performance.now();
  for (const found of textParts.writer.write(textParts.module, asked, timing, tell)) postMessage({ found });
  return { digest: await digestOf(textParts.writer.memory()), seconds: (performance.now() - begin) / 1000 };
}
