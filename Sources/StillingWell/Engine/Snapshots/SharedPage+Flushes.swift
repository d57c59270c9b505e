// Words about flushes in the page that processes share. Once the store is open, they are written with the flush mutex
// held, except `flushWish`, `flushRound`, and the holds of a process, which it writes itself.
import CStillingWellPlatform
import Glibc

extension SharedPage {
    /// Mutex held during a flush.
    var flushMutex: UnsafeMutablePointer<pthread_mutex_t> {
        (base + Layout.flushMutex).assumingMemoryBound(to: pthread_mutex_t.self)
    }
    /// LMDB transaction recorded as flushed, the number of its record, and its token.
    var flushed: UnsafeMutablePointer<UInt64> { longWord(Layout.flushed) }
    var flushNumber: UnsafeMutablePointer<UInt64> { longWord(Layout.flushNumber) }
    var flushToken: UnsafeMutablePointer<UInt64> { longWord(Layout.flushToken) }
    /// Number of the flush that began last, which may be unfinished.
    var flushBegun: UnsafeMutablePointer<UInt64> { longWord(Layout.flushBegun) }
    /// Number of times that the flush mutex was released.
    var flushRound: UnsafeMutablePointer<UInt32> { word(Layout.flushRound) }
    /// Number of requests for a flush.
    var flushWish: UnsafeMutablePointer<UInt32> { word(Layout.flushWish) }
    /// Error number of a failed flush. Stays set until the page is initialised.
    var flushFailure: UnsafeMutablePointer<UInt32> { word(Layout.flushFailure) }

    /// Versions that a process reads for flushes: the one it holds, and the one being flushed.
    enum HoldKind: Int, CaseIterable { case held, next }

    private func word(of hold: HoldKind, _ index: Int) -> UnsafeMutablePointer<UInt64> {
        slot(index).version + 1 + hold.rawValue
    }

    /// Stores an LMDB transaction number; 0 for none.
    func setHold(_ transaction: UInt64, _ hold: HoldKind, ofSlot index: Int) {
        cp_store64(word(of: hold, index), transaction)
    }

    /// Readers of all living processes that exist only for flushes.
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
