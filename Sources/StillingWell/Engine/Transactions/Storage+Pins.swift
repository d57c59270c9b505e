// Versions that the file keeps for readers.
import CStillingWellLMDB
import Glibc

extension Storage {
    /// Records where a version was frozen, until the pin is removed. Wakes the upkeep thread, which may not be woken by
    /// commits at that time.
    func addPin(_ pin: ObjectIdentifier, version: UInt64, file: String, line: Int) {
        pins.add(pin, version: version, file: file, line: line)
        page.ring(.own)
    }

    /// Number of versions from the oldest that some process reads to the newest, counted in LMDB's transactions. Reads
    /// for flushes do not count.
    func activeVersions() -> Int {
        var info = MDB_envinfo()
        mdb_env_info(environment, &info)
        let newest = UInt64(info.me_last_txnid)
        let oldest = readers.map(\.transactionID).min() ?? newest
        return Int(newest - min(oldest, newest)) + 1
    }

    /// Readers of all processes, except those that exist only for flushes.
    private var readers: [EngineReader] {
        var holds = page.holds
        return EngineReader.all(environment).filter { reader in
            guard let index = holds.firstIndex(of: reader) else { return true }
            holds.remove(at: index)
            return false
        }
    }

    /// Oldest pin of all processes, or nil if none holds a version older than the newest. If no snapshot can be opened,
    /// the oldest pin of this process.
    func oldestPin() -> VersionPin? {
        guard let newest = try? openSnapshot() else { return pins.oldest() }
        var info = MDB_envinfo()
        mdb_env_info(environment, &info)
        let own = pins.oldest()
        let other = readers.filter { $0.process != getpid() }
            .min { $0.transactionID < $1.transactionID }
            .map { reader in
                let lag = UInt64(info.me_last_txnid) - min(reader.transactionID, UInt64(info.me_last_txnid))
                return VersionPin(
                    version: newest.version - min(lag, newest.version), age: nil, process: reader.process,
                    place: nil)
            }
        let oldest = [own, other].compactMap(\.self).min { $0.version < $1.version }
        return oldest.flatMap { $0.version < newest.version ? $0 : nil }
    }
}
