// Section names and sizes on disk, from one run of the program to the next. A file of its own per name, beside the store's
// data: `<store>/fetched-results/<name>.json`. Used only for the very version it was made of.
import Foundation
import Logging
import StillingWell
import StillingWellBasis

/// A section as it was kept.
public struct CachedSection: Sendable, Codable, Equatable {
    /// The section key in words, as `FetchedSection.name`.
    public let name: String?
    /// How many objects there were.
    public let objectCount: Int
}

/// One cache file. Any thread; who keeps last wins.
struct SectionCache {
    private struct Content: Codable {
        /// 2: identities are exact, and names may be nil.
        static let currentFormat = 2

        var format = Content.currentFormat
        /// The query with its constants, the order, the section keys, and the columns of the model. A schema that changes
        /// makes another one.
        let identity: String
        let version: UInt64
        let sections: [CachedSection]
    }

    private let file: URL
    /// A store in memory leaves nothing behind.
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

    /// What was kept for this request at this version. A file that says something else is removed: the request, the
    /// models or the data have changed.
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

    /// Replaces the file, as a whole. A disk that is full costs the cache, and a line in the log.
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
    /// The cache files of all controllers of this store, whether in use or not. What has changed in the models since, a
    /// migration included, makes them worthless, and the next `performFetch` of their name removes them.
    public var fetchedResultsCachePaths: [String] {
        let folder = SectionCache.folder(self)
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        return names.sorted().map { folder.appendingPathComponent($0).path }
    }

    /// Removes a controller's cache file; all of them where the name is nil.
    public func deleteFetchedResultsCache(named name: String? = nil) throws {
        for path in fetchedResultsCachePaths {
            let file = URL(fileURLWithPath: path)
            if let name, file.deletingPathExtension().lastPathComponent != name { continue }
            try FileManager.default.removeItem(at: file)
        }
    }
}
