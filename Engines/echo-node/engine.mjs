// Echo in JavaScript: keeps no rows and answers at once. A run on it shows the cost of an engine in a process of its
// own for Node. `engine.mjs N` delivers lists of N indices, but no lists in the initial delivery.
const indices = Array.from({ length: Number(process.argv[2] ?? 0) }, (_, index) => index);
const facts = { durabilities: ["memory", "relaxed", "full"], contents: false, shows: "none" };
let subs = [];
let version = 1;

// Nanoseconds of CLOCK_MONOTONIC. A number is exact up to an uptime of 104 days.
const now = () => Number(process.hrtime.bigint());
const send = (message) => process.stdout.write(JSON.stringify(message) + "\n");

function deliver(sub, initial) {
  const lists = initial ? {} : { modifications: indices };
  send({ event: "delivery", sub, at: now(), version, initial, count: 0, ...lists });
}

function answer(request) {
  const begun = now();
  const { id, op, sub } = request;
  if (op === "hello") {
    send({ re: id, name: "echo-node", engineVersion: "1", runtime: `Node ${process.version}`, facts });
  } else if (op === "commit") {
    version += 1;
    send({ re: id, version, begun, done: now() });
    for (const sub of subs) deliver(sub, false);
  } else {
    if (op === "cancel") subs = subs.filter((other) => other !== sub);
    send({ re: id });
    if (op === "subscribe") {
      subs.push(sub);
      deliver(sub, true);
    }
    // The process ends by itself once its output is written.
    if (op === "close") process.stdin.destroy();
  }
}

let rest = "";
process.stdin.setEncoding("utf8");
process.stdin.on("data", (text) => {
  const lines = (rest + text).split("\n");
  rest = lines.pop();
  for (const line of lines) answer(JSON.parse(line));
});
