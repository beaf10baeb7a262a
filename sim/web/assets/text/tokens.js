// Texts to tokens and back, as byte-level BPE does (`celosia.sim.web.text.tokens`).
class Tokens {
  // What words are, as the tokenizer of GPT-2 takes texts apart; \s of JavaScript is another set.
  static WORDS = new RegExp("'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\p{White_Space}\\p{L}\\p{N}]+" +
    "|\\p{White_Space}+(?!\\P{White_Space})|\\p{White_Space}+", "gu");

  constructor({ end, bytes, merges }) {
    this.end = end, this.bytes = bytes, this.merges = new Map(), this.pieces = [];
    bytes.forEach((token, byte) => { this.pieces[token] = [byte]; });
    merges.forEach(([left, right, token], rank) => {
      this.merges.set(left + "," + right, { token, rank });
      this.pieces[token] = [...this.pieces[left], ...this.pieces[right]];
    });
    this.longest = Math.max(...this.pieces.filter(Boolean).map((piece) => piece.length));
  }

  // The tokens of a text, which has no half characters.
  encode(text) {
    return (text.match(Tokens.WORDS) || []).flatMap((word) => this.merged(word));
  }

  merged(word) {
    const tokens = Array.from(new TextEncoder().encode(word), (byte) => this.bytes[byte]);
    for (;;) {
      let best = null, place = -1;
      for (let at = 0; at + 1 < tokens.length; at++) {
        const found = this.merges.get(tokens[at] + "," + tokens[at + 1]);
        if (found && (!best || found.rank < best.rank)) best = found, place = at;
      }
      if (!best) return tokens;
      tokens.splice(place, 2, best.token);
    }
  }

  // A function that takes tokens one by one and gives the text of each: nothing for a token that
  // ends within a character, and all of it with the one that ends it.
  speaker() {
    let waiting = [];
    return (token) => {
      waiting = [...waiting, ...(this.pieces[token] || [])];
      const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(Uint8Array.from(waiting));
      if (text.endsWith("\ufffd")) return "";
      waiting = [];
      return text;
    };
  }

  // A token alone, which may be a part of a character; the end of a text has no text.
  text(token) {
    return new TextDecoder("utf-8", { ignoreBOM: true }).decode(Uint8Array.from(this.pieces[token] || []));
  }
}
