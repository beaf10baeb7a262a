// Guesses of the tokens that follow, as `celosia.sw.decoding.drafts` makes them; a wrong one costs
// rows of a step, and never changes the text.
class Drafts {
  // `most` tokens at once; `data` are the bytes that the document's parts are in.
  constructor(document, data, most) {
    Object.assign(this, document, { most, followers: new Map() });
    for (const { order, tokens: [at, size], shares: [from] } of document.orders) {
      const view = new DataView(data.buffer, data.byteOffset + at, size), width = order + 1;
      for (let row = 0; row < size / 2 / width; row++) {
        const found = Array.from({ length: width }, (_, col) => view.getUint16(2 * (row * width + col), true));
        const token = found.pop();
        this.followers.set(found.join(), { token, share: document.shares[data[from + row]] });
      }
    }
  }

  // What followed the last place that has the same last tokens as the text.
  lookedUp(text) {
    for (const [length, share] of this.lookups) {
      for (let start = text.length - length - 1; start >= 0; start--) {
        let same = 0;
        while (same < length && text[start + same] === text[text.length - length + same]) same++;
        if (same === length) return { token: text[start + length], share };
      }
    }
    return null;
  }

  // What follows the last tokens most often in the text that the model was trained on.
  counted(text) {
    for (const { order } of this.orders) {
      const found = this.followers.get(text.slice(-order).join());
      if (found) return found;
    }
    return null;
  }

  // Up to `count` tokens that may follow.
  after(text, count) {
    const followed = [...text], end = text.length + Math.min(count, this.most);
    let right = 1;
    while (followed.length < end) {
      const found = this.lookedUp(followed) || this.counted(followed);
      if (!found || (right *= found.share) < this.least) break;
      followed.push(found.token);
    }
    return followed.slice(text.length);
  }
}
