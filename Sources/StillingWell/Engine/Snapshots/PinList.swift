// Holders of old versions: snapshots of this process with the places where they were frozen, and readers of other
// processes from LMDB's reader table. The lock is a leaf. The version of a reader is an atomic, written without the
// lock.
import CStillingWellLMDB
import Glibc
import StillingWellBasis
import StillingWellSync

/// A holder of a version, which keeps this version and all later ones in the file or, if held for long, in memory.
public struct VersionPin: Sendable, Equatable {
    /// Version that is kept.
    public let version: UInt64
    /// Time for which it has been held; nil for a holder in another process.
    public let age: Duration?
    /// Id of the process that holds it.
    public let process: Int32
    /// Source location at which it was frozen; nil if a connection, a running read or another process holds it.
    public let place: String?
}

final class PinList: Sendable {
    private struct State {
        var frozen: [ObjectIdentifier: (version: UInt64, file: String, line: Int)] = [:]
        var readers: [SnapshotReader] = []
    }

    private let state = Guarded("pins", State())

    /// Records where a version was frozen, until the pin is removed.
    func add(_ pin: ObjectIdentifier, version: UInt64, file: String, line: Int) {
        state.withLock { $0.frozen[pin] = (version, file, line) }
    }

    func remove(_ pin: ObjectIdentifier) { state.withLock { $0.frozen[pin] = nil } }

    /// Adds a reader. Called once for each new reader.
    func add(_ reader: SnapshotReader) { state.withLock { $0.readers.append(reader) } }

    private var readers: [SnapshotReader] { state.withLock { $0.readers } }

    /// Oldest version that readers of a mapping keep in the file, and since when they hold it.
    func oldest(readBy map: ReadMap) -> (version: UInt64, sinceNs: Int64)? {
        readers.compactMap { $0.pinned(by: map) == nil ? nil : $0.held }.min { $0.version < $1.version }
    }

    /// Oldest LMDB transaction that readers of a mapping keep in the file.
    func oldestPinned(by map: ReadMap) -> UInt64? { readers.compactMap { $0.pinned(by: map) }.min() }

    /// Makes the readers of a mapping keep nothing in the file.
    func unpin(_ map: ReadMap) { for reader in readers { reader.unpin(map) } }

    /// Moves idle readers of `map` to `next`. Returns whether `map` has no readers left.
    func leave(_ map: ReadMap, for next: ReadMap) -> Bool {
        readers.map { $0.leave(map, for: next) }.allSatisfy(\.self)
    }

    /// Whether this process holds any version.
    var isHolding: Bool { readers.contains { $0.held != nil } }

    /// Oldest version held by this process, and where it was frozen.
    func oldest() -> VersionPin? {
        state.withLock { state in
            let held = state.readers.compactMap(\.held).min { $0.version < $1.version }
            guard let held else { return nil }
            let place = state.frozen.values.first { $0.version == held.version }
            return VersionPin(
                version: held.version, age: .nanoseconds(max(0, monotonicNs() - held.sinceNs)), process: getpid(),
                place: place.map { "\($0.file):\($0.line)" })
        }
    }
}

/// A reader in LMDB's reader table that holds a transaction.
struct EngineReader: Equatable {
    let process: Int32
    let transactionID: UInt64

    /// Readers of all processes. LMDB lists them as text: process, thread, transaction or a dash.
    static func all(_ environment: OpaquePointer) -> [EngineReader] {
        final class Lines { var readers: [EngineReader] = [] }
        let lines = Lines()
        _ = mdb_reader_list(
            environment,
            { text, context in
                let fields = String(cString: text!).split(whereSeparator: { $0 == " " || $0 == "\n" })
                if fields.count == 3, let process = Int32(fields[0]), let id = UInt64(fields[2]) {
                    let lines = ObjectPointer.object(context!, as: Lines.self)
                    lines.readers.append(EngineReader(process: process, transactionID: id))
                }
                return 0
            }, ObjectPointer.borrowed(lines))
        return lines.readers
    }
}
