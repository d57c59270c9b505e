// Measures how long an observing thread is blocked in a call of the store. After a writer's commit it begins a write or
// refreshes, as an application's main thread does on a tap. One call at a time, on the first delivery context, between
// deliveries.
//
// `isPending` is set by the requesting thread and cleared by the delivery context.
import StillingWellSync
import Synchronization
import TidegaugeDriver
import TidegaugeMeasure
import TidegaugeSpec
import TidegaugeTrial

final class StallProbe: Companion, Sendable {
    private struct Sample: BitwiseCopyable {
        var beginNs: Int64
        var grantedNs: Int64
    }

    private let store: any CallableOnSite
    private let site: DeliveryContext
    private let call: SiteCall
    private let timeoutNs: Int64
    private let isPending = Atomic<Bool>(false)
    private let samples = DeliveryBound<[Sample]>([])
    private let fault = DeliveryBound<(any Error)?>(nil)

    init?(_ spec: TrialSpec, _ store: any DrivenStore, _ group: ObserverGroup) throws {
        guard let site = group.sites.first else { return nil }
        switch spec.observers.calls {
        case .none: return nil
        case .beginWrite: call = .beginWrite
        case .refresh: call = .refresh
        }
        self.store = try store.conforming(to: (any CallableOnSite).self)
        self.site = site
        timeoutNs = spec.hangTimeoutNs
    }

    /// Requests a call unless one is pending. Any thread.
    func request() {
        guard !isPending.exchange(true, ordering: .acquiringAndReleasing) else { return }
        site.perform { [self] in measure() }
    }

    private func measure() {
        defer { isPending.store(false, ordering: .releasing) }
        guard fault.value == nil else { return }
        if samples.value.isEmpty { samples.value.reserveCapacity(1 << 16) }
        var sample = Sample(beginNs: MonotonicClock.nowNs(), grantedNs: 0)
        do {
            try store.call(call, at: site.deliverySite) { sample.grantedNs = MonotonicClock.nowNs() }
            samples.value.append(sample)
        } catch {
            fault.value = error
        }
    }

    /// Reports the calls that began in the window. Call it after the last writer has ended.
    /// - Throws: `TrialFault.store` if a call failed; `TrialFault.hang` if the delivery context does not answer.
    func end(into findings: inout Findings) throws {
        let (samples, fault) = try site.run(timeoutNs: timeoutNs) { [self] () -> ([Sample], (any Error)?) in
            (self.samples.value, self.fault.value)
        }
        if let fault { throw TrialFault.store("a call on \(site.name) failed: \(fault)") }
        var histogram = LatencyHistogram()
        for sample in samples where findings.window.contains(sample.beginNs) {
            histogram.record(sample.beginNs, sample.grantedNs, seenUntil: sample.grantedNs)
        }
        findings.stalls = histogram
    }
}
