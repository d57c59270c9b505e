// Observers in a child, on the main run loop.
import Foundation
import StillingWell
import StillingWellFixtures

final class Observers {
    private enum Told { case nothing, initial, update, error }

    private let store: Store
    private let kind: StoreKind
    private var connection: Connection?
    private var tokens: [NotificationToken] = []
    private var told: [String: Told] = [:]
    private var errors: [String] = []

    init(_ store: Store, _ kind: StoreKind) { (self.store, self.kind) = (store, kind) }

    func begin() throws -> String {
        let connection = try store.connect(on: .runLoop)
        self.connection = connection
        switch kind {
        case .samples:
            try observe("samples", try connection.objects(Sample.self).sorted(by: \.number))
            try observe("numbers", try connection.objects(SampleNumber.self))
        case .many, .large, .lists, .free:
            try observe("items", try connection.objects(Item.self).where(\.group >= 0))
            try observe("documents", try connection.objects(Document.self))
            try observe("lines", try connection.objects(Line.self))
            try observe("folders", try connection.objects(Folder.self).where((\Folder.name).hasPrefix("folder")))
            told["sections"] = .nothing
            tokens.append(
                try connection.objects(Item.self).sectioned(by: \.group).observe { [unowned self] change in
                    switch change {
                    case .initial: told["sections"] = .initial
                    case .update: told["sections"] = .update
                    case .error(let error): failed("sections", error)
                    }
                })
        }
        run { !$0.values.contains(.nothing) }
        return try answer()
    }

    private func observe<Object: StoredObject>(_ name: String, _ results: Results<Object>) throws {
        told[name] = .nothing
        tokens.append(
            try results.observe { [unowned self] change in
                switch change {
                case .initial: told[name] = .initial
                case .update: told[name] = .update
                case .error(let error): failed(name, error)
                }
            })
    }

    private func failed(_ name: String, _ error: StoreError) {
        told[name] = .error
        errors.append("\(name): \(error)")
    }

    /// Waits until the connection has reached the newest version, or an observer has received an error.
    func wait() throws -> String {
        let version = try store.read(\.version)
        run { [self] _ in !errors.isEmpty || connection.map { $0.version >= version } ?? true }
        return try answer()
    }

    private struct Failed: Error, CustomStringConvertible { let description: String }

    private func answer() throws -> String {
        if !errors.isEmpty { throw Failed(description: errors.joined(separator: "; ")) }
        return "ok"
    }

    /// Runs the run loop until `isDone`. There is no time limit here: `Child` limits the whole process.
    private func run(until isDone: ([String: Told]) -> Bool) {
        while !isDone(told) { _ = RunLoop.main.run(mode: .default, before: Date(timeIntervalSinceNow: 0.05)) }
    }

    func end() { for token in tokens { token.invalidate() } }
}
