#!/usr/bin/env python3
"""Uses pages of reports as a reader does, in a headless Chromium: hovers, zooms, filters and prints. Fails on the first
wrong result.

    page_test.py PAGE…                    uses each page
    page_test.py --pictures DIR PAGE      takes pictures of its first screen instead, light and dark, wide and narrow

Needs Chromium and nothing else: the browser is driven over the pipe that --remote-debugging-pipe opens
(https://chromedevtools.github.io/devtools-protocol/).
"""
import base64
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

WIDE = (1280, 900)
NARROW = (390, 844)
MOST_PRINTED_PAGES = 12

# Ratios between two engines: `5.0× slower at p50 (4.1 … 6.2), 3.0× more CPU (2.0 … 4.0), 95 % interval over 7 pairs`,
# `range over` fewer than six pairs, or of one pair alone: `5.0× slower at p50, 3.0× more CPU (1 pair, no interval)`. Ratios
# of different numbers of pairs state it each.
RATIO = r"[\d.,]+× (?:(?:faster|slower) at p50|(?:less|more) CPU|(?:fewer|more) [a-z ]+)"
RANGED = RATIO + r" \([\d.,]+ … [\d.,]+\)"
SINGLE = rf"{RATIO}(, {RATIO})* \(1 pair, no interval\)"
SEVERAL = rf"{RANGED}(, {RANGED})*, (range over [2-5]|95 % interval over ([6-9]|\d\d+)) pairs"
RATIOS = re.compile(rf"({SINGLE}|{SEVERAL})(; ({SINGLE}|{SEVERAL}))*")


class Browser:
    """A Chromium with one tab."""

    def __init__(self):
        program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
        if program is None:
            sys.exit("page_test: there is no Chromium on the PATH; install it (Debian: apt-get install chromium)")
        self.profile = tempfile.mkdtemp(prefix="tidegauge-page-")
        ours_in, theirs_out = os.pipe()
        theirs_in, ours_out = os.pipe()

        def descriptors():
            # The ends must be descriptors 3 and 4. Copies keep the first dup2 from overwriting a source.
            spare_in, spare_out = os.dup(theirs_in), os.dup(theirs_out)
            os.dup2(spare_in, 3)
            os.dup2(spare_out, 4)

        self.process = subprocess.Popen(
            [program, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
             "--no-first-run", f"--user-data-dir={self.profile}", "--remote-debugging-pipe", "about:blank"],
            preexec_fn=descriptors, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(theirs_in)
        os.close(theirs_out)
        self.input, self.output = os.fdopen(ours_in, "rb"), os.fdopen(ours_out, "wb")
        self.last, self.session, self.events, self.reports = 0, None, [], []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.call(f"{domain}.enable")

    def close(self):
        self.session = None
        try:
            self.call("Browser.close")
            self.process.wait(timeout=10)
        except (OSError, EOFError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.profile, ignore_errors=True)

    def call(self, method, **parameters):
        self.last += 1
        message = {"id": self.last, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        self.output.write(json.dumps(message).encode() + b"\0")
        self.output.flush()
        while True:
            answer = self.receive()
            if answer.get("id") == self.last:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]

    def receive(self):
        text = bytearray()
        while (byte := self.input.read(1)) != b"\0":
            if byte == b"":
                raise EOFError("the browser has ended")
            text += byte
        message = json.loads(text)
        if "method" in message:
            self.events.append(message)
            self.reports.append(message)
        return message

    def wait(self, method):
        while not any(event["method"] == method for event in self.events):
            self.receive()

    def size(self, size, dark=False):
        self.call("Emulation.setDeviceMetricsOverride", width=size[0], height=size[1], deviceScaleFactor=1,
                  mobile=False)
        self.call("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def open(self, path):
        self.events.clear()
        self.call("Page.navigate", url=pathlib.Path(path).resolve().as_uri())
        self.wait("Page.loadEventFired")

    def ask(self, expression):
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{expression}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def mouse(self, kind, x, y, clicks=1):
        button = "none" if kind == "mouseMoved" else "left"
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button=button, clickCount=clicks,
                  buttons=1 if kind == "mousePressed" else 0)

    def drag(self, start, end):
        self.mouse("mouseMoved", *start)
        self.mouse("mousePressed", *start)
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=end[0], y=end[1], button="left", buttons=1)
        self.mouse("mouseReleased", *end)

    def double_click(self, x, y):
        for clicks in (1, 2):
            self.mouse("mousePressed", x, y, clicks)
            self.mouse("mouseReleased", x, y, clicks)

    def key(self, name):
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=name)

    def errors(self):
        """Returns errors that the console has shown since `reports` was cleared, and uncaught exceptions."""
        found = []
        for event in self.reports:
            parameters = event["params"]
            if event["method"] == "Runtime.exceptionThrown":
                found.append(parameters["exceptionDetails"].get("exception", {}).get("description", "an exception"))
            elif event["method"] == "Log.entryAdded" and parameters["entry"]["level"] == "error":
                found.append(parameters["entry"]["text"])
            elif event["method"] == "Runtime.consoleAPICalled" and parameters["type"] == "error":
                found.append(str(parameters["args"]))
        return found


class PageTest:
    """A test of one page."""

    def __init__(self, browser, path):
        self.browser, self.path, self.done = browser, path, []

    def check(self, holds, what):
        if not holds:
            sys.exit(f"page_test: {self.path}: not so: {what}")
        self.done.append(what)

    def run(self):
        self.browser.reports.clear()
        for size in (WIDE, NARROW):
            self.browser.size(size)
            self.browser.open(self.path)
            self.check(self.browser.ask("document.documentElement.scrollWidth <= innerWidth"),
                       f"{size}: nothing is wider than the page")
            self.changes(size)
            if not self.is_comparison():
                self.first_screen(size)
        self.browser.size(WIDE)
        self.browser.open(self.path)
        if self.is_comparison():
            self.comparison()
        else:
            self.run_page()
        errors = self.browser.errors()
        self.check(not errors, f"the console has no errors {errors}")
        print(f"{self.path}: {len(self.done)} checks hold")

    def run_page(self):
        self.links()
        self.figures()
        self.addresses()
        self.interleaving_tests()
        self.engines()
        self.counted()
        self.filter()
        self.plots()
        self.paper()
        self.without_script()

    def is_comparison(self):
        return self.browser.ask("document.title.startsWith('Tidegauge compare')")

    def changes(self, size):
        """Checks that columns of changes are in view."""
        hidden = self.browser.ask(
            "(() => { for (const fold of document.querySelectorAll('details')) fold.open = true;"
            "return [...document.querySelectorAll('th')].filter(e => e.textContent === 'change'"
            "|| e.textContent === 'by' && e.closest('.changes')).map(e => e.getBoundingClientRect())"
            ".filter(b => b.width === 0 || b.right > innerWidth).map(b => b.right) })()")
        self.check(hidden == [], f"{size}: changes are in view {hidden}")
        self.browser.open(self.path)

    def comparison(self):
        ask = self.browser.ask
        titles = ask("[...document.querySelectorAll('th')].filter(e => e.offsetParent).map(e => e.textContent)")
        self.check({"verdict", "what", "base", "head", "change"} <= set(titles), f"tables have both sides {titles}")
        footer = ask("document.querySelector('footer').textContent")
        self.check(("detectable" in footer) == ("detectable" in titles), "the footer explains only words of the page")

    def first_screen(self, size):
        ask = self.browser.ask
        tall = ask("[...document.querySelectorAll('.answer h2 small')].filter(e => e.getBoundingClientRect().height > 24)"
                   ".map(e => e.parentElement.textContent)")
        self.check(tall == [], f"{size}: the better direction stands on one line {tall}")
        answers = ask("document.querySelectorAll('.answer').length")
        self.check(answers == 8, f"{size}: eight answers")
        bottom = ask("Math.max(...[...document.querySelectorAll('.answer')].map(e => e.getBoundingClientRect().bottom))")
        first = ask("document.querySelector('main > :first-child').className")
        # On a page of two runs, the changes come first.
        self.check(bottom <= size[1] or first != "answers", f"{size}: the answers end on the first screen, at {bottom}")

    def links(self):
        ask = self.browser.ask
        broken = ask("[...document.querySelectorAll('a[href^=\"#\"]')].map(a => a.hash.slice(1))"
                     ".filter(id => !document.getElementById(id))")
        self.check(broken == [], f"every link leads somewhere {broken}")
        target = ask("(() => { const d = document.querySelector('.scenario'), i = d.querySelector('.inside');"
                     "location.hash = i.id; return i.id })()")
        # The event that opens it comes after this turn of the browser's event loop.
        self.browser.call("Runtime.evaluate", awaitPromise=True,
                          expression="new Promise(done => setTimeout(done, 0))")
        self.check(ask(f"document.getElementById('{target}').closest('details').open"), "a link opens what it leads to")

    def figures(self):
        """Checks the titles and figures of tiles and tables."""
        ask = self.browser.ask
        if ask("document.querySelector('main > :first-child').className") == "answers":
            self.check(ask("document.querySelector('.lead').textContent.trim().length") > 40, "a sentence says what was measured")
            tiles = ask("[...document.querySelectorAll('.answer')].map(e => [e.querySelector('h2').textContent,"
                        "e.querySelector('.number').textContent])")
            directions = [title for title, _ in tiles if title.endswith("lower is better") or title.endswith("higher is better")]
            self.check(len(directions) == 7, f"seven tiles say which direction is better {directions}")
            bare = [title for title, number in tiles[:4] if number != "–" and not any(c.isalpha() or c in "×%" for c in number)
                    and not self.is_counted()]
            self.check(bare == [], f"measured tiles have a unit {bare}")
        titles = ask("[...document.querySelectorAll('th.figure a[href^=\"#metric-\"]')].map(a => [a.textContent,"
                     "document.getElementById(a.hash.slice(1)).textContent])")
        self.check(len(titles) > 0, "titles of tables lead to definitions")
        undirected = [title for title, term in titles if "better" in term and "↓" not in title and "↑" not in title]
        self.check(undirected == [], f"titles say which direction is better {undirected}")
        units = [term for _, term in titles if len(term.split(" ", 1)) < 2]
        self.check(units == [], f"terms of definitions have words after the name {units}")
        spreads = ask("[...document.querySelectorAll('.scenario td.figure small')].map(e => e.textContent).filter(Boolean)")
        self.check(all(", n " in spread for spread in spreads), f"small figures are spread and number of trials {spreads[:2]}")
        gates = ask("[...document.querySelectorAll('.scenario')].map(e => [e.querySelector('.gate small')?.textContent.split(/[ \\u00a0]/)[0],"
                    "e.querySelector('th.figure a')?.hash, [...e.querySelectorAll('.facts code')].map(c => c.textContent.split(' ')[0])])"
                    ".filter(([gate, hash, sweep]) => gate && hash && !sweep.includes(gate)).map(([gate, hash]) => [gate, hash])")
        # `gates` lacks gates over the sweep, such as the sustainable rate, which have no figure at a point.
        self.check(len(gates) > 0, "scenarios show their gate")
        late = [gate for gate, column in gates if column != "#metric-" + re.sub("[^a-z0-9]", "-", gate)]
        self.check(late == [], f"the gate is the first column of a scenario's table {late}")

    def is_counted(self):
        return self.browser.ask("(document.querySelector('.lead') || document.body).textContent.startsWith('Counted by')")

    def addresses(self):
        """Checks that addresses of scenarios begin like their names, and that a tile leads to the scenario it names."""
        ask = self.browser.ask
        wrong = ask("[...document.querySelectorAll('.scenario')].map(e => [e.querySelector('b').textContent,"
                    "e.querySelector('.inside').id]).filter(([name, id]) => { const own = name.toLowerCase()"
                    ".replace(/[^a-z0-9]/g, '-'); return id !== own && !id.startsWith(own.slice(0, 20)) })")
        self.check(wrong == [], f"addresses begin like the names of scenarios {wrong}")
        link = ask("(() => { const a = [...document.querySelectorAll('.answer a')].find(a =>"
                   "document.getElementById(a.hash.slice(1))?.matches('.inside')); if (!a) return null;"
                   "a.click(); return [a.textContent, a.hash.slice(1)] })()")
        if link is None:
            return
        self.browser.call("Runtime.evaluate", awaitPromise=True,
                          expression="new Promise(done => requestAnimationFrame(() => setTimeout(done, 0)))")
        place = ask(f"(() => {{ const d = document.getElementById({json.dumps(link[1])}).closest('details');"
                    "return [d.open, d.querySelector('b').textContent, d.querySelector('summary').getBoundingClientRect().top] })()")
        self.check(place[0] and place[1] == link[0], f"a tile leads to the scenario that it names {link} {place}")
        self.check(0 <= place[2] < WIDE[1], f"the scenario's title is in view, at {place[2]}")

    def interleaving_tests(self):
        ask = self.browser.ask
        if not ask("!!document.getElementById('plays')"):
            return
        bad = ask("document.querySelectorAll('#plays tr[data-tone=bad]').length")
        is_open = ask("document.querySelector('#plays > details').open")
        self.check(is_open == (bad > 0), f"interleaving tests are folded unless one is broken ({bad} are)")
        self.check(ask("/\\d+ of \\d+/.test(document.querySelector('#plays summary').textContent)"),
                   "the folded line says how many completed")

    def engines(self):
        ask = self.browser.ask
        if not ask("!!document.querySelector('table.engines')"):
            return
        head = ask("[...document.querySelector('table.engines tr').cells].map(e => e.textContent)")
        self.check(head[0] == "engine" and "wrong ↓" in head and head[-1].startswith("against "), f"engines have a table {head}")
        rows = ask("[...document.querySelectorAll('table.engines tr')].filter(r => r.cells.length > 1 && r.querySelector('td'))"
                   ".map(r => [r.cells[0].textContent,"
                   "r.querySelectorAll('.by span').length, r.cells[r.cells.length - 1].textContent])")
        self.check(len({row[0] for row in rows}) > 1, "several engines have rows")
        self.check(any(row[1] for row in rows), "a row has a bar")
        first = head[-1].removeprefix("against ")
        ratios = [row[2] for row in rows if row[0] != first]
        overall = ask("[...document.querySelectorAll('.overall li')].map(e => e.textContent)")
        self.check(len(overall) > 0, "the ratios over all points are above the table")
        texts = [ratio for ratio in ratios if ratio] + [line.split(": ", 1)[1] for line in overall]
        bad = [text for text in texts if not RATIOS.fullmatch(text)]
        self.check(texts and not bad, f"ratios of several pairs have an interval, and those of one pair say that there is none {bad[:2]}")
        standings = ask("[...document.querySelectorAll('.standing')].map(e => e.textContent)")
        self.check(standings and all("× " in line and " than " in line for line in standings),
                   f"the first screen says which engine is faster {standings}")
        best = ask("[...document.querySelectorAll('table.engines')].every(t => t.querySelector('td.best'))")
        self.check(best, "each table of engines marks a best figure")

    def counted(self):
        if not self.is_counted():
            return
        tiles = dict(self.browser.ask("[...document.querySelectorAll('.answer')].map(e =>"
                                      "[e.querySelector('h2').firstChild.textContent.trim(), e.textContent])"))
        for title in ("How fast?", "Upkeep?"):
            self.check("instructions per commit" in tiles[title], f"{title}: a counted run shows instructions per commit")

    def filter(self):
        ask = self.browser.ask
        shown = "[...document.querySelectorAll('.scenario')].filter(e => e.offsetParent).length"
        before = ask(shown)
        self.check(ask("!document.querySelector('.filter').hidden"), "the filter is there")
        ask("document.querySelector('.filter input').focus()")
        self.browser.call("Input.insertText", text="no such words anywhere")
        self.check(ask(shown) == 0 and before > 0, f"a filter hides all of {before} scenarios")
        ask("document.querySelector('.filter input').select()")
        name = ask("document.querySelector('.scenario b').textContent")
        self.browser.call("Input.insertText", text=name)
        self.check(1 <= ask(shown) <= before, "a filter by a name shows a scenario")
        ask("(() => { const i = document.querySelector('.filter input'); i.value = '';"
            "i.dispatchEvent(new Event('input', { bubbles: true })) })()")
        self.check(ask(shown) == before, "without words everything is there again")
        broken = ask("document.querySelectorAll('.scenario[data-tone=bad]').length")
        box = "document.querySelectorAll('.filter input')[1].click()"
        ask(box)
        self.check(ask(shown) == broken, "as many are shown as are broken")
        ask(box)

    def plots(self):
        ask = self.browser.ask
        count = ask("document.querySelectorAll('svg.plot').length")
        self.check(count > 0, "there are pictures")
        # The plot with the most curves in its legend is tested.
        found = ask("(() => { const all = [...document.querySelectorAll('svg.plot')];"
                    "const rank = s => s.closest('figure').querySelectorAll('.legend input').length;"
                    "const best = all.reduce((a, b) => rank(b) > rank(a) ? b : a); best.id = 'under-test';"
                    "best.closest('details').open = true; best.scrollIntoView({ block: 'center' }); return rank(best) })()")
        box = ask("(() => { const b = document.querySelector('#under-test .area').getBoundingClientRect();"
                  "return [b.left, b.top, b.width, b.height] })()")
        at = lambda x, y: (box[0] + x * box[2], box[1] + y * box[3])
        tip = "document.querySelector('.tip')"
        self.browser.mouse("mouseMoved", *at(0.5, 0.5))
        rows = ask(f"{tip}.hidden ? 0 : {tip}.querySelectorAll('div').length")
        self.check(rows > 0, "the pointer shows values")
        self.check(ask(f"/\\d/.test({tip}.querySelector('div').textContent)"), "a value is a number")
        inside = ask(f"(() => {{ const b = {tip}.getBoundingClientRect(); return b.left >= 0 && b.right <= innerWidth }})()")
        self.check(inside, "values stand within the page")
        ticks = "document.querySelector('#under-test .ticks').textContent"
        view = "document.querySelector('#under-test .area').getAttribute('viewBox')"
        (whole, marks) = (ask(view), ask(ticks))
        self.browser.drag(at(0.2, 0.1), at(0.7, 0.8))
        self.check(ask(view) != whole, "a frame zooms")
        self.check(ask(ticks) != marks and ask(ticks) != "", "the axis says where it zoomed to")
        self.browser.double_click(*at(0.5, 0.5))
        self.check(ask(view) == whole, "a double click shows the whole")
        ask("document.querySelector('#under-test').focus()")
        self.browser.key("ArrowRight")
        self.check(not ask(f"{tip}.hidden"), "arrow keys show values")
        self.browser.key("+")
        self.check(ask(view) != whole, "a key zooms")
        self.browser.key("Escape")
        self.check(ask(view) == whole and ask(f"{tip}.hidden"), "Escape shows the whole, and no values")
        if found:
            legend = "document.querySelector('#under-test').closest('figure').querySelector('.legend input')"
            slot = ask(f"{legend}.value")
            drawn = f"getComputedStyle(document.querySelector('#under-test .p{slot}')).display"
            ask(f"{legend}.click()")
            self.check(ask(drawn) == "none", "a curve can be hidden")
            self.browser.mouse("mouseMoved", *at(0.4, 0.5))
            left = ask(f"{tip}.hidden ? 0 : {tip}.querySelectorAll('div').length")
            self.check(left < rows or found > rows, "a hidden curve has no value")
            ask(f"{legend}.click()")
            self.check(ask(drawn) != "none", "a hidden curve can be shown again")

    def paper(self):
        self.browser.open(self.path)
        pdf = base64.b64decode(self.browser.call("Page.printToPDF", preferCSSPageSize=True)["data"])
        pages = pdf.count(b"/Type /Page\n") or pdf.count(b"/Type /Page ") or pdf.count(b"/Type /Page/")
        self.check(0 < pages <= MOST_PRINTED_PAGES, f"it is printed on {pages} pages")

    def without_script(self):
        self.browser.call("Emulation.setScriptExecutionDisabled", value=True)
        self.browser.open(self.path)
        ask = self.browser.ask
        self.check(ask("document.querySelectorAll('.answer .number').length") == 8, "without script the answers are there")
        self.check(ask("document.querySelector('.filter').hidden"), "without script there is no filter that does nothing")
        self.check(ask("document.querySelectorAll('.plot .area path').length") > 0, "without script curves are drawn")
        self.browser.call("Emulation.setScriptExecutionDisabled", value=False)


def pictures(browser, folder, page):
    for name, size, dark in (("wide", WIDE, False), ("narrow", NARROW, False), ("wide-dark", WIDE, True),
                             ("narrow-dark", NARROW, True)):
        browser.size(size, dark)
        browser.open(page)
        png = browser.call("Page.captureScreenshot", format="png")["data"]
        pathlib.Path(folder, f"report-{name}.png").write_bytes(base64.b64decode(png))


def main(arguments):
    browser = Browser()
    try:
        if arguments[:1] == ["--pictures"]:
            pictures(browser, arguments[1], arguments[2])
        for page in [] if arguments[:1] == ["--pictures"] else arguments:
            PageTest(browser, page).run()
    finally:
        browser.close()


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(sys.argv[1:])
