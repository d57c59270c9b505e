#!/usr/bin/env python3
"""Runs Tools/sticky-comment.sh against an API that behaves as GitHub's does for comments, on this machine, and looks at what it
leaves there. Needs bash, curl and jq.

    sticky_comment_test.py SCRIPT
"""
import http.server
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import urllib.parse

TOKEN = "t0ken"


class GitHub(http.server.BaseHTTPRequestHandler):
    """Comments of one pull request, oldest first, in pages. `refusal`: a method, and the status that refuses it."""

    comments = []
    refusal = None

    def answer(self, status, value):
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def handle_call(self, method):
        data = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        url = urllib.parse.urlparse(self.path)
        query = urllib.parse.parse_qs(url.query)
        assert self.headers["Authorization"] == f"Bearer {TOKEN}", self.headers["Authorization"]
        if GitHub.refusal and method == GitHub.refusal[0]:
            return self.answer(GitHub.refusal[1], {"message": "not for you"})
        if method == "GET" and url.path == "/repos/o/r/issues/7/comments":
            size, page = int(query["per_page"][0]), int(query["page"][0])
            assert size <= 100
            return self.answer(200, GitHub.comments[(page - 1) * size : page * size])
        if method == "POST" and url.path == "/repos/o/r/issues/7/comments":
            comment = {"id": 1000 + len(GitHub.comments), "body": json.loads(data)["body"]}
            assert len(comment["body"]) <= 65536
            GitHub.comments.append(comment)
            return self.answer(201, comment)
        if method == "PATCH" and (place := re.fullmatch(r"/repos/o/r/issues/comments/(\d+)", url.path)):
            comment = next(comment for comment in GitHub.comments if comment["id"] == int(place[1]))
            comment["body"] = json.loads(data)["body"]
            return self.answer(200, comment)
        return self.answer(404, {"message": "Not Found"})

    def do_GET(self):
        self.handle_call("GET")

    def do_POST(self):
        self.handle_call("POST")

    def do_PATCH(self):
        self.handle_call("PATCH")

    def log_message(self, *words):
        pass


def main():
    script = sys.argv[1]
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), GitHub)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    environment = dict(
        os.environ,
        GITHUB_TOKEN=TOKEN,
        GITHUB_REPOSITORY="o/r",
        GITHUB_API_URL=f"http://127.0.0.1:{server.server_port}",
        no_proxy="127.0.0.1",
    )

    def say(text, *name):
        with tempfile.NamedTemporaryFile("w", suffix=".md", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            command = ["bash", script, "7", file.name, *name]
            return subprocess.run(command, env=environment, capture_output=True, text=True)

    def bodies(word):
        return [comment["body"] for comment in GitHub.comments if word in comment["body"]]

    # The first run makes a comment, and the second one updates it.
    assert say("verdict: one `x` \"q\" é\n").returncode == 0
    assert len(GitHub.comments) == 1, GitHub.comments
    marker, text = GitHub.comments[0]["body"].split("\n", 1)
    assert text == "verdict: one `x` \"q\" é\n" and re.fullmatch("<!-- .* -->", marker), (marker, text)
    assert say("verdict: two\n").returncode == 0
    assert bodies("verdict") == [f"{marker}\nverdict: two\n"], bodies("verdict")

    # The comment follows 230 other comments, some of which quote it.
    quotes = [{"id": index, "body": f"> {marker}\n> verdict: two" if index % 50 == 0 else "+1"} for index in range(230)]
    GitHub.comments[:0] = quotes
    assert say("verdict: three\n").returncode == 0
    assert len(GitHub.comments) == 231 and bodies("three") == [f"{marker}\nverdict: three\n"], bodies("three")

    # Another name gets another comment.
    assert say("other\n", "nightly").returncode == 0 and say("other again\n", "nightly").returncode == 0
    assert len(GitHub.comments) == 232 and len(bodies("other again")) == 1

    # A text that is too long is cut.
    assert say("x" * 70_000).returncode == 0
    assert len(bodies("xxx")) == 1 and len(bodies("cut:")) == 1

    # A missing permission is reported without an error. Another refusal is an error.
    for method in ["GET", "PATCH"]:
        GitHub.refusal = (method, 403)
        ran = say("four\n")
        assert ran.returncode == 0 and ran.stdout.startswith("::warning "), ran
    GitHub.refusal = ("PATCH", 422)
    ran = say("four\n")
    assert ran.returncode == 1 and "422: not for you" in ran.stderr, ran
    print("one comment, whatever stands around it")


if __name__ == "__main__":
    main()
