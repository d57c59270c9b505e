// How report.html looks. Double braces are escaped by the template engine; triple ones are this module's own markup.

extension HTMLReport {
    static let title = "Tidegauge {{run}}"

    static let body = """
        <header>
        <h1>Tidegauge <span class="badge {{tone}}">{{verdict}}</span></h1>
        <p>{{trialCount}} of {{scenarioCount}} on {{drivers}}, profile {{profile}}</p>
        <p class="quiet">run {{run}}, commit {{commit}}</p>
        <nav>{{#since}}<a class="{{tone}}" href="#since">since {{name}}</a> {{/since}}{{#scenarios}}<a class="{{tone}}" href="#{{anchor}}">{{name}}</a> {{/scenarios}}{{#hasHangs}}<a href="#hangs">hangs</a> {{/hasHangs}}<a href="#problems">skipped and failed</a> <a href="#machine">machine and noise</a></nav>
        </header>
        <main>
        {{#since}}
        <section id="since">
        <h2>{{title}}</h2>
        {{#verdicts}}
        <p>{{.}}</p>
        {{/verdicts}}
        {{#hasRows}}
        <div class="scroll"><table>
        <tr>{{#words}}<th>{{.}}</th>{{/words}}{{#numbers}}<th class="figure">{{.}}</th>{{/numbers}}</tr>
        {{#rows}}
        <tr><td><span class="badge {{tone}}">{{verdict}}</span></td><td>{{what}}</td>{{#figures}}<td class="figure">{{.}}</td>{{/figures}}</tr>
        {{/rows}}
        </table></div>
        {{/hasRows}}
        </section>
        {{/since}}
        {{#scenarios}}
        <section id="{{anchor}}">
        <h2>{{name}}</h2>
        <p>{{purpose}}{{#hasRepresents}} <span class="quiet">({{represents}})</span>{{/hasRepresents}}</p>
        <div class="tiles">
        {{#tiles}}
        <div class="tile"><b>{{figure}}</b><span>{{driver}}</span><small>{{metric}}{{ends}}</small></div>
        {{/tiles}}
        </div>
        <div class="plots">
        {{#plots}}
        \(HTMLPage.figure)
        {{/plots}}
        </div>
        {{#sides}}
        {{#metric}}
        <h3>Engines side by side: {{metric}}</h3>
        <div class="scroll"><table>
        <tr><th>variant</th>{{#engines}}<th class="figure">{{.}}</th>{{/engines}}</tr>
        {{#lines}}
        <tr><td>{{variant}}</td>{{#cells}}<td class="figure">{{.}}</td>{{/cells}}</tr>
        {{/lines}}
        </table></div>
        {{/metric}}
        {{/sides}}
        {{#hasTable}}
        <div class="scroll"><table>
        <tr><th>driver</th><th>variant</th>{{#titles}}<th class="figure">{{.}}</th>{{/titles}}</tr>
        {{#rows}}
        <tr><td>{{driver}}</td><td>{{variant}}</td>{{#cells}}<td class="figure">{{.}}</td>{{/cells}}</tr>
        {{/rows}}
        </table></div>
        {{/hasTable}}
        <ul class="facts">
        {{#sweep}}
        <li><code>{{name}}</code> {{driver}} <b>{{value}}</b> <span class="quiet">{{place}}</span></li>
        {{/sweep}}
        {{#limits}}
        <li><span class="badge bad">limit {{verdict}}</span> {{text}}</li>
        {{/limits}}
        {{#notes}}
        <li><span class="badge bad">note</span> {{.}}</li>
        {{/notes}}
        </ul>
        {{#keptCount}}
        <details><summary>limits kept: {{keptCount}}</summary>
        <ul class="facts">{{#kept}}<li>{{.}}</li>{{/kept}}</ul>
        </details>
        {{/keptCount}}
        </section>
        {{/scenarios}}
        {{#hasHangs}}
        <section id="hangs">
        <h2>Hangs</h2>
        <p class="quiet">Who waited for whom, how soon it was seen, and the command that does it again. What was expected is a result; a warning hung nobody this time.</p>
        {{#hangs}}
        <details class="hang"><summary><span class="badge {{tone}}">{{kind}}{{#expected}}, expected{{/expected}}</span> {{place}} <span class="quiet">{{cycle}}{{#after}}, seen after {{after}} ms{{/after}}</span></summary>
        <p>{{sentence}}</p>
        {{#replay}}
        <p class="quiet"><code>{{replay}}</code></p>
        {{/replay}}
        {{#stands}}
        <h3>{{thread}}</h3>
        <ul class="facts">{{#holds}}<li>holds {{.}}</li>{{/holds}}{{#waits}}<li>waits for {{.}}</li>{{/waits}}</ul>
        {{#hasStack}}
        <pre>{{stack}}</pre>
        {{/hasStack}}
        {{/stands}}
        </details>
        {{/hangs}}
        </section>
        {{/hasHangs}}
        <section id="problems">
        <h2>Skipped and failed</h2>
        {{#problems}}
        {{#unfinished}}
        <p><span class="badge bad">not finished</span> The run has not come to its end: trials are missing, and limits may not have been judged.</p>
        {{/unfinished}}
        {{#none}}
        <p>Nothing was skipped, every trial completed, every limit was kept.</p>
        {{/none}}
        {{#hasLimits}}
        <h3>Limits</h3>
        <ul class="facts">{{#limits}}<li><span class="badge bad">{{verdict}}</span> {{text}}</li>{{/limits}}</ul>
        {{/hasLimits}}
        {{#hasVoided}}
        <h3>Trials that did not complete</h3>
        <ul class="facts">
        {{#voided}}
        <li><span class="badge bad">{{fate}}</span> {{place}}, seed {{seed}}{{#lines}}<br><span class="quiet">{{.}}</span>{{/lines}}</li>
        {{/voided}}
        </ul>
        {{/hasVoided}}
        {{#hasSkipped}}
        <h3>Skipped</h3>
        <ul class="facts">{{#skipped}}<li>{{place}}: {{reason}}</li>{{/skipped}}</ul>
        {{/hasSkipped}}
        {{/problems}}
        </section>
        <section id="machine">
        <h2>Machine and noise</h2>
        <div class="scroll"><table class="machine">
        {{#environment}}
        <tr><th>{{name}}</th><td>{{value}}</td></tr>
        {{/environment}}
        </table></div>
        </section>
        </main>
        <footer class="quiet">≥: the figure is a bound. ~: near what the harness itself costs. n/a: too few samples. Every figure is in metrics.csv; Reports/README.md says what each means.</footer>

        """

    static let style = """
        :root {
          color-scheme: light dark;
          --page: #fbfbfa; --card: #ffffff; --ink: #1d2328; --quiet: #5d6770; --rule: #dfe3e6; --grid: #b4bcc3;
          --good: #14713f; --good-back: #e0f2e7; --bad: #a32424; --bad-back: #fbe4e2; --link: #0a5ea8;
          --s1: #0b6fb8; --s2: #c4511b; --s3: #12805c; --s4: #8b4fb0;
          --s5: #9a6b00; --s6: #c0336f; --s7: #3f6f7f; --s8: #6b6b6b;
        }
        @media (prefers-color-scheme: dark) {
          :root {
            --page: #14181c; --card: #1c2227; --ink: #e4e8eb; --quiet: #9aa5ae; --rule: #323a41; --grid: #56616b;
            --good: #7fd6a4; --good-back: #17382a; --bad: #ff9d94; --bad-back: #4a2020; --link: #7dbcf5;
            --s1: #6cb6ff; --s2: #ff9e64; --s3: #5fd3a4; --s4: #c9a0f0;
            --s5: #e3c04f; --s6: #ff8fb8; --s7: #8fd0de; --s8: #b5b5b5;
          }
        }
        * { box-sizing: border-box; }
        html { -webkit-text-size-adjust: 100%; }
        body { margin: 0 auto; max-width: 76rem; padding: 1rem; background: var(--page); color: var(--ink);
          font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", "Liberation Sans", sans-serif; overflow-wrap: anywhere; }
        h1 { font-size: 1.6rem; margin: 0.5rem 0; }
        h2 { font-size: 1.25rem; margin: 0 0 0.25rem; }
        h3 { font-size: 1rem; margin: 1rem 0 0.25rem; }
        p { margin: 0.25rem 0; max-width: 46rem; }
        a { color: var(--link); }
        nav { display: flex; flex-wrap: wrap; gap: 0.25rem 1rem; margin: 0.75rem 0; }
        nav a { padding: 0.2rem 0; }
        nav a.bad::before { content: "! "; color: var(--bad); font-weight: bold; }
        section { background: var(--card); border: 1px solid var(--rule); border-radius: 0.5rem; padding: 1rem;
          margin: 1rem 0; }
        .quiet { color: var(--quiet); font-size: 0.875rem; }
        .badge { font-size: 0.8125rem; font-weight: 600; padding: 0.1rem 0.5rem; border-radius: 1rem;
          vertical-align: middle; }
        .badge { color: var(--quiet); background: var(--page); }
        .badge.good { color: var(--good); background: var(--good-back); }
        .badge.bad { color: var(--bad); background: var(--bad-back); }
        .tiles { display: flex; flex-wrap: wrap; gap: 0.75rem; margin: 0.75rem 0; }
        .tile { border: 1px solid var(--rule); border-radius: 0.5rem; padding: 0.5rem 0.75rem; }
        .tile b { display: block; font-size: 1.35rem; line-height: 1.3; font-variant-numeric: tabular-nums; }
        .tile span { display: block; }
        .tile small { color: var(--quiet); }
        .plots { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 22rem), 1fr)); gap: 1.25rem; }
        figure { margin: 0; min-width: 0; }
        figcaption { font-weight: 600; font-size: 0.9375rem; }
        figure svg { display: block; width: 100%; height: auto; }
        figure svg text { font-family: inherit; }
        .gridline { stroke: var(--grid); }
        .missing { border: 1px dashed var(--rule); border-radius: 0.5rem; padding: 1.5rem 1rem; color: var(--quiet); }
        .legend { list-style: none; margin: 0.25rem 0; padding: 0; display: flex; flex-wrap: wrap; gap: 0.1rem 1rem;
          font-size: 0.875rem; }
        .legend li::before { content: ""; display: inline-block; width: 1rem; height: 0.25rem; margin-right: 0.4rem;
          vertical-align: middle; border-radius: 2px; background: currentColor; }
        .legend span { color: var(--ink); }
        .scroll { overflow-x: auto; margin: 0.75rem 0; }
        table { border-collapse: collapse; font-size: 0.875rem; font-variant-numeric: tabular-nums; }
        th, td { text-align: left; padding: 0.25rem 0.75rem 0.25rem 0; border-bottom: 1px solid var(--rule);
          vertical-align: top; overflow-wrap: normal; }
        th { font-weight: 600; color: var(--quiet); }
        th.figure, td.figure { text-align: right; white-space: nowrap; }
        .machine td { overflow-wrap: anywhere; }
        .facts { margin: 0.5rem 0 0; padding-left: 1.1rem; font-size: 0.9375rem; }
        details { margin: 0.5rem 0 0; font-size: 0.9375rem; }
        pre { margin: 0.25rem 0 0.5rem; font-size: 0.75rem; overflow-x: auto; }
        summary { cursor: pointer; color: var(--quiet); }
        footer { margin: 1.5rem 0; }
        .p1 { stroke: var(--s1); } .p2 { stroke: var(--s2); } .p3 { stroke: var(--s3); } .p4 { stroke: var(--s4); }
        .p5 { stroke: var(--s5); } .p6 { stroke: var(--s6); } .p7 { stroke: var(--s7); } .p8 { stroke: var(--s8); }
        .c1 { color: var(--s1); } .c2 { color: var(--s2); } .c3 { color: var(--s3); } .c4 { color: var(--s4); }
        .c5 { color: var(--s5); } .c6 { color: var(--s6); } .c7 { color: var(--s7); } .c8 { color: var(--s8); }
        @media print { body { max-width: none; } section { break-inside: avoid; } }
        """
}
