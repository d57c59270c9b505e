// Metrics of counted trials: a quantity per commit, summed over the threads of a role. Each is named `ROLE_QUANTITY`,
// and its entry is derived from the two parts.

/// A quantity that a counted trial counts by role of threads.
public enum CountedQuantity: String, CaseIterable, Sendable {
    case instructions, allocations
    case systemCalls = "system_calls"
    case reads

    fileprivate var roles: [CountedRole] {
        switch self {
        case .instructions: CountedRole.allCases
        // `upkeep_allocations` is left out here: it comes from allocator statistics of a timed trial, not from
        // counting.
        case .allocations: [.writer, .observer]
        case .systemCalls, .reads: [.writer, .upkeep, .observer]
        }
    }

    fileprivate func entry(_ role: CountedRole) -> MetricEntry {
        let threads = "by \(role.threads), per commit that affects an observer"
        let (unit, kind, definition): (MetricEntry.Unit, MetricEntry.Kind, String) =
            switch self {
            case .instructions:
                (
                    .instructionsPerCommit, .instruction,
                    "of a counted trial: instructions in user space \(threads), without those of idle iterations of "
                        + "the harness; the flag names the counter"
                )
            case .allocations:
                (
                    .allocationsPerCommit, .allocation,
                    "of a counted trial under callgrind: calls of the allocator \(threads)"
                )
            case .systemCalls:
                (.systemCallsPerCommit, .access, "of a counted trial under callgrind: system calls \(threads)")
            case .reads:
                (
                    .readsPerCommit, .access,
                    "of a counted trial under callgrind: reads of the storage engine (`mdb_get`, `mdb_cursor_get` and "
                        + "`sqlite3_step`: rows, entries of indexes and of logs) \(threads)"
                )
            }
        return MetricEntry(unit, kind, from: .companions, needs: [.setting(.countedForm)], definition)
    }
}

/// The threads whose work a counted metric sums up.
public enum CountedRole: String, CaseIterable, Sendable {
    case writer, upkeep, observer, engine

    fileprivate var threads: String {
        switch self {
        case .writer: "the writing threads"
        case .upkeep: "the engine's background threads, as far as the driver names them"
        case .observer: "the threads that deliveries run on"
        case .engine: "all threads but the conducting one"
        }
    }
}

extension Metric {
    private static let countedMetrics = Dictionary(
        uniqueKeysWithValues: CountedQuantity.allCases.flatMap { quantity in
            quantity.roles.map { role in
                guard let metric = Metric(rawValue: "\(role.rawValue)_\(quantity.rawValue)") else {
                    preconditionFailure("Metric has no case for the \(quantity) of the \(role)")
                }
                return (metric, (quantity: quantity, role: role))
            }
        })

    /// Quantity and role of a metric of counted trials, or nil for other metrics.
    public var counted: (quantity: CountedQuantity, role: CountedRole)? { Self.countedMetrics[self] }

    /// Entry of a metric of counted trials. Traps for other metrics.
    var countedEntry: MetricEntry {
        guard let counted else { preconditionFailure("CountedQuantity makes no \(rawValue)") }
        return counted.quantity.entry(counted.role)
    }
}
