// Who keeps old versions in the file: this process's snapshots, with the places where they were frozen, and those of
// other processes as the engine's table of readers has them. The lock is a leaf. What a reader holds is atomic: it is written by
// whoever opens and ends snapshots, without the lock.
import CStillingWellLMDB
import Glibc
import StillingWellSync

/// Something that keeps a version, and all that came after it, in the file.
public struct VersionPin: Sendable, Equatable {
    /// The version that is kept.
    public let version: UInt64
    /// How long it has been held; nil for one of another process.
    public let ageSeconds: Double?
    /// The process that holds it.
    public let process: Int32
    /// Where in the program it was frozen; nil if a connection, or a read that is running, holds it.
    public let place: String?
}

final class PinList: Sendable {
    private struct State {
        var frozen: [ObjectIdentifier: (version: UInt64, file: String, line: Int)] = [:]
        var readers: [SnapshotReader] = []
    }

    private let state = Guarded("pins", State())

    /// Notes what holds a version, until that is removed.
    func add(_ pin: ObjectIdentifier, version: UInt64, file: String, line: Int) {
        state.withLock { $0.frozen[pin] = (version, file, line) }
    }

    func remove(_ pin: ObjectIdentifier) { state.withLock { $0.frozen[pin] = nil } }

    /// Called once for each reader that is made.
    func add(_ reader: SnapshotReader) { state.withLock { $0.readers.append(reader) } }

    private var readers: [SnapshotReader] { state.withLock { $0.readers } }

    /// The oldest version that is read by a mapping and kept in the file, and since when.
    func oldest(readBy map: ReadMap) -> (version: UInt64, sinceNs: Int64)? {
        readers.compactMap { $0.pinned(by: map) == nil ? nil : $0.held }.min { $0.version < $1.version }
    }

    /// The oldest transaction of the engine's that readers of a mapping keep in the file.
    func oldestPinned(by map: ReadMap) -> UInt64? { readers.compactMap { $0.pinned(by: map) }.min() }

    /// Has the readers of a mapping keep nothing in the file.
    func unpin(_ map: ReadMap) { for reader in readers { reader.unpin(map) } }

    /// Whether nobody reads by a mapping any more.
    func leave(_ map: ReadMap, for next: ReadMap) -> Bool {
        readers.map { $0.leave(map, for: next) }.allSatisfy(\.self)
    }

    /// Whether this process holds any version.
    var isHolding: Bool { readers.contains { $0.held != nil } }

    /// The oldest version held by this process, and where it was frozen.
    func oldest() -> VersionPin? {
        state.withLock { state in
            let held = state.readers.compactMap(\.held).min { $0.version < $1.version }
            guard let held else { return nil }
            let place = state.frozen.values.first { $0.version == held.version }
            let age = Double(monotonicNs() - held.sinceNs) / 1e9
            return VersionPin(
                version: held.version, ageSeconds: max(0, age), process: getpid(),
                place: place.map { "\($0.file):\($0.line)" })
        }
    }
}

/// One line of the engine's table of readers that holds something.
struct EngineReader: Equatable {
    let process: Int32
    let transactionID: UInt64

    /// Readers of all processes. The engine tells them as text: process, thread, transaction or a dash.
    static func all(_ environment: OpaquePointer) -> [EngineReader] {
        final class Lines { var readers: [EngineReader] = [] }
        let lines = Lines()
        _ = mdb_reader_list(
            environment,
            { text, context in
                let fields = String(cString: text!).split(whereSeparator: { $0 == " " || $0 == "\n" })
                if fields.count == 3, let process = Int32(fields[0]), let id = UInt64(fields[2]) {
                    let lines = Unmanaged<Lines>.fromOpaque(context!).takeUnretainedValue()
                    lines.readers.append(EngineReader(process: process, transactionID: id))
                }
                return 0
            }, Unmanaged.passUnretained(lines).toOpaque())
        return lines.readers
    }
}
