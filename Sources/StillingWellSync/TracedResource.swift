// Resources that a thread can hold or wait for, as reports name them. Immutable.
import CStillingWellPlatform
import Synchronization

/// A resource that a thread can hold or wait for.
public struct TracedResource: Sendable, Hashable {
    public enum Kind: String, Sendable, Codable {
        case mutex, condition, queue, runLoop, thread, fileLock
        /// Several threads may hold it at a time, and each of them can admit another.
        case pool
        /// Nobody holds it. The thread that will signal it is unknown.
        case signal
    }

    /// Id, unique in the process. Resources for one address have one id.
    public let id: UInt64
    public let kind: Kind
    /// Name in reports. Of a lock it is the class, such as `store write lock`, shared by instances made at one place.
    public let name: String
    /// Kernel id of the only thread that can serve it, such as a run loop's thread. 0 if there is none.
    public let servedBy: Int32

    public init(_ kind: Kind, _ name: String, servedBy: Int32 = 0) {
        id = Self.nextID.add(1, ordering: .relaxed).newValue
        (self.kind, self.name, self.servedBy) = (kind, name, servedBy)
    }

    /// Makes a resource for an address, such as a mutex without a `TracedResource`.
    package init(_ kind: Kind, _ name: String, address: UInt64) {
        id = address | 1 << 63
        (self.kind, self.name, servedBy) = (kind, name, 0)
    }

    private static let nextID = Atomic<UInt64>(0)

    public static func == (a: Self, b: Self) -> Bool { a.id == b.id }
    public func hash(into hasher: inout Hasher) { hasher.combine(id) }
}

/// A line of source code, for reports.
public struct SourcePlace: Sendable, CustomStringConvertible {
    let file: StaticString
    let line: UInt

    public init(_ file: StaticString = #fileID, _ line: UInt = #line) { (self.file, self.line) = (file, line) }

    /// File and line without the module, such as `Mailbox.swift:105`.
    public var description: String {
        let path = "\(file)"
        return "\(path.split(separator: "/").last ?? ""):\(line)"
    }
}
