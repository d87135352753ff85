// Charts: a frame with axes, lines, scatters, bars and heat tables.
"use strict";

// A frame with axes. `opt`: x, y (domains), height, labels, ticks of one's own as [[place, text]].
function frame(width, opt) {
  const m = { top: opt.ylabel ? 26 : 10, right: 12, bottom: opt.xlabel ? 40 : 26, left: opt.left || 52 }, height = opt.height || 260;
  const w = Math.max(width - m.left - m.right, 40), h = height - m.top - m.bottom;
  const x = scale(opt.x, [0, w]), y = scale(opt.y, [h, 0]);
  const plot = svg("g", { transform: `translate(${m.left},${m.top})` });
  const axis = svg("g", { class: "axis" });
  const atX = ticks(...opt.x, Math.max(2, Math.min(7, Math.floor(w / 75)))), atY = opt.yticks || ticks(...opt.y, 5), textX = opt.xformat || axisFormat(atX), textY = opt.yformat || axisFormat(atY);
  const places = opt.xticks || atX.map(t => [t, textX(t)]);
  for (const t of atY) {
    axis.append(svg("line", { class: "gridline", x1: 0, x2: w, y1: y(t), y2: y(t) }), svg("text", { x: -7, y: y(t) + 4, "text-anchor": "end" }, textY(t)));
  }
  let last = -Infinity;
  for (const [t, text] of places) {
    const at = x(t);
    if (at - last < 26) continue;
    last = at + Math.min(String(text).length * 3.2, 30);
    axis.append(svg("line", { x1: at, x2: at, y1: h, y2: h + 4 }), svg("text", { x: at, y: h + 17, "text-anchor": "middle" }, short(String(text), 14)));
  }
  axis.append(svg("path", { d: `M0,${h}H${w}`, fill: "none" }));
  if (opt.xlabel) axis.append(svg("text", { x: w / 2, y: h + 34, "text-anchor": "middle" }, short(opt.xlabel, Math.floor((w + 30) / 6.2))));
  const picture = svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": opt.title || opt.xlabel || "chart" }, svg("g", { transform: `translate(${m.left},${m.top})` }, axis), plot);
  if (opt.ylabel) plot.append(svg("text", { class: "quiet", x: -m.left + 2, y: -m.top + 9, "font-size": 11 }, opt.ylabel));
  return { picture, plot, x, y, w, h, m };
}
const pathOf = (f, xs, ys) => {
  let d = "", pen = "M";
  xs.forEach((v, i) => {
    if (ys[i] === null || ys[i] === undefined || ys[i] !== ys[i]) { pen = "M"; return; }
    d += `${pen}${f.x(v).toFixed(1)},${f.y(ys[i]).toFixed(1)}`; pen = "L";
  });
  return d;
};
const stepPath = (f, xs, ys) => {
  let d = "";
  xs.forEach((v, i) => { d += i ? `H${f.x(v).toFixed(1)}V${f.y(ys[i]).toFixed(1)}` : `M${f.x(v).toFixed(1)},${f.y(ys[i]).toFixed(1)}`; });
  return d;
};
const legend = lines => el("div", { class: "legend" }, lines.map(l => el("span", null, el("i", { style: { background: l.color, height: l.dash ? "2px" : null } }), l.name)));

// Lines over one axis. `lines`: [{name, x, y, color, dash, step, width, mute}], `marks`: [{x, name}].
function lineChart(width, lines, opt) {
  const shown = lines.filter(l => l.x.length);
  const xs = opt.x || extent(shown.flatMap(l => [l.x[0], l.x[l.x.length - 1]]), 0), ys = opt.y || extent(shown.flatMap(l => l.y));
  const f = frame(width, { ...opt, x: xs, y: ys });
  for (const band of opt.bands || []) f.plot.append(svg("path", { d: pathOf(f, band.x, band.high) + [...band.x].reverse().map((v, i) => `L${f.x(v).toFixed(1)},${f.y(band.low[band.low.length - 1 - i]).toFixed(1)}`).join("") + "Z", fill: band.color, opacity: 0.18 }));
  for (const mark of opt.marks || []) f.plot.append(svg("line", { x1: f.x(mark.x), x2: f.x(mark.x), y1: 0, y2: f.h, stroke: css("warm"), "stroke-dasharray": "3 3" }), svg("text", { class: "quiet", x: Math.min(f.x(mark.x) + 4, f.w - 60), y: 11 }, mark.name));
  const inside = svg("svg", { width: f.w, height: f.h, style: { overflow: "hidden" } }); // lines do not leave the frame
  f.plot.append(inside);
  for (const l of shown) inside.append(svg("path", { d: (l.step ? stepPath : pathOf)(f, l.x, l.y), fill: "none", stroke: l.color, "stroke-width": l.width || 2, "stroke-dasharray": l.dash ? "5 4" : null, opacity: l.mute || null, "stroke-linejoin": "round" }));
  const cursor = svg("line", { y1: 0, y2: f.h, stroke: css("quiet"), "stroke-width": 0.7, visibility: "hidden" });
  const named = shown.filter(l => l.name);
  const overlay = svg("rect", { width: f.w, height: f.h, fill: "transparent",
    onpointermove: e => {
      const box = overlay.getBoundingClientRect(), at = xs[0] + (e.clientX - box.left) / box.width * (xs[1] - xs[0]);
      const text = named.map(l => {
        let best = 0;
        l.x.forEach((v, i) => { if (Math.abs(v - at) < Math.abs(l.x[best] - at)) best = i; });
        return [l.x[best], `${l.name}: ${(opt.yformat || fmt)(l.y[best])}`];
      });
      if (!text.length) return;
      cursor.setAttribute("x1", f.x(text[0][0])); cursor.setAttribute("x2", f.x(text[0][0])); cursor.setAttribute("visibility", "visible");
      showTip(`${opt.xname || opt.xlabel || ""} ${opt.xformat ? opt.xformat(text[0][0]) : fmt(text[0][0])}\n${text.slice(0, 8).map(t => t[1]).join("\n")}`, e);
    }, onpointerleave: () => { cursor.setAttribute("visibility", "hidden"); hideTip(); } });
  f.plot.append(cursor, overlay);
  if (opt.after) opt.after(f);
  return named.length > (opt.legend ? 0 : 1) && !opt.nolegend ? [legend(named), f.picture] : f.picture;
}
// Horizontal bars as elements. `items`: [{label, value, error, text, color}].
function bars(items, opt = {}) {
  const text = opt.digits ? v => fmt(v, opt.digits) : formatOf(items.map(i => i.value).concat(0), 400);
  const low = Math.min(0, ...items.map(i => i.value)), high = Math.max(1e-300, ...items.map(i => i.value + (i.error || 0)));
  const at = v => 100 * (v - low) / (high - low);
  return el("div", { class: "bars" }, items.map(i => {
    const from = at(Math.min(0, i.value)), to = at(Math.max(0, i.value));
    return [el("span", { class: "label", title: i.label }, i.label),
      el("span", { class: "track", ...tipped(`${i.label}: ${i.text || fmt(i.value)}${i.error ? " ± " + fmt(i.error, 2) : ""}`) },
        el("span", { class: "bar", style: { left: from + "%", width: Math.max(to - from, 0.3) + "%", background: i.color || (i.value < 0 ? css("c7") : css("c0")) } }),
        i.error ? el("span", { class: "whisker", style: { left: at(i.value - i.error) + "%", width: at(i.value + i.error) - at(i.value - i.error) + "%" } }) : null),
      el("span", { class: "n" }, i.text || text(i.value))];
  }));
}
// A table of coloured cells; `cells[r][c]` is {text, share, title}.
function heat(rowNames, columnNames, cells, corner) {
  const many = columnNames.length > 6, upright = many && columnNames.some(c => c.length > 4);
  return scroller(el("table", { class: `heat${many ? " many" : ""}${upright ? " upright" : ""}` },
    el("thead", null, el("tr", null, el("th", { class: "l corner" }, corner || ""), columnNames.map(c => el("th", { style: { textAlign: "center" } }, short(c, 16))))),
    el("tbody", null, cells.map((row, r) => el("tr", null, el("td", { class: "l" }, short(rowNames[r], 22)), row.map(c =>
      el("td", { class: "cell", style: { background: c.color }, ...tipped(c.title || c.text) }, c.text)))))));
}
function scatter(width, xs, ys, opt) {
  const f = frame(width, { ...opt, x: opt.x || extent(xs), y: opt.y || extent(ys) });
  if (opt.before) opt.before(f);
  xs.forEach((v, i) => f.plot.append(svg("circle", { cx: f.x(v).toFixed(1), cy: f.y(ys[i]).toFixed(1), r: opt.r || 2.6, fill: opt.color ? opt.color(i) : css("c0"), opacity: opt.opacity || 0.55,
    tabindex: opt.onpick ? 0 : null, role: opt.onpick ? "button" : null, "aria-label": opt.onpick ? opt.text(i) : null, style: { cursor: opt.onpick ? "pointer" : null },
    onpointermove: e => showTip(opt.text(i), e), onpointerleave: hideTip,
    onclick: opt.onpick ? () => opt.onpick(i) : null, onkeydown: opt.onpick ? e => { if (e.key === "Enter") opt.onpick(i); } : null })));
  return f.picture;
}
function histogram(width, edges, counts, opt) {
  const density = counts.map((c, i) => c / (edges[i + 1] - edges[i] || 1)), top = Math.max(...density);
  const f = frame(width, { ...opt, x: [edges[0], edges[edges.length - 1]], y: [0, top], yticks: [] });
  counts.forEach((c, i) => f.plot.append(svg("rect", { x: f.x(edges[i]) + 0.5, width: Math.max(f.x(edges[i + 1]) - f.x(edges[i]) - 1, 0.8), y: f.y(density[i]), height: f.h - f.y(density[i]), fill: css("c5"),
    ...tipped(`${fmt(edges[i])} to ${fmt(edges[i + 1])}: ${plural(c, "row")}`) })));
  if (opt.after) opt.after(f);
  return f.picture;
}
function spark(counts) {
  const top = Math.max(1, ...counts), n = counts.length, w = 100 / n;
  return svg("svg", { class: "spark", viewBox: "0 0 100 20", preserveAspectRatio: "none", "aria-hidden": "true" },
    counts.map((c, i) => svg("rect", { x: i * w, width: w * 0.88, y: 20 - 20 * c / top, height: 20 * c / top })));
}
