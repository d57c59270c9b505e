// Detects torn transactions. Every commit of a writer moves an amount between two rows. On each delivery context an
// auditor sums all such rows within its callbacks, through the live collection itself.
import TidegaugeDriver
import TidegaugeSpec

final class Audit: Companion {
    private let auditors: [Auditor]
    private let spec: TrialSpec

    /// Subscribes one auditor on every delivery context; none if the scenario has no audit or the store has no
    /// contents.
    init(_ setup: TrialSetup) throws {
        spec = setup.spec
        let isAsked = spec.observers.audit == .sums && setup.driver.capabilities.hasContents
        auditors = try (isAsked ? setup.group.sites : []).map { site in
            let auditor = Auditor(site, rows: setup.dataset.auditedRows)
            try site.run(timeoutNs: setup.spec.hangTimeoutNs) { [store = setup.store] in
                auditor.subscription = try store.subscribe(
                    to: Query(group: Dataset.auditedGroup), at: site.deliverySite, sink: auditor)
            }
            return auditor
        }
    }

    /// Ends the auditors. Reports the number of audits, and a violation of each auditor that has one.
    func end(into findings: inout Findings) throws {
        var audits = 0
        for auditor in auditors {
            auditor.subscription?.cancel()
            let (count, violation) = try auditor.site.run(timeoutNs: spec.hangTimeoutNs) {
                auditor.subscription = nil
                return (auditor.audits, auditor.violation)
            }
            audits += count
            if let violation { findings.violations.append(violation) }
        }
        if spec.observers.audit == .sums { findings.counts["audits"] = audits }
    }
}

/// Sums the audited rows in callbacks until a violation.
///
/// Unchecked because all mutable state is changed on the delivery context, and read elsewhere only after
/// `DeliveryContext.run`.
private final class Auditor: DeliverySink, @unchecked Sendable {
    let site: DeliveryContext
    var subscription: (any DriverSubscription)?
    private let rows: Int
    private(set) var audits = 0
    private(set) var violation: String?

    init(_ site: DeliveryContext, rows: Int) { (self.site, self.rows) = (site, rows) }

    func deliver(_ delivery: borrowing Delivery) {
        guard let subscription, violation == nil else { return }
        audits += 1
        let version = delivery.version.map { "version \($0)" } ?? "a callback without a version"
        do {
            let items = try subscription.currentItems()
            let sum = items.reduce(Int64(0)) { $0 &+ $1.stamp }
            guard sum != 0 || items.count != rows else { return }
            let shown = items.map { "row \($0.key) has \($0.stamp)" }.joined(separator: ", ")
            violation =
                "atomicity: on \(site.name), at \(version), \(items.count) of \(rows) audited rows add up to \(sum) and not "
                + "to 0: \(shown)"
        } catch {
            violation = "atomicity: on \(site.name), at \(version), the audited rows cannot be read: \(error)"
        }
    }

    func fail(_ error: any Error) {
        let sentence = "atomicity: the subscription of the auditor on \(site.name) failed: \(error)"
        // The engine may call on any thread.
        site.perform { [self] in violation = violation ?? sentence }
    }
}
