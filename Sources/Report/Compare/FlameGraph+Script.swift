// How a flame graph looks and answers to clicks and searches. Fixed text.

extension FlameGraph {
    static let style = """
        svg { background: #fff; min-width: 800px } .page { fill: #fff } text { fill: #111 } .quiet { fill: #666 } .heading { font-size: 15px; font-weight: bold }
        #frames text { pointer-events: none } #frames g { cursor: pointer } rect { stroke: #fff; stroke-width: 0.5 }
        .same rect { fill: #ddd }
        .grew1 rect { fill: #fbdcd6 } .grew2 rect { fill: #f8b8ac } .grew3 rect { fill: #f28e7e }
        .grew4 rect { fill: #ea6a58 }
        .shrank1 rect { fill: #dbe8f8 } .shrank2 rect { fill: #b4cff1 } .shrank3 rect { fill: #86b0e6 }
        .shrank4 rect { fill: #6496dc }
        #frames .above { opacity: 0.5 } #frames .hit rect { stroke: #111; stroke-width: 2 }
        input { width: 100%; box-sizing: border-box; font: inherit }
        @media (prefers-color-scheme: dark) {
        svg { background: #161616 } .page { fill: #161616 } text { fill: #f4f4f4 } .quiet { fill: #aaa } rect { stroke: #161616 }
        .same rect { fill: #3c3c3c }
        .grew1 rect { fill: #4e2c27 } .grew2 rect { fill: #73352b } .grew3 rect { fill: #9a3a2c }
        .grew4 rect { fill: #bd3f2c }
        .shrank1 rect { fill: #27364e } .shrank2 rect { fill: #2b4873 } .shrank3 rect { fill: #2c5b9a }
        .shrank4 rect { fill: #2c6abd }
        #frames .hit rect { stroke: #f4f4f4 } input { color-scheme: dark }
        }
        """

    static let script = """
        const frames = [...document.querySelectorAll("#frames g")].map(g => ({
          g, rect: g.querySelector("rect"), text: g.querySelector("text"),
          name: g.querySelector("title").textContent.split("\\n")[0],
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
        """
}
