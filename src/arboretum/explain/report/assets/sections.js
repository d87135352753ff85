// The frame of a page: panels one below the other, a list of them beside, light and dark.
"use strict";
const nowSeen = new IntersectionObserver(entries => entries.forEach(e => { const link = document.querySelector(`#contents a[href="#${e.target.id}"]`); if (e.isIntersecting && link) { document.querySelectorAll("#contents a").forEach(a => a.classList.remove("here")); link.classList.add("here"); } }), { rootMargin: "-20% 0px -70% 0px" });
// Replaces all panels. `list`: [id, name, how to read it, a function that returns its content].
function putSections(list) {
  const main = document.getElementById("main"), contents = document.getElementById("contents");
  clear(main); clear(contents);
  for (const [id, name, how, make] of list) {
    const place = el("section", { id, "aria-labelledby": id + "-name" }, el("h2", { id: id + "-name" }, name), el("p", { class: "how" }, how));
    main.append(place);
    contents.append(el("a", { href: "#" + id }, name));
    place.append(make());
  }
  main.querySelectorAll("section").forEach(place => nowSeen.observe(place));
}
function lightOrDark() {
  const root = document.documentElement;
  document.getElementById("look").addEventListener("click", () => {
    const dark = root.dataset.look ? root.dataset.look === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.look = dark ? "light" : "dark";
  });
}
function notDrawn(problem) {
  document.getElementById("main").append(el("p", { class: "hint" }, "This page could not be drawn: " + problem.message));
  document.documentElement.dataset.ready = "failed";
  throw problem;
}
// Groups of rows with larger errors than all others: [{column, values, n_rows, error, low, high, others}].
function weakGroups(groups, classes) {
  const text = classes ? v => percent(v) : formatOf(groups.flatMap(g => [g.error, g.others]));
  return scroller(table(["group", "rows", classes ? "wrong" : "mean error", "95 % interval", "other rows"], groups.map(g => [el("td", { class: "l wrap" }, `${g.column} ${/^[≤>]/.test(g.values) ? "" : "= "}${short(g.values, 40)}`), fmt(g.n_rows), text(g.error), `${text(g.low)} to ${text(g.high)}`, text(g.others)])));
}
