// Check of one image, in a process of its own. Its content must be that of one of the allowed commits.
import Foundation
import StillingWell

struct ImageCheck {
    enum Outcome: Hashable {
        case whole
        /// The store does not open.
        case refused(String)
        /// The content is not that of an allowed commit, or the store is damaged, or it cannot be read or written.
        case wrong(String)
        case crashed(signal: Int32)
        case hung
    }

    private enum Status {
        static let refused: Int32 = 10
        static let wrong: Int32 = 11
    }

    /// Time limit in seconds for one image.
    private static let limitS: UInt32 = 60

    let configuration: Store.Configuration
    let history: History
    /// Commits that the image may be at.
    let allowed: ClosedRange<Int>

    func run() -> Outcome {
        let messages = configuration.path + ".message"
        try? FileManager.default.removeItem(atPath: messages)
        let status = inChild {
            alarm(Self.limitS)
            // Messages of the library on stderr are not part of the outcome.
            let log = open("/dev/null", O_WRONLY)
            dup2(log, 2)
            let (status, message) = look()
            if status != 0 { try? message.write(toFile: messages, atomically: false, encoding: .utf8) }
            return status
        }
        if status == 0 { return .whole }
        let message = (try? String(contentsOfFile: messages, encoding: .utf8)) ?? ""
        switch (status & 0x7F, status >> 8) {
        case (0, Status.refused): return .refused(message)
        case (0, Status.wrong): return .wrong(message)
        case (SIGALRM, _): return .hung
        case (let signal, _): return .crashed(signal: signal)
        }
    }

    private func look() -> (Int32, String) {
        do {
            let store = try Store(configuration)
            do {
                let (count, version) = try store.read { (try Total.count($0), $0.version) }
                guard version == UInt64(count) else {
                    return (Status.wrong, "commit \(count) is version \(version) of the log")
                }
                guard allowed.contains(count) else {
                    return (Status.wrong, "it is at commit \(count), not in \(allowed)")
                }
                try check(store, history.contents[count])
                try goOn(store, from: history.contents[count])
            } catch {
                return (Status.wrong, "\(error)")
            }
        } catch {
            return (Status.refused, "\(error)")
        }
        return (0, "")
    }

    private struct Difference: Error, CustomStringConvertible {
        let description: String
    }

    private func check(_ store: Store, _ content: Content) throws {
        try store.read { connection in
            let entries = try connection.objects(Entry.self)
            var found = Content()
            for entry in entries { found.rows[entry.key] = Self.row(entry) }
            for leaf in try connection.objects(Leaf.self) {
                found.leaves[leaf.key] = LeafValues(group: leaf.group, text: leaf.text)
            }
            if found != content || entries.count != content.rows.count {
                throw Difference(description: Self.difference(found, content))
            }
            for group in 0..<Content.groups {
                let keys = try connection.objects(Entry.self).where(\.group == group).sorted(by: \.key).map(\.key)
                let expected = content.rows.filter { $0.value.group == group }.keys.sorted()
                if keys != expected { throw Difference(description: "group \(group) has \(keys), not \(expected)") }
                let leaves = try connection.objects(Leaf.self).where(\.group == group).count
                let expectedLeaves = content.leaves.count { $0.value.group == group }
                if leaves != expectedLeaves {
                    throw Difference(description: "group \(group) has \(leaves) leaves, not \(expectedLeaves)")
                }
            }
            for key in content.rows.keys where try connection.object(Entry.self, forPrimaryKey: key)?.key != key {
                throw Difference(description: "\(key) is not found by its key")
            }
            let order = try connection.objects(Entry.self).sorted(by: \.group).map(\.group)
            if order != order.sorted() { throw Difference(description: "a sorted query is not in order") }
        }
        let report = try store.verify()
        if let damage = report.damage.first { throw Difference(description: damage) }
    }

    private static func row(_ entry: Entry) -> Row {
        Row(group: entry.group, text: entry.text, next: entry.next?.key, others: entry.others.map(\.key))
    }

    private static func difference(_ found: Content, _ expected: Content) -> String {
        let keys = Set(found.rows.keys).union(expected.rows.keys).filter { found.rows[$0] != expected.rows[$0] }
        let leaves = Set(found.leaves.keys).union(expected.leaves.keys).count {
            found.leaves[$0] != expected.leaves[$0]
        }
        return "\(keys.count) entries differ, such as \(keys.min() ?? 0), and \(leaves) leaves"
    }

    /// Makes six more commits and checks again. A commit that reuses a page that is still in use damages the content.
    private func goOn(_ store: Store, from content: Content) throws {
        var content = content
        let writer = 99
        for step in 0..<6 {
            let changes = content.changes(seed: 1, writer: writer, step: step)
            try store.write { connection in for change in changes { try Content.apply(change, connection) } }
            for change in changes { content.apply(change) }
        }
        try check(store, content)
    }
}
