// Which token comes next, by logits: as `celosia.sw.reference.language.sampling` draws it, in integers.
class RandomWords {
  constructor(tables, seed) {
    this.tables = tables;
    this.a = 0, this.b = Number(BigInt.asUintN(32, seed)), this.c = Number(seed >> 32n), this.counter = 1;
    for (let i = 0; i < tables.warmUp; i++) this.next();
  }

  next() {
    const { right, left, rotated } = this.tables, { a, b, c } = this;
    const word = (a + b + this.counter) >>> 0;
    this.counter = (this.counter + 1) >>> 0;
    this.a = (b ^ (b >>> right)) >>> 0;
    this.b = (c + ((c << left) >>> 0)) >>> 0;
    this.c = (((c << rotated) | (c >>> (32 - rotated))) + word) >>> 0;
    return word;
  }

  // A number from 0 to `limit` - 1; `limit` is 2^53 at most.
  below(limit) {
    let size = 1;
    while (size < limit) size *= 2;
    for (;;) {
      const high = this.next(), low = this.next();
      const drawn = (high % Math.max(1, size / 2 ** 32)) * 2 ** 32 + low % Math.min(size, 2 ** 32);
      if (drawn < limit) return drawn;
    }
  }
}

class Sampler {
  // The seed is a BigInt.  What is not allowed is an error, in a sentence.
  constructor(tables, { temperature, topP, seed }) {
    if (!(temperature >= 0 && temperature < Infinity)) throw new Error("temperature: " + temperature + " is not a finite number from 0 on");
    if (!(topP > 0 && topP <= 1)) throw new Error("top-p: " + topP + " is not above 0 and at most 1");
    if (!(seed >= 0n && seed < BigInt(tables.seeds))) throw new Error("seed: " + seed + " is not in 0.." + (BigInt(tables.seeds) - 1n));
    Object.assign(this, { tables, temperature, topP, random: new RandomWords(tables, seed) });
  }

  // How probable each token is, 0 to 2^31, at a temperature above 0.
  weights(logits, temperature = this.temperature) {
    const { halves, stepsPerLog, never } = this.tables, greatest = logits.reduce((a, b) => Math.max(a, b));
    return Float64Array.from(logits, (logit) => {
      const n = Math.min(Math.floor((greatest - logit) / temperature * stepsPerLog + 0.5), never);
      return Math.floor(halves[n % halves.length] / 2 ** Math.floor(n / halves.length));
    });
  }

  // Tokens, the most probable first; of equal ones, the first first.
  static order(weights) {
    return Array.from(weights, (_, token) => token).sort((a, b) => weights[b] - weights[a]);
  }

  choose(logits) {
    if (!this.temperature) return logits.indexOf(logits.reduce((a, b) => Math.max(a, b)));
    const weights = this.weights(logits), order = Sampler.order(weights);
    let total = 0;
    const sums = order.map((token) => (total += weights[token]));
    const kept = sums.find((sum) => sum >= this.topP * total), drawn = this.random.below(kept);
    return order[sums.findIndex((sum) => sum > drawn)];
  }

  // The most probable tokens with their shares, as those would be drawn, `chosen` among them; greedy
  // choices are shown as at temperature 1.
  alternatives(logits, chosen, count) {
    const weights = this.weights(logits, this.temperature || 1), order = Sampler.order(weights);
    const total = weights.reduce((a, b) => a + b), shown = order.slice(0, count);
    if (!shown.includes(chosen)) shown[count - 1] = chosen;
    let before = 0;
    const limit = this.topP * total, kept = new Set();
    for (const token of order) if (before < limit) kept.add(token), before += weights[token];
    return shown.map((token) => ({ token, share: weights[token] / total, chosen: token === chosen, left: !kept.has(token) }));
  }
}
