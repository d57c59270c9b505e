//! SQLite in Rust. A thread with a connection of its own fetches every observed query again after a commit or a
//! subscription. Commits in between are coalesced. A query whose rows are the same is not delivered. SQLite reads the
//! JSON of requests.

mod sqlite;

use sqlite::Connection;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::{collections::BTreeMap, io::BufRead, io::Write, sync::Arc, sync::Mutex, thread::park, thread::spawn, thread::Thread};

const FACTS: &str = r#"{"durabilities":["memory","relaxed","full"],"persists":true,"shows":"keys","advancesTogether":true,"counters":["queries_evaluated","rows_read"],"remarks":["fetches every observed query again after a commit","'memory' is a WAL file on tmpfs"]}"#;
const SCHEMA: &str = r#"
    CREATE TABLE item (key INTEGER PRIMARY KEY, "group" INTEGER, score INTEGER, stamp INTEGER);
    CREATE INDEX item_score ON item (score);
    CREATE INDEX item_group ON item ("group");
    CREATE TABLE clock (version INTEGER);
    INSERT INTO clock VALUES (1);"#;
const LOAD: &str = "INSERT INTO item SELECT value->>0, value->>1, value->>2, value->>3 FROM json_each(?, '$.rows')";
/// The statement of each change, and its key.
const CHANGES: &str = r#"SELECT CASE value->>0
        WHEN 'insert' THEN printf('INSERT INTO item VALUES (%d, %d, %d, %d)',
            value->>1, value->>'$[2].group', value->>'$[2].score', value->>'$[2].stamp')
        WHEN 'update' THEN printf('UPDATE item SET %s WHERE key = %d',
            (SELECT group_concat(printf('"%w" = %d', key, value)) FROM json_each(c.value, '$[2]')), value->>1)
        ELSE printf('DELETE FROM item WHERE key = %d', value->>1) END, value->>1
    FROM json_each(?, '$.changes') c"#;
/// The query as a statement.
const SELECT: &str = r#"SELECT printf('SELECT key, "group", score, stamp FROM item%s ORDER BY %s%s',
        (SELECT coalesce(' WHERE ' || group_concat(printf('"%w" %s %d', value->>0, value->>1, value->>2), ' AND '), '')
            FROM json_each(r.text, '$.query.match')),
        coalesce(ltrim(r.text->>'$.query.sort', '-'), 'rowid'), iif(r.text->>'$.query.sort' LIKE '-%', ' DESC', ''))
    FROM (SELECT ? AS text) r"#;

/// Counters of the observing thread.
static QUERIES_EVALUATED: AtomicU64 = AtomicU64::new(0);
static ROWS_READ: AtomicU64 = AtomicU64::new(0);

extern "C" {
    fn clock_gettime(clock: i32, time: *mut [i64; 2]) -> i32;
}

/// Nanoseconds of CLOCK_MONOTONIC.
fn now() -> i64 {
    let mut time = [0; 2];
    unsafe { clock_gettime(1, &mut time) };
    time[0] * 1_000_000_000 + time[1]
}

/// Writes a line under the lock of standard output.
fn send(line: String) {
    let mut output = std::io::stdout().lock();
    output.write_all((line + "\n").as_bytes()).and_then(|_| output.flush()).unwrap_or_else(|_| std::process::exit(0));
}

/// Splits a long list, because a line may have at most 8 MiB. `head` is the line without its end.
fn send_list(head: &str, name: &str, values: &[String]) {
    let parts: Vec<&[String]> = if values.is_empty() { vec![values] } else { values.chunks(100_000).collect() };
    for (index, part) in parts.iter().enumerate() {
        send(format!(r#"{head},"{name}":[{}],"more":{}}}"#, part.join(","), index + 1 < parts.len()));
    }
}

type Row = [i64; 4];

/// The query of each subscription, and the rows that it has shown. The lock is held during a delivery, so that none
/// follows a cancellation.
type Subs = Arc<Mutex<BTreeMap<i64, (String, Option<Vec<Row>>)>>>;

fn fetch(connection: &mut Connection, query: &str) -> Vec<Row> {
    connection.rows(query, "", |row| [0, 1, 2, 3].map(|column| row.number(column)))
}

fn select(connection: &mut Connection, request: &str) -> String {
    connection.rows(SELECT, request, |row| row.text(0)).remove(0)
}

fn number(connection: &mut Connection, sql: &str) -> i64 {
    connection.rows(sql, "", |row| row.number(0))[0]
}

fn observe(mut connection: Connection, subs: Subs) {
    loop {
        // Returns at once if there was a commit or a subscription meanwhile.
        park();
        let mut subs = subs.lock().unwrap();
        connection.run("BEGIN");
        let version = number(&mut connection, "SELECT version FROM clock");
        let mut found = vec![];
        for (sub, (query, shown)) in subs.iter() {
            let rows = fetch(&mut connection, query);
            QUERIES_EVALUATED.fetch_add(1, Relaxed);
            ROWS_READ.fetch_add(rows.len() as u64, Relaxed);
            if shown.as_ref() != Some(&rows) {
                found.push((*sub, rows, now()));
            }
        }
        connection.run("COMMIT");
        for (sub, rows, at) in found {
            let shown = &mut subs.get_mut(&sub).unwrap().1;
            let keys: Vec<String> = rows.iter().map(|row| row[0].to_string()).collect();
            let head = format!(
                r#"{{"event":"delivery","sub":{sub},"at":{at},"version":{version},"initial":{},"count":{}"#,
                shown.is_none(), rows.len()
            );
            send_list(&head, "keys", &keys);
            *shown = Some(rows);
        }
    }
}

/// Returns the reply without its beginning.
fn commit(connection: &mut Connection, observer: &Thread, request: &str) -> String {
    let begun = now();
    connection.run("BEGIN IMMEDIATE");
    let locked = now();
    for (statement, key) in connection.rows(CHANGES, request, |row| (row.text(0), row.number(1))) {
        connection.run(&statement);
        if number(connection, "SELECT changes()") != 1 {
            connection.run("ROLLBACK");
            return format!(r#","error":{{"code":"missing_row","key":{key},"text":"no row {key}","definite":true}}"#);
        }
    }
    connection.run("UPDATE clock SET version = version + 1");
    let version = number(connection, "SELECT version FROM clock");
    connection.run("COMMIT");
    let done = now();
    observer.unpark();
    format!(r#","version":{version},"begun":{begun},"locked":{locked},"done":{done}"#)
}

fn open(directory: &str, durability: &str, subs: Subs) -> (Connection, Thread) {
    let synchronous = ["memory", "relaxed", "full"].iter().position(|name| *name == durability).unwrap();
    let connect = || {
        let mut connection = Connection::open(&format!("{directory}/store.db"));
        connection.run(&format!("PRAGMA busy_timeout = 5000; PRAGMA journal_mode = WAL; PRAGMA synchronous = {synchronous}"));
        connection
    };
    let mut connection = connect();
    connection.run(SCHEMA);
    let observing = connect();
    (connection, spawn(move || observe(observing, subs)).thread().clone())
}

fn main() {
    let (mut connection, mut observer, subs) = (Connection::open(":memory:"), std::thread::current(), Subs::default());
    for line in std::io::stdin().lock().lines() {
        let request = line.unwrap();
        let parts = "SELECT r->>'id', r->>'op', r->>'directory', r->>'durability', r->>'sub' FROM (SELECT ? AS r)";
        let read = |row: sqlite::Row| (row.number(0), row.text(1), row.text(2), row.text(3), row.number(4));
        let (id, op, directory, durability, sub) = connection.rows(parts, &request, read).remove(0);
        let mut reply = String::new();
        match op.as_str() {
            "hello" => reply = format!(r#","name":"sqlite-rust","engineVersion":"SQLite","runtime":"Rust","facts":{FACTS}"#),
            "open" => (connection, observer) = open(&directory, &durability, subs.clone()),
            "load" => drop(connection.rows(LOAD, &request, |_| ())),
            "commit" => reply = commit(&mut connection, &observer, &request),
            "subscribe" => {
                let query = select(&mut connection, &request);
                // The lock is held until the reply is sent, because the reply precedes the initial delivery.
                let mut subs = subs.lock().unwrap();
                subs.insert(sub, (query, None));
                send(format!(r#"{{"re":{id}}}"#));
                observer.unpark();
                continue;
            }
            "cancel" => drop(subs.lock().unwrap().remove(&sub)),
            "counters" => {
                reply = format!(
                    r#","counters":{{"queries_evaluated":{},"rows_read":{}}}"#,
                    QUERIES_EVALUATED.load(Relaxed), ROWS_READ.load(Relaxed)
                )
            }
            "contents" => {
                let query = select(&mut connection, &request);
                let rows: Vec<String> = fetch(&mut connection, &query).iter().map(|row| format!("{row:?}")).collect();
                send_list(&format!(r#"{{"re":{id}"#), "rows", &rows);
                continue;
            }
            "close" => return send(format!(r#"{{"re":{id}}}"#)),
            _ => {}
        }
        send(format!(r#"{{"re":{id}{reply}}}"#));
    }
}
