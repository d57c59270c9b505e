// The driver's schema, which contains the tables, triggers and functions that the driver makes.
import Foundation
import TidegaugeDriver

/// Any thread; each connection belongs to its caller.
struct PostgresSchema: Sendable {
    /// Name of the schema and of its notification channel.
    let name: String
    private let options: [(String, String)]
    /// Server settings of each session except replication sessions, as `name=value`.
    private let words: [String]

    init(_ options: [(String, String)], _ words: [String] = []) {
        name = "tidegauge_" + String(UInt64.random(in: 0 ... .max), radix: 36)
        (self.options, self.words) = (options, words)
    }

    /// Everything that a process on another host needs, except the password of the trial's own server.
    private struct Address: Codable {
        var schema: String
        /// libpq options, alternating keyword and value.
        var options: [String]
        var words: [String]
    }

    /// - Parameter host: address of the server for other hosts; nil if it is the same as here.
    func address(at host: String?) -> String {
        let options = options.map { ($0.0, $0.0 == "host" ? host ?? $0.1 : $0.1) }
        let address = Address(schema: name, options: options.flatMap { [$0.0, $0.1] }, words: words)
        // Encoding strings as JSON cannot fail.
        return (try? JSONEncoder().encode(address)).map { String(decoding: $0, as: UTF8.self) } ?? ""
    }

    /// Makes a schema from the address that another process returned.
    /// - Throws: `DriverUnavailable` if the address cannot be decoded.
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

    /// Opens a connection whose search path is this schema.
    /// - Parameter name: application name on the server.
    func connect(as name: String = "tidegauge") throws -> PostgresConnection {
        // Without JIT compilation, which would be repeated in each connection, and without parallel workers, because
        // the rows of several queries must come in their order.
        let words = ["search_path=\(self.name)", "jit=off", "max_parallel_workers_per_gather=0"] + words
        return try PostgresConnection(
            options + [
                ("application_name", name), ("options", words.map { "-c \($0)" }.joined(separator: " ")),
            ])
    }

    /// Opens a replication connection: logical, or physical as a standby with the given name.
    func connectForReplication(as standby: String? = nil) throws -> PostgresConnection {
        try PostgresConnection(
            options + [
                ("application_name", standby ?? "tidegauge"), ("replication", standby == nil ? "database" : "true"),
            ])
    }

    /// Creates the schema with the table, and the publication that a stream needs.
    /// - Throws: `DriverUnavailable` if the server does not support this strategy, or `PostgresError`.
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
        // A publication belongs to no schema, so it must be dropped separately. The statements are one transaction.
        try connection.execute(
            """
            CREATE SCHEMA \(name);
            CREATE TABLE item (key bigint PRIMARY KEY, grp bigint NOT NULL, score bigint NOT NULL, stamp bigint NOT NULL);
            \(way.hearing == .stream ? "CREATE PUBLICATION \(name) FOR TABLE item" : "");
            """)
    }

    /// Call it once, before a trigger exists.
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

    /// Adds the trigger that a strategy needs, if any.
    func addTrigger(_ way: PostgresWay, _ connection: PostgresConnection) throws {
        switch way {
        case .poll, .batch, .wal, .doorbell: break
        case .notify, .lateListen: try notify(connection, forEach: "STATEMENT")
        case .notifyRows: try notify(connection, forEach: "ROW")
        case .outbox: try number(connection)
        }
    }

    /// The server merges equal notifications of one transaction.
    private func notify(_ connection: PostgresConnection, forEach what: String) throws {
        try connection.execute(
            """
            CREATE FUNCTION announce() RETURNS trigger LANGUAGE plpgsql AS
                $$ BEGIN PERFORM pg_notify('\(name)', ''); RETURN NULL; END $$;
            CREATE TRIGGER announce AFTER INSERT OR UPDATE OR DELETE ON item
                FOR EACH \(what) EXECUTE FUNCTION announce();
            """)
    }

    /// The trigger numbers every written row in a separate table, in statement order, which is not commit order.
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

    /// Returns the statement of a change. It changes one row, or none if the row is missing.
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
