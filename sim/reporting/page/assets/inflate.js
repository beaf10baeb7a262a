// Undoes zlib's compression (RFC 1950, 1951), in one step: a page that is printed or pictured as
// soon as it is loaded would not wait for the browser's own, which does it in the background.
const inflate = (function () {
  // The first length or distance of each code, and the bits that follow it.
  const ladder = (first, steps) => {
    const bases = [];
    for (const bits of steps) bases.push([first, bits]), first += 1 << bits;
    return bases;
  };
  const some = (count, bits) => new Array(count).fill(bits);
  const lengths = ladder(3, [...some(8, 0), ...[1, 2, 3, 4, 5].flatMap((bits) => some(4, bits))]);
  lengths[28] = [258, 0];
  const distances = ladder(1, [...some(2, 0), ...Array.from({ length: 28 }, (_, at) => at >> 1)]);
  const order = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];

  // A code: how many symbols have each length, and the symbols by their codes.
  function code(sizes) {
    const count = new Uint16Array(16), next = new Uint16Array(16), symbols = new Uint16Array(sizes.length);
    for (const size of sizes) count[size]++;
    count[0] = 0;
    for (let size = 1; size < 16; size++) next[size] = next[size - 1] + count[size - 1];
    sizes.forEach((size, symbol) => { if (size) symbols[next[size]++] = symbol; });
    return { count, symbols };
  }

  const fixed = [
    code([...some(144, 8), ...some(112, 9), ...some(24, 7), ...some(8, 8)]), code(some(30, 5)),
  ];

  return function (data) {
    let at = 2, held = 0, kept = 0, out = new Uint8Array(8 * data.length), size = 0;

    function bits(count) {
      for (; kept < count; kept += 8) held |= data[at++] << kept;
      const value = held & ((1 << count) - 1);
      held >>>= count, kept -= count;
      return value;
    }

    function symbol(table) {
      for (let length = 1, value = 0, first = 0, index = 0; length < 16; length++) {
        value |= bits(1);
        const count = table.count[length];
        if (value - first < count) return table.symbols[index + value - first];
        index += count, first = (first + count) << 1, value <<= 1;
      }
      throw new Error("not compressed data");
    }

    function room(more) {
      if (size + more <= out.length) return;
      const larger = new Uint8Array(2 * (size + more));
      larger.set(out), out = larger;
    }

    function tables() {
      const many = bits(5) + 257, apart = bits(5) + 1, sizes = some(19, 0);
      for (let i = 0, last = bits(4) + 4; i < last; i++) sizes[order[i]] = bits(3);
      const table = code(sizes), all = [];
      while (all.length < many + apart) {
        const found = symbol(table);
        if (found < 16) all.push(found);
        else if (found === 16) all.push(...some(3 + bits(2), all[all.length - 1]));
        else all.push(...some(found === 17 ? 3 + bits(3) : 11 + bits(7), 0));
      }
      return [code(all.slice(0, many)), code(all.slice(many))];
    }

    function stored() {
      held = kept = 0;
      const count = data[at] | (data[at + 1] << 8);
      room(count);
      out.set(data.subarray(at + 4, at + 4 + count), size);
      at += 4 + count, size += count;
    }

    function compressed([literals, steps]) {
      for (let found = symbol(literals); found !== 256; found = symbol(literals)) {
        room(258);
        if (found < 256) { out[size++] = found; continue; }
        const [base, more] = lengths[found - 257], count = base + bits(more);
        const [near, far] = distances[symbol(steps)], back = near + bits(far);
        for (let i = 0; i < count; i++, size++) out[size] = out[size - back];
      }
    }

    for (let last = 0; !last;) {
      last = bits(1);
      const kind = bits(2);
      if (kind === 0) stored();
      else compressed(kind === 1 ? fixed : tables());
    }
    return out.slice(0, size);
  };
})();
