"use strict";
// Draws the figures of a report.  Everything it needs is in the page.
(function () {
  const report = JSON.parse(document.getElementById("report-data").textContent);
  const settings = { responsive: true, displayModeBar: false };
  const zoomed = { responsive: true, displaylogo: false, displayModeBar: true,
    modeBarButtons: [["zoomIn2d", "zoomOut2d", "resetScale2d", "toImage"]] };
  const narrow = () => window.innerWidth < 600;

  // ?only=SECTION shows one section alone, for a picture of it.
  const query = new URLSearchParams(location.search), only = query.get("only");
  if (only && document.getElementById(only)) {
    document.body.classList.add("only");
    document.getElementById(only).classList.add("chosen");
  }

  // Figures are as dark as the page, but on paper: colors that stand for ink, lines and paper follow it.
  const style = getComputedStyle(document.documentElement);
  const night = window.matchMedia("(prefers-color-scheme: dark)");
  let dark = night.matches;
  function tinted(value) {
    if (!dark || value === null) return value;
    if (typeof value === "string") {
      const of = (name) => style.getPropertyValue(name).trim();
      return { "#1a1a1a": of("--ink"), "#d9d9d9": of("--line"), white: of("--paper"), "#111111": "#cfcfcf",
        "#e6e6e6": "#3d3d3d" }[value] || value;
    }
    if (Array.isArray(value)) return typeof value[0] === "number" ? value : value.map(tinted);
    if (typeof value !== "object" || ArrayBuffer.isView(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, tinted(part)]));
  }

  function fitted(layout, names) {
    layout = tinted(layout);
    if (!narrow()) return layout;
    const font = Object.assign({}, layout.font, { size: 11 });
    // Two columns, if there are many names, whatever their lengths; bars' names leave little room.
    const columns = names > 2 ? { entrywidth: 0.5, entrywidthmode: "fraction", itemwidth: 30, font: { size: 10 } } : {};
    const legend = Object.assign({}, layout.legend, columns);
    return Object.assign({}, layout, { font: font, legend: legend });
  }

  const drawn = [], painters = [];
  for (const [name, figure] of Object.entries(report.figures)) {
    const target = document.getElementById("figure-" + name);
    const menu = (figure.layout.updatemenus || [{}])[0].buttons;
    const paint = (draw) => draw(target, tinted(figure.data), fitted(figure.layout, figure.data.length), settings);
    painters.push(() => paint(Plotly.react));
    drawn.push(paint(Plotly.newPlot).then(() => {
      // A point that has a place of its own leads there.
      target.on("plotly_click", (event) => {
        const place = event.points[0].customdata;
        if (typeof place === "string" && place.startsWith("#")) location.hash = place;
      });
      // ?lost is the last button of bars of cycles.
      if (query.has("lost") && menu) return Plotly.update(target, ...menu[menu.length - 1].args);
    }));
  }

  // Timeline: what units do, in as much detail as there is room for.
  const bins = 320, most = 1500, mostArrows = 30;

  function unpack(text) {
    const bytes = inflate(Uint8Array.from(atob(text), (c) => c.charCodeAt(0)));
    const numbers = new Int32Array(bytes.buffer);
    for (let i = 1; i < numbers.length; i++) numbers[i] += numbers[i - 1];
    return numbers;
  }

  function unpackAll(table) {
    const done = {};
    for (const [name, text] of Object.entries(table)) done[name] = unpack(text);
    return done;
  }

  // The first index whose number is more than `value`.
  function above(numbers, value) {
    let low = 0, high = numbers.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (numbers[middle] > value) high = middle; else low = middle + 1;
    }
    return low;
  }

  function mix(color, share) {
    const paper = dark ? 22 : 255;
    const part = (at) => Math.round(paper + (parseInt(color.slice(at, at + 2), 16) - paper) * share);
    return "rgb(" + [1, 3, 5].map(part).join(",") + ")";
  }

  const bar = (row, x, base, color, text) => ({
    type: "bar", orientation: "h", y: x.map(() => row), x: x, base: base, width: 0.8,
    marker: { color: color, line: { width: 0 } }, text: text, textposition: "none",
    hovertemplate: "%{text}<extra></extra>", showlegend: false,
  });

  // One row of operations: each of them, or how busy the unit was.
  function unitRow(unit, from, to) {
    const first = above(unit.end, from), last = Math.min(unit.begin.length, above(unit.begin, to));
    const x = [], base = [], color = [], text = [];
    if (last - first <= most) {
      for (let i = first; i < last; i++) {
        if (unit.end[i] <= unit.begin[i]) continue;
        const command = unit.command[i];
        x.push(unit.end[i] - unit.begin[i]);
        base.push(unit.begin[i]);
        color.push(mix(unit.color, i % 2 ? 1 : 0.72));
        text.push("#" + command + " " + report.timeline.mnemonics[mnemonic[command]] + " " +
          report.timeline.operators[operator[command]] + "<br>cycles " + unit.begin[i].toLocaleString() +
          " to " + unit.end[i].toLocaleString() + " (" + (unit.end[i] - unit.begin[i]) + ")");
      }
      return bar(unit.title, x, base, color, text);
    }
    const width = (to - from) / bins, busy = new Float64Array(bins);
    for (let i = first; i < last; i++) spread(busy, from, width, unit.begin[i], unit.end[i], 1);
    for (let i = 0; i < bins; i++) {
      const share = Math.min(1, busy[i] / width);
      if (share < 0.005) continue;
      x.push(width), base.push(from + i * width), color.push(mix(unit.color, 0.12 + 0.88 * share));
      text.push(unit.title + " busy " + (100 * share).toFixed(0) + " %<br>from cycle " +
        Math.round(from + i * width).toLocaleString());
    }
    return bar(unit.title, x, base, color, text);
  }

  // Adds `weight` to the parts of `sums` that lie between two moments.
  function spread(sums, from, width, begin, end, weight) {
    let at = Math.max(begin, from);
    const stop = Math.min(end, from + width * sums.length);
    while (at < stop) {
      const index = Math.min(sums.length - 1, Math.floor((at - from) / width));
      const next = Math.min(stop, Math.max(from + (index + 1) * width, at + width * 1e-6));
      sums[index] += (next - at) * weight;
      at = next;
    }
  }

  // Whose the cycles of a resource were: each span, or the owner of most cycles.
  function ownerRow(resource, from, to) {
    const starts = resource.start, first = Math.max(0, above(starts, from) - 1);
    const last = above(starts, to), x = [], base = [], color = [], text = [];
    const endOf = (i) => (i + 1 < starts.length ? starts[i + 1] : report.timeline.cycles);
    const show = (owner, begin, end, share) => {
      x.push(end - begin), base.push(begin), color.push(resource.colors[owner]);
      text.push(resource.title + ": " + resource.names[owner] + share + "<br>cycles " +
        Math.round(begin).toLocaleString() + " to " + Math.round(end).toLocaleString());
    };
    if (last - first <= most) {
      for (let i = first; i < last; i++) {
        const owner = resource.owner[i];
        const begin = Math.max(from, starts[i]), end = Math.min(to, endOf(i));
        if (owner >= 0 && end > begin) show(owner, begin, end, "");
      }
      return bar(resource.title, x, base, color, text);
    }
    const width = (to - from) / bins;
    const sums = resource.names.map(() => new Float64Array(bins));
    for (let i = first; i < last; i++)
      if (resource.owner[i] >= 0) spread(sums[resource.owner[i]], from, width, starts[i], endOf(i), 1);
    for (let i = 0; i < bins; i++) {
      // One bar for each owner, as wide as its share: what is rare is still seen.
      let at = from + i * width;
      for (let owner = 0; owner < sums.length; owner++) {
        if (sums[owner][i] < width * 0.01) continue;
        const share = " " + (100 * sums[owner][i] / width).toFixed(0) + " %";
        show(owner, at, at + sums[owner][i], share);
        at += sums[owner][i];
      }
    }
    return bar(resource.title, x, base, color, text);
  }

  // How many operations waited in a queue.
  function queueLine(queue, from, to) {
    const width = (to - from) / bins, waiting = new Float64Array(bins), x = [], y = [];
    for (let i = Math.max(0, above(queue.started, from)); i < queue.entered.length; i++) {
      if (queue.entered[i] > to) break;
      spread(waiting, from, width, queue.entered[i], queue.started[i], 1);
    }
    for (let i = 0; i < bins; i++) x.push(from + (i + 0.5) * width), y.push(waiting[i] / width);
    return { type: "scatter", mode: "lines", name: queue.title + " queue", x: x, y: y, yaxis: "y2",
      line: { color: queue.color, width: 1.5, dash: queue.dash }, hovertemplate: "%{y:.1f} wait<extra>%{fullData.name}</extra>" };
  }

  // Arrows from loads to what uses them first, where there is room for them.
  function arrowLines(from, to) {
    const first = Math.max(0, above(arrows.begin, from)), last = above(arrows.begin, to);
    if (!last || last === first || last - first > mostArrows) return [];
    const x = [], y = [], size = [];
    for (let i = first; i < last; i++) {
      x.push(arrows.end[i], arrows.begin[i], null);
      y.push(report.timeline.loads, units[arrows.unit[i]].title, null);
      size.push(0, 9, 0);
    }
    return [{ type: "scatter", mode: "lines+markers", name: "load to first use", x: x, y: y,
      line: { color: "#1a1a1a", width: 1 }, hoverinfo: "skip", showlegend: false,
      marker: { symbol: "arrow", angleref: "previous", size: size, color: "#1a1a1a" } }];
  }

  let units = [], resources = [], queues = [], operator = null, mnemonic = null, arrows = null;

  function load() {
    const given = report.timeline;
    operator = unpack(given.operator);
    mnemonic = unpack(given.mnemonic);
    arrows = unpackAll(given.arrows);
    for (const unit of given.units) {
      const numbers = unpackAll(unit.packed);
      units.push(Object.assign({ begin: numbers.begin, end: numbers.end, command: numbers.command }, unit));
      queues.push(Object.assign({ entered: numbers.entered, started: numbers.started }, unit));
    }
    for (const resource of given.resources)
      resources.push(Object.assign(unpackAll(resource.packed), resource));
  }

  function traces(from, to) {
    return tinted([
      ...resources.map((resource) => ownerRow(resource, from, to)),
      ...units.map((unit) => unitRow(unit, from, to)),
      ...arrowLines(from, to),
      ...queues.map((queue) => queueLine(queue, from, to)),
      ...report.timeline.legend,
    ]);
  }

  function timeline() {
    const target = document.getElementById("figure-timeline");
    load();
    const all = [0, report.timeline.cycles], layout = fitted(report.timeline.layout, report.timeline.legend.length);
    layout.xaxis.range = all.slice();
    // The legend is in two columns there, below everything else.
    if (narrow()) layout.height += 10 * (report.timeline.legend.length + queues.length);
    const ready = Plotly.newPlot(target, traces(all[0], all[1]), layout, zoomed);
    let shown = all.join();
    painters.push(() => {
      const range = target.layout.xaxis.range, again = fitted(report.timeline.layout, report.timeline.legend.length);
      Object.assign(again, { height: layout.height, xaxis: Object.assign({}, again.xaxis, { range: range }) });
      return Plotly.react(target, traces(range[0], range[1]), again, zoomed);
    });
    target.on("plotly_relayout", () => {
      const axis = target.layout.xaxis;
      const range = axis.autorange ? all : axis.range;
      const from = Math.max(0, Math.min(range[0], range[1])), to = Math.min(all[1], Math.max(range[0], range[1]));
      if (to - from < 1 || [from, to].join() === shown) return;
      shown = [from, to].join();
      Plotly.react(target, traces(from, to), Object.assign({}, target.layout,
        { xaxis: Object.assign({}, axis, { range: [from, to], autorange: false }) }));
    });
    window.celosia = { zoom: (from, to) => Plotly.relayout(target, { "xaxis.range": [from, to] }) };
    return ready;
  }

  if (report.timeline) drawn.push(timeline());
  function repaint(paper) {
    const wanted = night.matches && !paper;
    if (wanted === dark) return;
    dark = wanted;
    painters.forEach((paint) => paint());
  }
  night.addEventListener("change", () => repaint(false));
  window.addEventListener("beforeprint", () => repaint(true));
  window.addEventListener("afterprint", () => repaint(false));
  Promise.all(drawn).then(() => {
    const shown = query.get("window");
    if (shown && window.celosia) return window.celosia.zoom(...shown.split(":").map(Number));
  }).then(() => { document.body.dataset.drawn = String(drawn.length); },
    (error) => { console.error("report: " + error); });
})();
