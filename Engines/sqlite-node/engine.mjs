// SQLite by `node:sqlite` (Node 24). After commits and subscriptions, every observed query is fetched again once the
// requests read so far are answered. A query whose rows are the same is not delivered.
import { DatabaseSync } from "node:sqlite";
import { join } from "node:path";

const facts = {
  durabilities: ["memory", "relaxed", "full"],
  persists: true,
  shows: "keys",
  advancesTogether: true,
  remarks: ["fetches every observed query again after commits, on the thread that commits", "'memory' is a WAL file on tmpfs"],
};
const synchronous = { memory: "OFF", relaxed: "NORMAL", full: "FULL" };
const schema = `
  CREATE TABLE item (key INTEGER PRIMARY KEY, "group" INTEGER, score INTEGER, stamp INTEGER);
  CREATE INDEX item_score ON item (score);
  CREATE INDEX item_group ON item ("group");
  CREATE TABLE clock (version INTEGER);
  INSERT INTO clock VALUES (1);`;

// Nanoseconds of CLOCK_MONOTONIC. A number is exact up to an uptime of 104 days.
const now = () => Number(process.hrtime.bigint());
const send = (message) => process.stdout.write(JSON.stringify(message) + "\n");

// Splits a long list, because a line may have at most 8 MiB.
function sendList(message, name, values) {
  const part = 100_000;
  for (let start = 0; start === 0 || start < values.length; start += part) {
    const more = start + part < values.length || undefined;
    send({ ...message, [name]: values.slice(start, start + part), more });
  }
}

class Refused extends Error {
  constructor(error) {
    super(error.text);
    this.error = error;
  }
}

let db;
let isAsked = false;
const statements = new Map();
const subs = new Map();

function statement(sql) {
  if (!statements.has(sql)) statements.set(sql, db.prepare(sql));
  return statements.get(sql);
}

function select(query) {
  const conditions = (query.match ?? []).map(([column, operator, number]) => `"${column}" ${operator} ${number}`);
  const where = conditions.length ? " WHERE " + conditions.join(" AND ") : "";
  const sort = query.sort ?? "rowid";
  const order = sort.startsWith("-") ? `${sort.slice(1)} DESC` : sort;
  return `SELECT key, "group", score, stamp FROM item${where} ORDER BY ${order}`;
}

// Each change writes the stamp of its row, and no two rows have one key.
const isSame = (rows, shown) =>
  rows.length === shown.length && rows.every((row, index) => row.key === shown[index].key && row.stamp === shown[index].stamp);

function deliver() {
  isAsked = false;
  const { version } = statement("SELECT version FROM clock").get();
  for (const [sub, { query, shown }] of subs) {
    const rows = statement(query).all();
    if (shown && isSame(rows, shown)) continue;
    const at = now();
    subs.get(sub).shown = rows;
    const keys = rows.map((row) => row.key);
    sendList({ event: "delivery", sub, at, version, initial: !shown, count: rows.length }, "keys", keys);
  }
}

function askForDelivery() {
  if (!isAsked) setImmediate(deliver);
  isAsked = true;
}

function apply([operation, key, values]) {
  let changed = 1;
  if (operation === "insert") {
    statement("INSERT INTO item VALUES (?, ?, ?, ?)").run(key, values.group, values.score, values.stamp);
  } else if (operation === "update") {
    const columns = Object.keys(values);
    const sql = `UPDATE item SET ${columns.map((column) => `"${column}" = ?`).join(", ")} WHERE key = ?`;
    changed = statement(sql).run(...Object.values(values), key).changes;
  } else {
    changed = statement("DELETE FROM item WHERE key = ?").run(key).changes;
  }
  if (changed !== 1) throw new Refused({ code: "missing_row", key, text: `there is no row ${key}`, definite: true });
}

function transaction(body) {
  statement("BEGIN IMMEDIATE").run();
  try {
    const result = body();
    statement("COMMIT").run();
    return result;
  } catch (error) {
    statement("ROLLBACK").run();
    throw error;
  }
}

const operations = {
  hello: () => ({
    name: "sqlite-node",
    engineVersion: `SQLite ${process.versions.sqlite ?? "of node:sqlite"}`,
    runtime: `Node ${process.version}`,
    facts,
  }),
  open({ directory, durability }) {
    db = new DatabaseSync(join(directory, "store.db"));
    db.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = ${synchronous[durability]}; ${schema}`);
    return {};
  },
  load({ rows }) {
    const insert = statement("INSERT INTO item VALUES (?, ?, ?, ?)");
    transaction(() => rows.forEach((row) => insert.run(...row)));
    return {};
  },
  writer: () => ({}),
  commit({ changes }) {
    const begun = now();
    let locked;
    const version = transaction(() => {
      locked = now();
      changes.forEach(apply);
      statement("UPDATE clock SET version = version + 1").run();
      return statement("SELECT version FROM clock").get().version;
    });
    const done = now();
    askForDelivery();
    return { version, begun, locked, done };
  },
  subscribe({ sub, query }) {
    subs.set(sub, { query: select(query), shown: null });
    askForDelivery();
    return {};
  },
  cancel({ sub }) {
    subs.delete(sub);
    return {};
  },
  contents({ id, query }) {
    const rows = statement(select(query)).all().map((row) => [row.key, row.group, row.score, row.stamp]);
    sendList({ re: id }, "rows", rows);
  },
  close() {
    subs.clear();
    // The process ends by itself once its output is written.
    process.stdin.destroy();
    return {};
  },
};

function answer(request) {
  try {
    const reply = operations[request.op](request);
    if (reply) send({ re: request.id, ...reply });
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    send({ re: request.id, error: error.error });
  }
}

let rest = "";
process.stdin.setEncoding("utf8");
process.stdin.on("data", (text) => {
  const lines = (rest + text).split("\n");
  rest = lines.pop();
  for (const line of lines) answer(JSON.parse(line));
});
