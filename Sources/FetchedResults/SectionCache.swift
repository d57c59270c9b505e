// Section names and sizes on disk, for the next run of the program. One file per name:
// `<store>/fetched-results/<name>.json`. Used only at the exact version at which it was written.
import Foundation
import Logging
import StillingWell
import StillingWellBasis

/// A section in the cache.
public struct CachedSection: Sendable, Codable, Equatable {
    /// Section key as text, as in `FetchedSection.name`.
    public let name: String?
    /// Number of objects.
    public let objectCount: Int
}

/// One cache file. Any thread; the last writer wins.
struct SectionCache {
    private struct Content: Codable {
        /// Format 2: identities are exact, and names may be nil.
        static let currentFormat = 2

        var format = Content.currentFormat
        /// Text of the query with its constants, order, section keys and the model's columns, and of the section
        /// function's name. Changes with the schema.
        let identity: String
        let version: UInt64
        let sections: [CachedSection]
    }

    private let file: URL
    /// Whether a file is written. False for a store in memory.
    private let isKept: Bool

    init(_ name: String, _ store: Store) {
        stopUnless(
            !name.isEmpty && !name.contains("/") && name != "." && name != "..",
            "'\(name)' is no name for a cache: it is that of a file, without slashes")
        file = Self.folder(store).appendingPathComponent("\(name).json")
        isKept = store.configuration.durability != .memory
    }

    static func folder(_ store: Store) -> URL {
        URL(fileURLWithPath: store.configuration.path).appendingPathComponent("fetched-results")
    }

    /// Returns the sections cached for this request and version. Otherwise removes the file and returns nil.
    func sections(_ identity: String, version: UInt64) -> [CachedSection]? {
        guard let data = try? Data(contentsOf: file) else { return nil }
        let content = try? JSONDecoder().decode(Content.self, from: data)
        if let content, content.format == Content.currentFormat, content.version == version,
            content.identity.utf8.elementsEqual(identity.utf8)
        {
            return content.sections
        }
        try? FileManager.default.removeItem(at: file)
        return nil
    }

    func noteUnnamed() {
        Logger(label: "fetched-results").warning(
            "the section cache \(file.path) is not used: the function of the section keys has no name; give it one with sectioned(by:named:)"
        )
    }

    /// Replaces the file atomically. An error, such as a full disk, is only logged.
    func keep(_ sections: [CachedSection], _ identity: String, version: UInt64) {
        guard isKept else { return }
        do {
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            let content = Content(identity: identity, version: version, sections: sections)
            try JSONEncoder().encode(content).write(to: file, options: .atomic)
        } catch {
            Logger(label: "fetched-results").warning("the section cache \(file.path) cannot be kept: \(error)")
        }
    }
}

extension Store {
    /// Paths of the cache files of all controllers of this store, including unused ones.
    public var fetchedResultsCachePaths: [String] {
        let folder = SectionCache.folder(self)
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        return names.sorted().map { folder.appendingPathComponent($0).path }
    }

    /// Removes a controller's cache file, or all of them if the name is nil.
    public func deleteFetchedResultsCache(named name: String? = nil) throws {
        for path in fetchedResultsCachePaths {
            let file = URL(fileURLWithPath: path)
            if let name, file.deletingPathExtension().lastPathComponent != name { continue }
            try FileManager.default.removeItem(at: file)
        }
    }
}
