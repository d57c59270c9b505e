const all = (selector, root = document) => [...root.querySelectorAll(selector)];
function reveal() {
  const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!target) return;
  for (let fold = target; fold; fold = fold.parentElement) if (fold.tagName === "DETAILS") fold.open = true;
  (target.closest(".scenario") ?? target).scrollIntoView();
}
addEventListener("hashchange", reveal);
// No hashchange event follows a click on a link to the present address.
addEventListener("click", event => {
  if (event.target.closest("a[href^='#']")?.hash === location.hash) setTimeout(reveal);
});
reveal();
const bar = document.querySelector(".filter");
if (bar) {
  const [words, broken, own] = all("input", bar), count = bar.querySelector("output");
  const items = all("[data-words]");
  const apply = () => {
    const wanted = words.value.toLowerCase().split(/\s+/).filter(word => word !== "");
    let shown = 0;
    for (const item of items) {
      const isShown = wanted.every(word => item.dataset.words.includes(word))
        && !(broken.checked && item.dataset.tone !== "bad")
        && !(own.checked && item.dataset.about === "harness");
      item.hidden = !isShown;
      if (isShown) shown += 1;
    }
    for (const group of all(".group")) group.hidden = !group.querySelector("[data-words]:not([hidden])");
    count.textContent = shown === items.length ? "" : shown + " of " + items.length;
  };
  bar.hidden = false;
  bar.addEventListener("input", apply);
}
const short = value => String(+value.toPrecision(4));
const texts = {
  seconds(value) {
    if (value === 0) return "0";
    const units = [[1, " s"], [1e-3, " ms"], [1e-6, " µs"], [1e-9, " ns"]];
    const [size, name] = units.find(unit => Math.abs(value) >= unit[0] * 0.9999) || [1e-9, " ns"];
    return short(value / size) + name;
  },
  plain(value) {
    const size = Math.abs(value);
    return size >= 999999 ? short(value / 1e6) + "M" : size >= 9999 ? short(value / 1e3) + "k" : short(value);
  },
  percentile: value => value <= 1 ? "0" : String(+(100 * (1 - 1 / value))
    .toPrecision(3 + Math.floor(Math.log10(value)))),
  change: value => (value > 1e-9 ? "+" : "") + String(+(value * 100).toPrecision(3)) + " %",
  rows: value => String(Math.round(value)),
};
function axis(text) {
  const [kind, form, from, until] = text.split(" "), low = +from, high = +until, isLog = form === "log";
  const value = share => isLog ? low * (high / low) ** share : low + (high - low) * share;
  const share = value => isLog ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low);
  const steps = (a, b) => {
    const rough = (b - a) / 6, size = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map(n => n * size).find(n => n >= rough * 0.999);
    const ticks = [];
    for (let n = Math.ceil(a / step); n * step <= b * (1 + 1e-9); n += 1) ticks.push(n * step);
    return ticks;
  };
  const ticks = (first, last) => {
    const [a, b] = [value(first), value(last)];
    if (!isLog || b / a < 10) return steps(a, b);
    const powers = [], marks = b / a < 100 ? [1, 2, 5] : [1];
    for (let n = Math.floor(Math.log10(a)); n <= Math.ceil(Math.log10(b)); n += 1)
      for (const mark of marks) powers.push(mark * 10 ** n);
    const inside = powers.filter(n => n >= a * 0.999 && n <= b * 1.001), every = Math.ceil(inside.length / 7);
    return inside.filter((_, index) => index % every === 0);
  };
  return { value, share, ticks, text: texts[kind] };
}
const units = 10000, tip = document.createElement("div");
tip.className = "tip"; tip.hidden = true; tip.setAttribute("role", "status");
document.body.append(tip);
function plot(svg) {
  const drawn = (name, attributes) => {
    const element = document.createElementNS(svg.namespaceURI, name);
    for (const key in attributes) element.setAttribute(key, attributes[key]);
    return element;
  };
  const figure = svg.closest("figure"), area = svg.querySelector(".area");
  const [x, y] = [axis(svg.dataset.x), axis(svg.dataset.y)], isDown = "down" in svg.dataset;
  const [left, top, width, height] = ["x", "y", "width", "height"].map(name => +area.getAttribute(name));
  const curves = all("path", area).map(path => ({
    slot: path.classList[0].slice(1), kind: path.classList[1], colour: path.classList[2].slice(1),
    points: [...path.getAttribute("d").matchAll(/(-?\d+) (-?\d+)/g)].map(found => [+found[1], +found[2]]),
  }));
  const labels = {};
  for (const box of all(".legend input", figure)) labels[box.value] = box;
  const isOn = curve => !labels[curve.slot] || labels[curve.slot].checked;
  const line = drawn("path", { class: "cursor" }), frame = drawn("rect", { class: "frame" });
  svg.append(line, frame);
  const whole = document.createElement("button");
  whole.type = "button"; whole.textContent = "whole"; whole.hidden = true; whole.className = "whole";
  svg.after(whole);
  let view = [0, 0, units, units], start = null, at = null;

  const place = event => {
    const box = svg.getBoundingClientRect(), scale = 420 / box.width;
    return [(event.clientX - box.left) * scale, (event.clientY - box.top) * scale];
  };
  const clamp = (value, low, high) => Math.min(Math.max(value, low), high);
  const inside = ([px, py]) => [clamp((px - left) / width, 0, 1), clamp((py - top) / height, 0, 1)];

  function zoom(to) {
    view = to;
    area.setAttribute("viewBox", to.join(" "));
    const isWhole = to[2] === units && to[3] === units;
    whole.hidden = isWhole;
    area.classList.toggle("zoomed", !isWhole);
    const ends = [(units - to[1] - to[3]) / units, (units - to[1]) / units];
    const rows = isDown ? ends.map(end => 1 - end).reverse() : ends;
    const horizontal = svg.querySelector(".ticks.x"), vertical = svg.querySelector(".ticks.y");
    horizontal.replaceChildren(); vertical.replaceChildren();
    for (const value of x.ticks(to[0] / units, (to[0] + to[2]) / units)) {
      const px = left + (x.share(value) * units - to[0]) / to[2] * width;
      const text = drawn("text", { x: px, y: top + height + 16, "text-anchor": "middle" });
      text.textContent = x.text(value);
      horizontal.append(drawn("path", { d: "M" + px + " " + top + "V" + (top + height) }), text);
    }
    for (const value of y.ticks(...rows)) {
      const up = isDown ? y.share(value) : 1 - y.share(value);
      const py = top + (up * units - to[1]) / to[3] * height;
      const text = drawn("text", { x: left - 6, y: py + 4, "text-anchor": "end" });
      text.textContent = y.text(value);
      vertical.append(drawn("path", { d: "M" + left + " " + py + "H" + (left + width) }), text);
    }
    hide();
  }
  function hide() { tip.hidden = true; line.removeAttribute("d"); }
  // The nearest point of each curve that is on, by its place on the x axis.
  function tell(share, clientX, clientY) {
    at = view[0] + share * view[2];
    const found = curves.filter(curve => isOn(curve) && curve.points.length > 0).map(curve => {
      const far = point => Math.abs(point[0] - at);
      return [curve, curve.points.reduce((best, point) => far(point) < far(best) ? point : best)];
    });
    if (found.length === 0) return hide();
    const near = found.map(entry => entry[1]).reduce((a, b) => Math.abs(b[0] - at) < Math.abs(a[0] - at) ? b : a);
    tip.replaceChildren();
    const head = document.createElement("b");
    head.textContent = x.text(x.value(near[0] / units)) + " " + svg.querySelector(".axis").textContent;
    tip.append(head);
    for (const [curve, point] of found) {
      const row = document.createElement("div"), label = labels[curve.slot];
      row.className = "c" + curve.colour;
      const isHere = Math.abs(point[0] - near[0]) <= view[2] / 100;
      const own = isHere ? "" : " at " + x.text(x.value(point[0] / units));
      const up = isDown ? point[1] / units : 1 - point[1] / units, value = document.createElement("span");
      value.textContent = y.text(y.value(up)) + own + (label ? "  " + label.parentElement.textContent.trim() : "")
        + (curve.kind === "dashed" ? " (dashed)" : "");
      row.append(value);
      tip.append(row);
    }
    const px = left + (near[0] - view[0]) / view[2] * width;
    if (px >= left && px <= left + width) line.setAttribute("d", "M" + px + " " + top + "V" + (top + height));
    else line.removeAttribute("d");
    tip.hidden = false;
    const right = document.documentElement.clientWidth - tip.offsetWidth - 4;
    tip.style.left = scrollX + clamp(clientX + 14, 4, Math.max(4, right)) + "px";
    tip.style.top = scrollY + clientY + 16 + "px";
  }
  svg.addEventListener("pointermove", event => {
    const now = inside(place(event));
    if (start) {
      const [a, b] = [start, now];
      const box = { x: left + Math.min(a[0], b[0]) * width, y: top + Math.min(a[1], b[1]) * height,
        width: Math.abs(a[0] - b[0]) * width, height: Math.abs(a[1] - b[1]) * height };
      for (const key in box) frame.setAttribute(key, box[key]);
    }
    tell(now[0], event.clientX, event.clientY);
  });
  svg.addEventListener("pointerleave", () => { if (!start) hide(); });
  // A finger scrolls the page.
  svg.addEventListener("pointerdown", event => {
    if (event.pointerType === "touch" || event.button !== 0) return;
    event.preventDefault();
    svg.focus({ preventScroll: true });
    svg.setPointerCapture(event.pointerId);
    start = inside(place(event));
  });
  svg.addEventListener("pointerup", event => {
    if (!start) return;
    const [a, b] = [start, inside(place(event))];
    start = null;
    frame.removeAttribute("width");
    const [w, h] = [Math.abs(a[0] - b[0]), Math.abs(a[1] - b[1])];
    if (w * width < 6) return;
    // A stroke that is nearly level zooms along x alone.
    const isFlat = h * height < 12;
    zoom([view[0] + Math.min(a[0], b[0]) * view[2], isFlat ? view[1] : view[1] + Math.min(a[1], b[1]) * view[3],
      w * view[2], isFlat ? view[3] : h * view[3]]);
  });
  svg.addEventListener("pointercancel", () => { start = null; frame.removeAttribute("width"); hide(); });
  const reset = () => zoom([0, 0, units, units]);
  svg.addEventListener("dblclick", reset);
  whole.addEventListener("click", reset);
  svg.tabIndex = 0;
  svg.addEventListener("blur", hide);
  svg.addEventListener("keydown", event => {
    const box = area.getBoundingClientRect(), middle = at === null ? view[0] + view[2] / 2 : at;
    if (event.key === "Escape") { hide(); reset(); }
    else if (event.key === "+" || event.key === "-") {
      const w = clamp(event.key === "+" ? view[2] / 2 : view[2] * 2, units / 64, units);
      zoom([clamp(middle - w / 2, 0, units - w), view[1], w, w === units ? units : view[3]]);
    } else if (event.key === "ArrowLeft" || event.key === "ArrowRight") {
      const isRight = event.key === "ArrowRight";
      const stops = [...new Set(curves.filter(isOn).flatMap(curve => curve.points.map(point => point[0])))]
        .filter(stop => stop >= view[0] && stop <= view[0] + view[2]).sort((a, b) => a - b);
      const next = at === null ? stops[0]
        : isRight ? stops.find(stop => stop > at + 0.5) : stops.findLast(stop => stop < at - 0.5);
      if (next !== undefined) {
        const share = (next - view[0]) / view[2];
        tell(share, box.left + share * box.width, box.top + box.height / 2);
      }
    } else return;
    event.preventDefault();
  });
}
for (const svg of all("svg.plot")) plot(svg);
