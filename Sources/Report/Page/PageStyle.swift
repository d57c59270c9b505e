// How pages look: light and dark, wide and narrow, on a screen and on paper. Fixed text.

enum PageStyle {
    static let text = colours + ground + answers + lists + plots + paper

    private static let colours = """
        :root {
          color-scheme: light dark;
          --page: #fbfbfa; --card: #ffffff; --ink: #1d2328; --quiet: #5d6770; --rule: #dfe3e6; --grid: #d5dade;
          --good: #14713f; --good-back: #e0f2e7; --bad: #a32424; --bad-back: #fbe4e2; --link: #0a5ea8;
          --note-back: #fff6de; --note-rule: #e2c362; --bar: #c4511b; --open: #b3b9be;
          --s1: #0b6fb8; --s2: #c4511b; --s3: #12805c; --s4: #8b4fb0;
          --s5: #9a6b00; --s6: #c0336f; --s7: #3f6f7f; --s8: #6b6b6b;
        }
        @media (prefers-color-scheme: dark) {
          :root {
            --page: #14181c; --card: #1c2227; --ink: #e4e8eb; --quiet: #9aa5ae; --rule: #323a41; --grid: #39424a;
            --good: #7fd6a4; --good-back: #17382a; --bad: #ff9d94; --bad-back: #4a2020; --link: #7dbcf5;
            --note-back: #2e2917; --note-rule: #6f5f26; --bar: #e0793f; --open: #59636c;
            --s1: #6cb6ff; --s2: #ff9e64; --s3: #5fd3a4; --s4: #c9a0f0;
            --s5: #e3c04f; --s6: #ff8fb8; --s7: #8fd0de; --s8: #b5b5b5;
          }
        }

        """

    private static let ground = """
        * { box-sizing: border-box; }
        html { -webkit-text-size-adjust: 100%; }
        body { margin: 0 auto; max-width: 80rem; padding: 1rem 1.25rem; background: var(--page); color: var(--ink);
          font: 0.9375rem/1.45 system-ui, -apple-system, "Segoe UI", "Liberation Sans", sans-serif;
          overflow-wrap: anywhere; }
        [hidden] { display: none !important; }
        h1 { font-size: 1.75rem; line-height: 1.2; margin: 0 0 0.75rem; }
        h1 small { font-size: 0.875rem; font-weight: 600; color: var(--quiet); }
        h2 { font-size: 1.3rem; margin: 1.25rem 0 0.4rem; }
        h3 { font-size: 1rem; margin: 1rem 0 0.25rem; }
        p { margin: 0.25rem 0; max-width: 60rem; }
        a { color: var(--link); }
        .quiet { color: var(--quiet); font-size: 0.875rem; }
        .badge { font-size: 0.8125rem; font-weight: 600; padding: 0.1rem 0.5rem; border-radius: 1rem;
          vertical-align: middle; white-space: nowrap; }
        .badge { color: var(--quiet); background: var(--rule); }
        .badge.good { color: var(--good); background: var(--good-back); }
        .badge.bad { color: var(--bad); background: var(--bad-back); }
        footer { margin: 1.5rem 0; }

        """

    private static let answers = """
        .answers { list-style: none; margin: 0; padding: 0; display: grid; gap: 0.75rem;
          grid-template-columns: repeat(auto-fit, minmax(min(100%, 17rem), 1fr)); }
        .answer { background: var(--card); border: 1px solid var(--rule); border-left: 4px solid var(--open);
          border-radius: 0.4rem; padding: 0.5rem 0.75rem; }
        .answer.good { border-left-color: var(--good); }
        .answer.bad { border-left-color: var(--bad); }
        .answer h2 { font-size: 0.9375rem; margin: 0; }
        .answer .number { font-size: 1.6rem; font-weight: 700; line-height: 1.25; margin: 0;
          font-variant-numeric: tabular-nums; }
        .answer .number.long { font-size: 1.1rem; }
        .answer p { font-size: 0.8125rem; color: var(--quiet); margin: 0; }
        .answer .number { color: var(--ink); }
        .state { max-width: none; margin: 0.75rem 0 0; padding: 0.5rem 0.75rem; border: 1px solid var(--rule);
          border-radius: 0.5rem; background: var(--card); font-size: 0.875rem; }
        .state.noisy { background: var(--note-back); border-color: var(--note-rule); }

        """

    private static let lists = """
        .scroll { overflow-x: auto; margin: 0.5rem 0; }
        table { border-collapse: collapse; font-size: 0.875rem; font-variant-numeric: tabular-nums; }
        table.wide { width: 100%; background: var(--card); }
        th, td { text-align: left; padding: 0.25rem 0.75rem 0.25rem 0.25rem; border-bottom: 1px solid var(--rule);
          vertical-align: top; overflow-wrap: normal; }
        th { font-weight: 600; color: var(--quiet); }
        th.figure, td.figure { text-align: right; white-space: nowrap; }
        .by { min-width: 9rem; white-space: nowrap; }
        .by span { display: inline-block; height: 0.6rem; background: var(--bar); margin-right: 0.4rem; }
        .by.better span { background: var(--good); } .by.neither span { background: var(--open); }
        .plays td { white-space: nowrap; }
        .plays .good { color: var(--good); } .plays .bad { color: var(--bad); font-weight: 600; }
        .plays details { margin: 0; }
        .plays details p { white-space: normal; max-width: 40rem; }
        .machine td { overflow-wrap: anywhere; }
        .facts { margin: 0.5rem 0 0; padding-left: 1.1rem; font-size: 0.9375rem; }
        details { margin: 0.5rem 0 0; font-size: 0.9375rem; }
        pre { margin: 0.25rem 0 0.5rem; font-size: 0.75rem; overflow-x: auto; }
        summary { cursor: pointer; }
        .filter { display: flex; flex-wrap: wrap; gap: 0.5rem 1rem; align-items: center; }
        .filter input[type=search] { font: inherit; padding: 0.25rem 0.5rem; width: min(100%, 19rem); }
        .group h3 { margin: 0.75rem 0 0.1rem; }
        .scenario { margin: 0; border-bottom: 1px solid var(--rule); background: var(--card); }
        .scenario > summary { display: grid; gap: 0 0.75rem; padding: 0.25rem 0.5rem; align-items: baseline;
          grid-template-columns: 1rem 11rem minmax(0, 3fr) minmax(0, 2fr); }
        .scenario > summary > * { min-width: 0; }
        .scenario .mark { color: var(--good); } .scenario .mark.bad { color: var(--bad); font-weight: 700; }
        .scenario .asks { color: var(--quiet); font-size: 0.8125rem; }
        .scenario .gate { text-align: right; font-variant-numeric: tabular-nums; }
        .scenario .gate small { color: var(--quiet); }
        .scenario > summary:hover { background: var(--page); }
        .scenario[open] { padding-bottom: 0.75rem; }
        .scenario .inside { padding: 0 0.5rem; }
        @media (max-width: 44rem) {
          body { padding: 0.75rem; }
          h1 { font-size: 1.4rem; }
          .answers { grid-template-columns: repeat(auto-fit, minmax(min(100%, 10.5rem), 1fr)); gap: 0.5rem; }
          .answer { padding: 0.35rem 0.5rem; }
          .answer .number { font-size: 1.25rem; } .answer .number.long { font-size: 0.9375rem; }
          .answer p { font-size: 0.75rem; line-height: 1.3; }
          .scenario > summary { grid-template-columns: 1rem minmax(0, 1fr) minmax(0, 1fr); }
          .scenario .asks { display: none; }
        }

        """

    private static let plots = """
        .plots { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 22rem), 1fr)); gap: 1.25rem;
          margin: 0.75rem 0; }
        figure { margin: 0; min-width: 0; position: relative; }
        figcaption { font-weight: 600; font-size: 0.9375rem; }
        .plot { display: block; width: 100%; height: auto; touch-action: pan-y; cursor: crosshair; }
        .plot text { font-size: 12px; fill: var(--ink); user-select: none; }
        .plot .axis { fill: var(--quiet); }
        .ticks path { stroke: var(--grid); stroke-width: 1; }
        .area { overflow: visible; } .area.zoomed { overflow: hidden; }
        .area path { fill: none; vector-effect: non-scaling-stroke; stroke-width: 2; stroke-linejoin: round; }
        .area .points { stroke-width: 6; stroke-linecap: round; }
        .area .dashed { stroke-width: 1.3; stroke-dasharray: 6 4; }
        .cursor { stroke: var(--quiet); stroke-width: 1; pointer-events: none; }
        .frame { fill: var(--link); fill-opacity: 0.15; stroke: var(--link); pointer-events: none; }
        .frame:not([width]) { display: none; }
        .whole { position: absolute; right: 0.25rem; top: 0; font: inherit; font-size: 0.8125rem; }
        .tip { position: absolute; z-index: 1; pointer-events: none; background: var(--card); color: var(--ink);
          border: 1px solid var(--rule); border-radius: 0.4rem; padding: 0.3rem 0.5rem; font-size: 0.8125rem;
          box-shadow: 0 2px 8px #0003; max-width: 24rem; }
        .tip div { border-left: 3px solid currentColor; padding-left: 0.4rem; } .tip span { color: var(--ink); }
        .legend { list-style: none; margin: 0.25rem 0; padding: 0; display: flex; flex-wrap: wrap; gap: 0.1rem 1rem;
          font-size: 0.875rem; }
        .legend span { color: var(--ink); }
        .legend input { color: inherit; accent-color: currentColor; margin: 0 0.4rem 0 0; vertical-align: middle; }
        .p1 { stroke: var(--s1); } .p2 { stroke: var(--s2); } .p3 { stroke: var(--s3); } .p4 { stroke: var(--s4); }
        .p5 { stroke: var(--s5); } .p6 { stroke: var(--s6); } .p7 { stroke: var(--s7); } .p8 { stroke: var(--s8); }
        .c1 { color: var(--s1); } .c2 { color: var(--s2); } .c3 { color: var(--s3); } .c4 { color: var(--s4); }
        .c5 { color: var(--s5); } .c6 { color: var(--s6); } .c7 { color: var(--s7); } .c8 { color: var(--s8); }
        figure:has([value="1"]:not(:checked)) .p1, figure:has([value="2"]:not(:checked)) .p2,
        figure:has([value="3"]:not(:checked)) .p3, figure:has([value="4"]:not(:checked)) .p4,
        figure:has([value="5"]:not(:checked)) .p5, figure:has([value="6"]:not(:checked)) .p6,
        figure:has([value="7"]:not(:checked)) .p7, figure:has([value="8"]:not(:checked)) .p8 { display: none; }

        """

    private static let paper = """
        @media print {
          body { max-width: none; padding: 0; font-size: 10pt; }
          .answers { grid-template-columns: repeat(4, 1fr); gap: 0.4rem; }
          .answer, figure, tr, .scenario > summary { break-inside: avoid; }
          h2, h3 { break-after: avoid; }
          .filter, .tip, .whole { display: none; }
        }
        """
}
