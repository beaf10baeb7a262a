// Goes on with a prompt: all parts together.  What is asked for is `{ prompt, tokens, temperature,
// topP, seed, drafted }`, the seed as a text; what is wrong with it is an error, in a sentence.
class TextWriter {
  constructor(document, data) {
    if (data.length !== document.bytes) throw new Error("the model has " + data.length + " bytes, not " + document.bytes);
    Object.assign(this, { document, data, tokens: new Tokens(document.tokens) });
  }

  memory() { return this.text.memory(); }

  // The tokens of a prompt that there is room behind.
  begin({ prompt, tokens: count }) {
    const { context } = this.document.steps, half = prompt.match(/\p{Surrogate}/u);
    if (!prompt.trim()) throw new Error("The prompt is empty; write at least one letter.");
    if (half) throw new Error("The prompt has half a character (U+" + half[0].charCodeAt(0).toString(16).toUpperCase() + "), which no text has.");
    if (!(Number.isInteger(count) && count >= 1)) throw new Error("tokens: " + count + " is not a whole number from 1 on.");
    // A prompt that is too long at any rate is not taken apart, which would take long, too.
    const bytes = new TextEncoder().encode(prompt).length, certain = Math.ceil(bytes / this.tokens.longest);
    const found = certain > context ? null : this.tokens.encode(prompt), size = found ? found.length : certain;
    if (size + count > context) {
      throw new Error("tokens: " + count + " with the " + size.toLocaleString("en") + (found ? "" : " or more") +
        " of the prompt are more than the " + context + " of the model's context.");
    }
    return [this.document.tokens.end, ...found];
  }

  // Each token that follows, with its text, its alternatives and the steps behind which it is known.
  *write(module, asked, timing, tell) {
    const { document, data } = this, begin = this.begin(asked), drafts = document.drafts;
    const sampler = new Sampler(document.sampler, { ...asked, seed: BigInt(asked.seed) });
    if (!(Number.isInteger(asked.drafted) && asked.drafted >= 0 && asked.drafted <= drafts.most)) {
      throw new Error("drafts: " + asked.drafted + " is not in 0.." + drafts.most + ".");
    }
    this.text = new TextSteps(module, document.steps, data, timing, tell);
    const drafted = asked.drafted ? new Drafts(drafts, data, asked.drafted) : null;
    const speak = this.tokens.speaker();
    for (const found of written(this.text, begin, asked.tokens, sampler, this.tokens.end, drafted)) {
      const { logits, ...rest } = found, shown = sampler.alternatives(logits, found.token, 10);
      yield { ...rest, text: found.ends ? "" : speak(found.token),
        alternatives: shown.map((each) => ({ ...each, text: this.tokens.text(each.token) })) };
    }
  }
}
