// Who keeps old versions in the file: this process's snapshots, with the places where they were frozen, and those of
// other processes as the engine's table of readers has them. The lock is a leaf. What a reader holds is atomic: it is written by
// whoever opens and ends snapshots, without the lock.
import CLMDB
import Glibc
import TracedSync

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

package final class PinList: Sendable {
    private struct State {
        var frozen: [ObjectIdentifier: (version: UInt64, file: String, line: Int)] = [:]
        var readers: [SnapshotReader] = []
    }

    private let state = Guarded("pins", State())

    /// Notes what holds a version, until that is removed.
    package func add(_ pin: ObjectIdentifier, version: UInt64, file: String, line: Int) {
        state.withLock { $0.frozen[pin] = (version, file, line) }
    }

    package func remove(_ pin: ObjectIdentifier) { state.withLock { $0.frozen[pin] = nil } }

    /// Called once for each reader that is made.
    func add(_ reader: SnapshotReader) { state.withLock { $0.readers.append(reader) } }

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
struct EngineReader {
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

extension Storage {
    /// How many versions the file keeps: the newest, and all since the oldest that some process still reads.
    package func activeVersions() -> Int {
        var info = MDB_envinfo()
        mdb_env_info(environment, &info)
        let newest = UInt64(info.me_last_txnid)
        let oldest = EngineReader.all(environment).map(\.transactionID).min() ?? newest
        return Int(newest - min(oldest, newest)) + 1
    }

    /// The oldest pin of all processes; nil when nobody holds a version older than the newest.
    package func oldestPin() -> VersionPin? {
        guard let newest = try? openSnapshot() else { return pins.oldest() }
        var info = MDB_envinfo()
        mdb_env_info(environment, &info)
        let own = pins.oldest()
        let other = EngineReader.all(environment).filter { $0.process != getpid() }
            .min { $0.transactionID < $1.transactionID }
            .map { reader in
                let lag = UInt64(info.me_last_txnid) - min(reader.transactionID, UInt64(info.me_last_txnid))
                return VersionPin(
                    version: newest.version - min(lag, newest.version), ageSeconds: nil, process: reader.process,
                    place: nil)
            }
        let oldest = [own, other].compactMap(\.self).min { $0.version < $1.version }
        return oldest.flatMap { $0.version < newest.version ? $0 : nil }
    }
}
