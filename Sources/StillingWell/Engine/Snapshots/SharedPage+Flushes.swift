// What processes tell each other of flushes, in the page that they share. The words are written with the flush mutex, but for the wish, the
// failure, which stays, and what a process holds, which it writes itself.
import CStillingWellPlatform
import Glibc

extension SharedPage {
    /// Held by who flushes.
    var flushMutex: UnsafeMutablePointer<pthread_mutex_t> {
        (base + Layout.flushMutex).assumingMemoryBound(to: pthread_mutex_t.self)
    }
    /// The engine's transaction that is recorded as being on the disk, the number of that record, and which flush it was.
    var flushed: UnsafeMutablePointer<UInt64> { longWord(Layout.flushed) }
    var flushNumber: UnsafeMutablePointer<UInt64> { longWord(Layout.flushNumber) }
    var flushToken: UnsafeMutablePointer<UInt64> { longWord(Layout.flushToken) }
    /// The number of the flush that has begun last, which may have come to no end.
    var flushBegun: UnsafeMutablePointer<UInt64> { longWord(Layout.flushBegun) }
    /// Counts flushes as they end.
    var flushRound: UnsafeMutablePointer<UInt32> { word(Layout.flushRound) }
    /// Counts wishes for one.
    var flushWish: UnsafeMutablePointer<UInt32> { word(Layout.flushWish) }
    /// The error number of one that has failed. It stays.
    var flushFailure: UnsafeMutablePointer<UInt32> { word(Layout.flushFailure) }

    /// What a process reads for the sake of flushes: the version it holds, and the one that is being flushed.
    enum HoldKind: Int, CaseIterable { case held, next }

    private func word(of hold: HoldKind, _ index: Int) -> UnsafeMutablePointer<UInt64> {
        slot(index).version + 1 + hold.rawValue
    }

    /// Notes one of the engine's transactions; 0: none.
    func setHold(_ transaction: UInt64, _ hold: HoldKind, ofSlot index: Int) {
        cp_store64(word(of: hold, index), transaction)
    }

    /// What all living processes read for the sake of flushes, and nobody for its content.
    var holds: [EngineReader] {
        (0..<Layout.slotCount).flatMap { index in
            HoldKind.allCases.compactMap { hold in
                let (pid, transaction) = (cp_load64(slot(index).pid), cp_load64(word(of: hold, index)))
                guard transaction != 0, !Self.isDead(pid), let process = pid_t(exactly: pid) else { return nil }
                return EngineReader(process: process, transactionID: transaction)
            }
        }
    }
}
