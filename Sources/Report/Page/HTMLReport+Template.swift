// How report.html is built up. Double braces are escaped by the template engine; triple ones are this module's own markup.

extension HTMLReport {
    static let title = "Tidegauge {{run}}"

    static let body = header + firstScreen + engineTable + choreographyTable + scenarioList + rest

    private static let header = """
        <header>
        <h1>Tidegauge · {{subject}} <small>{{commit}} · {{profile}} · {{trials}} · {{machine}}</small> <span class="badge {{tone}}">{{verdict}}</span></h1>
        </header>
        <main>

        """

    /// The eight answers; a template that other pages use too.
    static let answerList = """
        <ul class="answers">
        {{#answers}}
        <li class="answer {{tone}}"><h2>{{question}}</h2><p class="number {{size}}">{{number}}</p><p>{{meaning}}{{#links}} · <a href="#{{to}}">{{name}}</a>{{/links}}</p></li>
        {{/answers}}
        </ul>

        """

    private static let firstScreen =
        answerList + """
            {{#state}}
            <p class="state {{tone}}"><b>Machine:</b> {{text}} <b>{{limits}}</b> <a href="#machine">more</a></p>
            {{/state}}
            <section id="findings">
            {{#hasFindings}}
            <h2>{{findingsTitle}}</h2>
            <div class="scroll"><table class="wide">
            <tr><th></th><th>scenario</th><th>figure</th><th class="figure">here</th><th class="figure">limit or last time</th><th>by</th></tr>
            {{#findings}}
            <tr><td><span class="badge {{tone}}">{{kind}}</span></td><td><a href="#{{to}}">{{scenario}}</a></td><td>{{what}}{{#remarks}}<br><span class="quiet">{{.}}</span>{{/remarks}}</td><td class="figure">{{here}}</td><td class="figure">{{bound}}</td><td class="by">{{#bars}}<span style="width:{{width}}rem"></span>{{text}}{{/bars}}</td></tr>
            {{/findings}}
            </table></div>
            {{/hasFindings}}
            {{^hasFindings}}
            <h2>Nothing broken, nothing slower</h2>
            {{/hasFindings}}
            {{#openTitles}}
            <details><summary>{{.}}</summary>
            <ul class="facts">{{#openFindings}}<li><a href="#{{to}}">{{scenario}}</a> {{what}} {{here}} <span class="quiet">{{#remarks}}{{.}}{{/remarks}}</span></li>{{/openFindings}}</ul>
            </details>
            {{/openTitles}}
            </section>
            {{#since}}
            <section id="since">
            <h2>{{title}}</h2>
            {{#verdicts}}
            <p>{{.}}</p>
            {{/verdicts}}
            </section>
            {{/since}}

            """

    private static let engineTable = """
        {{#engines}}
        <section>
        <h2>Engines side by side: {{scenario}}</h2>
        <ul class="facts">
        {{#lines}}
        <li>{{.}}</li>
        {{/lines}}
        </ul>
        <p class="quiet">{{note}}</p>
        </section>
        {{/engines}}

        """

    private static let choreographyTable = """
        {{#plays}}
        <section id="plays">
        <h2>{{count}} choreographies</h2>
        <p>{{summary}}.</p>
        <div class="scroll"><table class="wide plays">
        <tr><th>choreography</th>{{#engines}}<th>{{.}}</th>{{/engines}}<th>known-bad control</th></tr>
        {{#rows}}
        <tr data-words="{{words}}" data-tone="{{tone}}"><td><details><summary>{{name}}</summary><div id="{{anchor}}"><p>{{purpose}} <span class="quiet">{{represents}}</span></p><ul class="facts">{{#judged}}<li>{{.}}</li>{{/judged}}</ul></div></details></td>{{#outcomes}}<td class="{{tone}}">{{text}}</td>{{/outcomes}}<td>{{#controls}}<span class="{{tone}}">{{text}}</span> <span class="quiet">{{driver}}</span> {{/controls}}</td></tr>
        {{/rows}}
        </table></div>
        </section>
        {{/plays}}

        """

    /// Groups of scenarios behind their filter; a template that other pages use too.
    static let scenarioList = """
        <section id="scenarios">
        <h2>{{scenarioCount}} scenarios</h2>
        <p class="filter" hidden><input type="search" placeholder="filter: name, metric, driver…" aria-label="filter scenarios"> <label><input type="checkbox"> only broken</label> <label><input type="checkbox"> hide self-tests of the harness</label> <output></output></p>
        {{#groups}}
        <div class="group">
        <h3>{{group}} <span class="quiet">{{count}}</span></h3>
        {{#scenarios}}
        <details class="scenario" data-words="{{words}}" data-tone="{{tone}}" data-about="{{about}}">
        <summary><span class="mark {{tone}}">{{mark}}</span><b>{{name}}</b><span class="asks">{{purpose}}</span><span class="gate">{{#gates}}{{figure}} <small>{{metric}}{{more}}</small>{{/gates}}</span></summary>
        <div class="inside" id="{{anchor}}">
        <p>{{purpose}}{{#hasRepresents}} <span class="quiet">({{represents}})</span>{{/hasRepresents}}</p>
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
        <li><span class="badge {{tone}}">limit {{verdict}}</span> {{text}}</li>
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
        </div>
        </details>
        {{/scenarios}}
        </div>
        {{/groups}}
        </section>

        """

    /// The machine of a run, folded; a template that other pages use too.
    static let machineFold = """
        <details><summary id="machine">Machine and noise</summary>
        <div class="scroll"><table class="machine">
        {{#environment}}
        <tr><th>{{name}}</th><td>{{value}}</td></tr>
        {{/environment}}
        </table></div>
        </details>

        """

    private static let rest =
        """
        <h2>More</h2>
        {{#hasHangs}}
        <details id="hangs"{{#hangsOpen}} open{{/hangsOpen}}><summary>Hangs: {{hangTitle}}</summary>
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
        </details>
        {{/hasHangs}}
        {{#problems}}
        <details id="problems"{{#unfinished}} open{{/unfinished}}><summary>Integrity: skipped and failed</summary>
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
        </details>
        {{/problems}}

        """ + machineFold + """
            </main>
            <footer class="quiet">≥: the figure is a bound. ~: near what the harness itself costs. n/a: too few samples. Drawing a frame within a picture zooms, a double click or Escape shows the whole, arrow keys go from point to point. Every figure is in metrics.csv; Reports/README.md says what each means.</footer>

            """
}
