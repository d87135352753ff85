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
const power = n => String(n).replace(/./g, c => ({ "-": "⁻" }[c] || "⁰¹²³⁴⁵⁶⁷⁸⁹"[c]));
// One rule for numbers: thousands are separated from 1,000 on; digits are significant ones; very small and very large numbers have a power of ten.
function fmt(x, digits = 4) {
  if (x === null || x === undefined || x !== x) return "missing";
  if (x === Infinity) return "∞"; if (x === -Infinity) return MINUS + "∞";
  const size = Math.abs(x);
  let text;
  if (x === 0) text = "0";
  else if (Number.isInteger(x) && size < 1e9) text = size.toLocaleString("en");
  else if (size >= 1e12 || size < 1e-4) { const [head, tail] = size.toExponential(Math.max(digits - 2, 1)).split("e"); text = `${Number(head)} × 10${power(Number(tail))}`; }
  else text = Number(size.toPrecision(digits)).toLocaleString("en", { maximumFractionDigits: 20 });
  return (x < 0 ? MINUS : "") + text;
}
// Formats numbers beside each other: enough decimals to show a difference of a hundredth of their spread (`parts`: by how many parts of it).
function formatOf(values, parts = 100) {
  let low = Infinity, high = -Infinity;
  for (const v of values) if (Number.isFinite(v)) { if (v < low) low = v; if (v > high) high = v; }
  const spread = high - low;
  if (!(spread > 0) || spread < 1e-9 || spread > 1e13) return v => fmt(v, 4);
  const decimals = Math.min(12, Math.max(0, Math.ceil(Math.log10(parts / spread) - 1e-9)));
  return v => {
    if (v === null || v === undefined || !Number.isFinite(v)) return fmt(v);
    const text = Math.abs(v).toLocaleString("en", { maximumFractionDigits: decimals, minimumFractionDigits: values.every(Number.isInteger) ? 0 : decimals });
    return (v < 0 && /[1-9]/.test(text) ? MINUS : "") + text;
  };
}
// Numbers at an axis: short, with the decimals that the ticks need.
function axisFormat(places) {
  const top = Math.max(...places.map(Math.abs)), [unit, name] = [[1e12, " tn"], [1e9, " bn"], [1e6, " M"]].find(([u]) => top >= u) || [1, ""];
  const step = places.length > 1 ? Math.min(...places.slice(1).map((p, i) => p - places[i])) / unit : 0;
  if (!(step > 1e-4)) return v => fmt(v, 3);
  let decimals = 0; while (decimals < 6 && Math.abs(step * 10 ** decimals - Math.round(step * 10 ** decimals)) > 1e-6 * step * 10 ** decimals) decimals++;
  return v => v === 0 ? "0" : (v < 0 ? MINUS : "") + Math.abs(v / unit).toLocaleString("en", { minimumFractionDigits: decimals, maximumFractionDigits: decimals }) + name;
}
const percent = (p, digits = 1) => (100 * p).toFixed(digits).replace("-", MINUS) + " %";
const plural = (n, one, many) => `${fmt(n)} ${n === 1 ? one : many || one + "s"}`;
const short = (text, n = 28) => text.length > n ? text.slice(0, n - 1) + "…" : text;
// Text of a worksheet with the page's numbers and signs.
const neat = text => String(text).replaceAll("<=", "≤").replaceAll(">=", "≥").replace(/(?<![\w.])-?\d+(?:\.\d+)?(?:e[+-]?\d+)?(?![\w.]*\w)/g, (t, at, all) => { if (!/e|\d{8}|\d{5,}\.|\.\d{7}/.test(t)) return t; const out = fmt(Number(t), 6); return out.includes("×") && all[at + t.length] === "²" ? `(${out})` : out; });

// A value of a column in words. A category that the training rows did not have has its own text, `unseen`.
function valueOf(column, x, unseen) {
  if (x === null || x === undefined || x !== x) return unseen === undefined || unseen === null ? "missing" : `${unseen} (unseen)`;
  if (column.words) return column.words[x] === undefined ? "?" : column.words[x];
  if (column.dtype === "datetime") { const d = new Date(x * 1000); return isNaN(d) ? fmt(x) : d.toISOString().slice(0, x % 86400 ? 16 : 10).replace("T", " "); }
  if (column.whole && column.range && column.range[0] >= 1000 && column.range[1] < 3000) return String(Number(x.toPrecision(6))); // years
  return fmt(Math.abs(x) <= 1e-35 ? 0 : x, 6);
}
// The values of a column beside a map, where there is little room.
const briefly = (column, values) => column.words || column.dtype === "datetime" ? v => valueOf(column, v) : column.whole ? v => valueOf(column, v) : formatOf(values);

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
  return found.length < 3 && count < 6 ? ticks(low, high, count + 1) : found;
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
  const like = i => first[i] instanceof Element && /\b(l|wrap)\b/.test(first[i].className) ? { class: "l" } : side(i); // a heading is aligned with its column
  // On a narrow screen a row of many cells becomes a card: every cell then has its own label.
  const cards = head.length > 3 ? { ...attributes, class: `cards${attributes && attributes.class ? " " + attributes.class : ""}` } : attributes;
  const named = (cell, i) => { if (i && head.length > 3) { const label = head[i] instanceof Element ? head[i].textContent : String(head[i]); cell.dataset.label = label; if (label.length + cell.textContent.length > 17) cell.classList.add("long"); } return cell; };
  return el("table", cards,
    el("thead", null, el("tr", null, head.map((h, i) => el("th", like(i), h)))),
    el("tbody", null, rows.map(row => el("tr", row.attributes, (row.cells || row).map((c, i) =>
      named(c instanceof Element && c.tagName === "TD" ? c : el("td", side(i), c), i))))));
}
// A place of limited height. What it hides is announced below it, as long as there is something below.
function tall(what, ...content) {
  const inside = el("div", { class: "tall scroll", tabindex: 0, role: "region", "aria-label": what }, content), sign = el("p", { class: "more", "aria-hidden": "true" }, `↓ ${what}: scroll for more`);
  const look = () => { const left = inside.scrollHeight - inside.clientHeight; sign.style.display = left > 4 ? "" : "none"; sign.style.visibility = inside.scrollTop < left - 4 ? "" : "hidden"; };
  inside.addEventListener("scroll", look); new ResizeObserver(look).observe(inside);
  return el("div", { class: "tall-box" }, inside, sign);
}
const scroller = (...content) => el("div", { class: "scroll" }, content);
function choice(label, options, onpick, value = 0) {
  const list = el("select", { onchange: () => onpick(Number(list.value)) }, options.map((text, i) => el("option", { value: i }, text)));
  list.value = value;
  return el("label", null, label, list);
}
function slider(label, low, high, step, value, oninput) {
  const shown = el("output", null, fmt(value, 6));
  const input = el("input", { type: "range", min: low, max: high, step, "aria-label": label, oninput: () => { shown.textContent = fmt(+input.value, 6); oninput(+input.value); } });
  input.value = value;
  const whole = el("label", null, label, input, shown);
  whole.set = v => { input.value = v; shown.textContent = fmt(v, 6); };
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
