const frames = [...document.querySelectorAll("#frames g")].map(g => ({
  g, rect: g.querySelector("rect"), text: g.querySelector("text"),
  name: g.querySelector("title").textContent.split("\n")[0],
  x: +g.dataset.x, w: +g.dataset.w, depth: +g.dataset.d, before: +g.dataset.b, after: +g.dataset.a }));
const input = document.querySelector("input"), found = document.getElementById("found"), slack = 1e-5;
function zoom(to) {
  for (const f of frames) {
    const isAbove = f.depth < to.depth && f.x <= to.x + slack && f.x + f.w >= to.x + to.w - slack;
    const isBelow = f.depth >= to.depth && f.x >= to.x - slack && f.x + f.w <= to.x + to.w + slack;
    f.g.style.display = isAbove || isBelow ? "" : "none";
    f.g.classList.toggle("above", isAbove);
    const x = isAbove ? 0 : (f.x - to.x) / to.w * 1200, w = isAbove ? 1200 : f.w / to.w * 1200;
    f.rect.setAttribute("x", x); f.rect.setAttribute("width", w); f.text.setAttribute("x", x + 3);
    const letters = Math.floor((w - 6) / 6.7), name = [...f.name];
    f.text.textContent = letters < 3 ? "" :
      name.length <= letters ? f.name : name.slice(0, letters - 1).join("") + "…";
  }
}
function search() {
  const word = input.value.toLowerCase();
  let before = 0, after = 0, count = 0, inside = Infinity;
  for (const f of frames) {
    const isHit = word !== "" && f.depth > 0 && f.name.toLowerCase().includes(word);
    f.g.classList.toggle("hit", isHit);
    if (f.depth <= inside) inside = Infinity;
    if (!isHit) continue;
    count += 1;
    // A match within a match is part of its cost.
    if (inside === Infinity) { before += f.before; after += f.after; inside = f.depth; }
  }
  const text = n => Math.round(n).toLocaleString("en"), share = before ? (after / before - 1) * 100 : NaN;
  found.textContent = word === "" ? "" : count + (count === 1 ? " match: " : " matches: ") + text(before) + " → " + text(after)
    + (isNaN(share) ? "" : " (" + (share >= 0 ? "+" : "") + share.toFixed(1) + " %)");
}
for (const f of frames) f.g.addEventListener("click", () => zoom(f));
input.addEventListener("input", search);
addEventListener("keydown", event => {
  if (event.key === "Escape") { input.value = ""; search(); zoom(frames[0]); }
  if (event.key === "f" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); input.focus(); }
});
