// What a thread can hold or wait for, as reports name it. A value without state.
import CStillingWellPlatform
import Synchronization

/// Something a thread can hold or wait for.
public struct TracedResource: Sendable, Hashable {
    public enum Kind: String, Sendable, Codable {
        case mutex, condition, queue, runLoop, thread, fileLock
        /// Several may hold it at a time, and any of them lets one more in.
        case pool
        /// What nobody holds: whoever waits for it can only be helped by somebody who is not known.
        case signal
    }

    /// Unique in the process.
    public let id: UInt64
    public let kind: Kind
    /// The lock class: instances made at one place share it, such as `store write lock`.
    public let name: String
    /// The only thread that can serve it (of a run loop, its own), by kernel id; 0 where there is none.
    public let servedBy: Int32

    public init(_ kind: Kind, _ name: String, servedBy: Int32 = 0) {
        id = Self.nextID.add(1, ordering: .relaxed).newValue
        (self.kind, self.name, self.servedBy) = (kind, name, servedBy)
    }

    /// One that this process has not made: known by its address.
    package init(_ kind: Kind, _ name: String, address: UInt64) {
        id = address | 1 << 63
        (self.kind, self.name, servedBy) = (kind, name, 0)
    }

    private static let nextID = Atomic<UInt64>(0)

    public static func == (a: Self, b: Self) -> Bool { a.id == b.id }
    public func hash(into hasher: inout Hasher) { hasher.combine(id) }
}

/// A line of source, for reports.
public struct SourcePlace: Sendable, CustomStringConvertible {
    let file: StaticString
    let line: UInt

    public init(_ file: StaticString = #fileID, _ line: UInt = #line) { (self.file, self.line) = (file, line) }

    /// `Mailbox.swift:105`, the module being no help to anybody who reads it.
    public var description: String {
        let path = "\(file)"
        return "\(path.split(separator: "/").last ?? ""):\(line)"
    }
}
