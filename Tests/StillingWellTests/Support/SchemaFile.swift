// A file that successive versions of a program open.
import Foundation
import StillingWell

final class SchemaFile {
    let path = NSTemporaryDirectory() + "stillingwell-test-\(UUID().uuidString)"
    /// Tags of the rows that a test adds.
    let tags = (0..<4).map { _ in UUID() }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func open(
        _ models: StoredObject.Type..., version: UInt64 = 0,
        migration: (@Sendable (Migration) throws -> Void)? = nil
    ) throws -> Store {
        try Store(
            .init(path: path, models: models, durability: .relaxed, schemaVersion: version, migration: migration))
    }
}
