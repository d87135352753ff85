// Small things that all panels use: elements, numbers in words, scales, the tip that follows the pointer.
"use strict";
const SVG = "http://www.w3.org/2000/svg";
function el(tag, attributes, ...content) { return fill(document.createElement(tag), attributes, content); }
function svg(tag, attributes, ...content) { return fill(document.createElementNS(SVG, tag), attributes, content); }
// Names and values are set as text: nothing of the data is ever read as HTML.
function fill(node, attributes, content) {
  for (const [key, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else if (key === "style" && typeof value === "object") Object.assign(node.style, value);
    else if (key === "value") node.value = value;
    else node.setAttribute(key, value === true ? "" : value);
  }
  for (const one of content.flat(3)) if (one !== null && one !== undefined) node.append(one);
  return node;
}
function clear(node) { node.replaceChildren(); return node; }

const MINUS = "−";
function fmt(x, digits = 4) {
  if (x === null || x === undefined || x !== x) return "missing";
  if (x === Infinity) return "∞"; if (x === -Infinity) return MINUS + "∞";
  const size = Math.abs(x);
  let text;
  if (x === 0) text = "0";
  else if (Number.isInteger(x) && size < 1e15) text = size >= 1e4 ? size.toLocaleString("en") : String(size);
  else if (size >= 1e7 || size < 1e-4) text = size.toExponential(Math.max(digits - 2, 1));
  else { const near = Number(size.toPrecision(digits)); text = near >= 1e4 ? near.toLocaleString("en") : String(near); }
  return (x < 0 ? MINUS : "") + text;
}
// A number at an axis: short.
const axisText = x => { const size = Math.abs(x); for (const [unit, name] of [[1e12, "T"], [1e9, "G"], [1e6, "M"]]) if (size >= unit) return fmt(x / unit, 3) + " " + name; return fmt(x, 3); };
const percent = (p, digits = 1) => (100 * p).toFixed(digits) + " %";
const plural = (n, one, many) => `${fmt(n)} ${n === 1 ? one : many || one + "s"}`;
const short = (text, n = 28) => text.length > n ? text.slice(0, n - 1) + "…" : text;

// A value of a column in words.
function valueOf(column, x) {
  if (x === null || x === undefined || x !== x) return "missing";
  if (column.words) return column.words[x] === undefined ? "?" : column.words[x];
  if (column.dtype === "datetime") { const d = new Date(x * 1000); return isNaN(d) ? fmt(x) : d.toISOString().slice(0, x % 86400 ? 16 : 10).replace("T", " "); }
  return fmt(x, 6);
}
// The same beside a map, where there is little room; the whole of it stands in the cell's tip.
const briefly = (column, x) => column.words || column.dtype === "datetime" || x === null ? valueOf(column, x) : axisText(x);

const scale = (domain, range) => {
  const [a, b] = domain, [c, d] = range, width = b - a || 1;
  return x => c + (x - a) / width * (d - c);
};
function ticks(low, high, count = 5) {
  if (!(high > low)) return [low];
  const raw = (high - low) / count, power = 10 ** Math.floor(Math.log10(raw));
  const step = power * [1, 2, 2.5, 5, 10].find(m => m * power >= raw * 0.999);
  const found = [];
  for (let t = Math.ceil(low / step - 1e-9) * step; t <= high + step * 1e-9; t += step) found.push(Math.abs(t) < step * 1e-9 ? 0 : Number(t.toPrecision(12)));
  return found;
}
function extent(values, pad = 0.04) {
  let low = Infinity, high = -Infinity;
  for (const v of values) if (v !== null && v === v) { if (v < low) low = v; if (v > high) high = v; }
  if (low > high) return [0, 1];
  if (low === high) return [low - (Math.abs(low) || 1) * 0.5, high + (Math.abs(high) || 1) * 0.5];
  return [low - pad * (high - low), high + pad * (high - low)];
}

const css = name => `var(--${name})`;
const classColor = (k, n) => n <= 8 ? css("c" + k) : `hsl(${Math.round(360 * k / n)} 55% 50%)`;
// Between two colours of the theme; share from 0 to 1, the middle is quiet.
function ramp(share) {
  const s = Math.min(Math.max(share, 0), 1);
  return s < 0.5 ? `color-mix(in srgb, var(--low) ${Math.round(100 - 200 * s)}%, var(--middle))`
    : `color-mix(in srgb, var(--high) ${Math.round(200 * s - 100)}%, var(--middle))`;
}

// Between two colours without a quiet middle, for points.
const blend = share => `color-mix(in srgb, var(--high) ${Math.round(100 * Math.min(Math.max(share, 0), 1))}%, var(--low))`;

const tip = document.getElementById("tip");
function showTip(text, event) {
  tip.textContent = text; tip.hidden = false;
  const box = tip.getBoundingClientRect(), x = event.clientX, y = event.clientY;
  tip.style.left = Math.max(4, Math.min(x + 14, innerWidth - box.width - 6)) + "px";
  tip.style.top = (y + 18 + box.height > innerHeight ? y - box.height - 10 : y + 18) + "px";
}
function hideTip() { tip.hidden = true; }
const tipped = text => ({ onpointermove: e => showTip(text, e), onpointerleave: hideTip });

function table(head, rows, left = 1, attributes) {
  const side = i => i < left ? { class: "l" } : {};
  const first = rows.length ? rows[0].cells || rows[0] : [];
  const like = i => first[i] instanceof Element && /\b(l|wrap)\b/.test(first[i].className) ? { class: "l" } : side(i); // a heading stands over its column
  // On a narrow screen a row of many cells becomes a card: every cell then says what it is.
  const cards = head.length > 3 ? { ...attributes, class: `cards${attributes && attributes.class ? " " + attributes.class : ""}` } : attributes;
  const named = (cell, i) => { if (i && head.length > 3) cell.dataset.label = head[i] instanceof Element ? head[i].textContent : head[i]; return cell; };
  return el("table", cards,
    el("thead", null, el("tr", null, head.map((h, i) => el("th", like(i), h)))),
    el("tbody", null, rows.map(row => el("tr", row.attributes, (row.cells || row).map((c, i) =>
      named(c instanceof Element && c.tagName === "TD" ? c : el("td", side(i), c), i))))));
}
const scroller = (...content) => el("div", { class: "scroll" }, content);
function choice(label, options, onpick, value = 0) {
  const list = el("select", { onchange: () => onpick(Number(list.value)) }, options.map((text, i) => el("option", { value: i }, text)));
  list.value = value;
  return el("label", null, label, list);
}
function slider(label, low, high, step, value, oninput) {
  const shown = el("output", null, fmt(value));
  const input = el("input", { type: "range", min: low, max: high, step, "aria-label": label, oninput: () => { shown.textContent = fmt(+input.value); oninput(+input.value); } });
  input.value = value;
  const whole = el("label", null, label, input, shown);
  whole.set = v => { input.value = v; shown.textContent = fmt(v); };
  return whole;
}
const facts = pairs => el("dl", { class: "facts" }, pairs.filter(p => p && p[1] !== null && p[1] !== undefined && p[1] !== "").map(([a, b]) => [el("dt", null, a), el("dd", null, b)]));

// Draws again whenever the width of its place changes: text keeps its size at any width.
function drawn(draw, attributes) {
  const place = el("div", { class: "chart", ...attributes });
  let width = 0;
  const again = () => { const w = Math.floor(place.clientWidth); if (w && w !== width) { width = w; clear(place).append(...[draw(w)].flat()); } };
  place.redraw = () => { width = 0; again(); };
  new ResizeObserver(again).observe(place);
  return place;
}
