// Faults of a server: a restart, cut connections, a stopped observer, a large transaction. The conducting thread
// performs them, except the large transaction, which has its own thread.
import StillingWellSync
import TidegaugeDriver
import TidegaugeMeasure
import TidegaugeSpec

final class ServerFault: Companion {
    private let fault: FaultSpec
    private let store: any HarmableServer
    private var harmedNs: Int64?
    private var stopped: AnyObject?
    private var thread: TracedThread?
    private let failure = Guarded<(any Error)?>("server fault", nil)

    init(_ fault: FaultSpec, _ store: any DrivenStore) throws {
        self.fault = fault
        self.store = try store.conforming(to: (any HarmableServer).self)
    }

    func look(_ sinceNs: Int64) throws {
        if harmedNs == nil, sinceNs >= fault.atNs {
            harmedNs = MonotonicClock.nowNs()
            try harm()
        }
        if fault.kind == .observerStopped, sinceNs >= fault.atNs + fault.lengthNs { stopped = nil }
    }

    private func harm() throws {
        switch fault.injection {
        case .serverRestarted: try store.restartServer()
        case .connectionCut: try store.cutObservers()
        case .observerStopped: stopped = try store.stopListener()
        case .largeTransaction(_, let rows):
            thread = TracedThread("large") { [store, failure] in
                do { try store.commitLarge(rows: rows) } catch { failure.withLock { $0 = error } }
            }
        case .none, .stall, .slowdown, .loss, .reorder, .writerKilled, .writerStopped, .observerKilled, .diskFull,
            .slowFsync, .clockStep:
            break
        }
    }

    func end(into findings: inout Findings) throws {
        thread?.join()
        stopped = nil
        if let failure = failure.withLock({ $0 }) { throw failure }
        findings.harmedNs = harmedNs
    }
}
