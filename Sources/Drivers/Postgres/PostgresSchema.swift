// A schema of the driver's own, in which all of its tables stand: what else the database has is not touched.
import Foundation
import TidegaugeDriver

/// Any thread; each connection belongs to who asked for it.
struct PostgresSchema: Sendable {
    /// Of the schema, and of the channel of its notifications.
    let name: String
    private let options: [(String, String)]
    /// Of every session.
    private let words: [String]

    /// - Parameter words: settings of the server's, by name.
    init(_ options: [(String, String)], _ words: [String] = []) {
        name = "tidegauge_" + String(UInt64.random(in: 0 ... .max), radix: 36)
        (self.options, self.words) = (options, words)
    }

    /// What a process elsewhere has to know, but for a password.
    private struct Address: Codable {
        var schema: String
        /// libpq's, by turns keyword and value.
        var options: [String]
        var words: [String]
    }

    /// - Parameter host: under which the server is known elsewhere; nil: as here.
    func address(at host: String?) -> String {
        let options = options.map { ($0.0, $0.0 == "host" ? host ?? $0.1 : $0.1) }
        let address = Address(schema: name, options: options.flatMap { [$0.0, $0.1] }, words: words)
        // Strings have no value that JSON could not hold.
        return (try? JSONEncoder().encode(address)).map { String(decoding: $0, as: UTF8.self) } ?? ""
    }

    /// As another process has said it.
    /// - Throws: `DriverUnavailable`.
    init(at address: String, password: String?) throws {
        guard let address = try? JSONDecoder().decode(Address.self, from: Data(address.utf8)) else {
            throw DriverUnavailable("'\(address.prefix(200))' is no address of a store of PostgreSQL's")
        }
        name = address.schema
        words = address.words
        let options = stride(from: 0, to: address.options.count - 1, by: 2).map {
            (address.options[$0], address.options[$0 + 1])
        }
        self.options = options + (password.map { [("password", $0)] } ?? [])
    }

    /// A connection for which the schema is the only one.
    /// - Parameter name: what the server calls it.
    func connect(as name: String = "tidegauge") throws -> PostgresConnection {
        // Without compilation of plans, which starts anew in every connection; rows of several queries come one after the other.
        let words = ["search_path=\(self.name)", "jit=off", "max_parallel_workers_per_gather=0"] + words
        return try PostgresConnection(
            options + [
                ("application_name", name), ("options", words.map { "-c \($0)" }.joined(separator: " ")),
            ])
    }

    /// A connection that is sent what stands in the server's log: its rows, or, as a standby by that name, its bytes.
    func connectForReplication(as standby: String? = nil) throws -> PostgresConnection {
        try PostgresConnection(
            options + [
                ("application_name", standby ?? "tidegauge"), ("replication", standby == nil ? "database" : "true"),
            ])
    }

    /// - Throws: `DriverUnavailable` where the server cannot do what the way asks for.
    func create(_ way: PostgresWay) throws {
        let connection = try connect()
        if let obstacle = way.obstacle(connection.serverVersion) { throw DriverUnavailable(obstacle) }
        if way.hearing == .stream {
            let level = try connection.run("SELECT current_setting('wal_level')").text(0, 0)
            guard level == "logical" else {
                throw DriverUnavailable(
                    "the server has wal_level '\(level)': \(way.driverName) needs 'logical', which takes a restart of the server "
                        + "(ALTER SYSTEM SET wal_level = logical)")
            }
        }
        // A publication stands outside of all schemas, so that it has to be dropped as well. All or nothing is made.
        try connection.execute(
            """
            CREATE SCHEMA \(name);
            CREATE TABLE item (key bigint PRIMARY KEY, grp bigint NOT NULL, score bigint NOT NULL, stamp bigint NOT NULL);
            \(way.hearing == .stream ? "CREATE PUBLICATION \(name) FOR TABLE item" : "");
            """)
    }

    /// Once, before there is a trigger.
    func load(_ connection: PostgresConnection, count: Int, item: (Int) -> Item) throws {
        try connection.copy(into: "item") { send in
            for index in 0..<count {
                let item = item(index)
                try send("\(item.key)\t\(item.group)\t\(item.score)\t\(item.stamp)\n")
            }
        }
        try connection.execute("CREATE INDEX item_score ON item (score)")
        try connection.execute("CREATE INDEX item_grp ON item (grp)")
        try connection.execute("VACUUM ANALYZE item")
    }

    /// What a way has the server do at a write.
    func addTrigger(_ way: PostgresWay, _ connection: PostgresConnection) throws {
        switch way {
        case .poll, .batch, .wal, .doorbell: break
        case .notify, .lateListen: try notify(connection, forEach: "STATEMENT")
        case .notifyRows: try notify(connection, forEach: "ROW")
        case .outbox: try number(connection)
        }
    }

    /// Of the notifications of a transaction all but one are left out.
    private func notify(_ connection: PostgresConnection, forEach what: String) throws {
        try connection.execute(
            """
            CREATE FUNCTION announce() RETURNS trigger LANGUAGE plpgsql AS
                $$ BEGIN PERFORM pg_notify('\(name)', ''); RETURN NULL; END $$;
            CREATE TRIGGER announce AFTER INSERT OR UPDATE OR DELETE ON item
                FOR EACH \(what) EXECUTE FUNCTION announce();
            """)
    }

    /// Every row that is written is numbered in a table beside, in the order of the statements, which is not that of the commits.
    private func number(_ connection: PostgresConnection) throws {
        try connection.execute(
            """
            CREATE TABLE outbox (id bigserial PRIMARY KEY, key bigint NOT NULL);
            CREATE FUNCTION number() RETURNS trigger LANGUAGE plpgsql AS
                $$ BEGIN INSERT INTO outbox (key) VALUES (COALESCE(NEW.key, OLD.key)); RETURN NULL; END $$;
            CREATE TRIGGER number AFTER INSERT OR UPDATE OR DELETE ON item FOR EACH ROW EXECUTE FUNCTION number();
            """)
    }

    func drop() throws {
        try connect().execute(
            """
            SET client_min_messages = warning; DROP PUBLICATION IF EXISTS \(name);
            DROP SCHEMA \(name) CASCADE
            """)
    }

    /// What makes a change; it changes one row, or none where the row is missing.
    static func statement(_ change: Change) -> (sql: String, values: [Int64]) {
        let item = change.item
        return switch change.operation {
        case .insert:
            (
                "INSERT INTO item VALUES ($1::bigint, $2::bigint, $3::bigint, $4::bigint)",
                [item.key, item.group, item.score, item.stamp]
            )
        case .updateScore:
            (
                "UPDATE item SET score = $1::bigint, stamp = $2::bigint WHERE key = $3::bigint",
                [item.score, item.stamp, item.key]
            )
        case .touch, .moveToFront:
            ("UPDATE item SET stamp = $1::bigint WHERE key = $2::bigint", [item.stamp, item.key])
        case .delete: ("DELETE FROM item WHERE key = $1::bigint", [item.key])
        }
    }
}
