// A closed store for observers that open one in their callbacks (`observers.reads: open`). It has the same engine and
// the same initial rows as the trial's store, and is in a folder inside that store's folder.
import Foundation
import TidegaugeDriver
import TidegaugeSpec

/// Any thread.
final class OpenedStore: Sendable {
    /// The query for the first row.
    private static let query = Query(keys: 0..<1)

    private let driver: any StoreDriver
    private let configuration: StoreConfiguration

    /// Makes the store and closes it. Nil if callbacks open no store.
    init?(_ spec: TrialSpec, _ driver: any StoreDriver, _ configuration: StoreConfiguration, _ dataset: Dataset) throws
    {
        guard spec.observers.reads == .open else { return nil }
        var own = configuration
        own.directory = configuration.directory + "/opened"
        try FileManager.default.createDirectory(atPath: own.directory, withIntermediateDirectories: true)
        (self.driver, self.configuration) = (driver, own)
        let store = try driver.open(own)
        try store.load(count: dataset.count) { dataset.item(at: $0) }
        try store.close()
    }

    /// Opens the store, reads the score of its first row, and closes it.
    /// - Throws: the engine's error.
    /// - Returns: an answer at version `.max`, because no writer changes this store.
    func read() throws -> ReadAnswer {
        let store = try driver.open(configuration)
        let found = Result { try store.contents(of: Self.query).first }
        try store.close()
        return ReadAnswer(try found.get()?.score ?? ReadAnswer.noRow, at: .max)
    }
}
