// Metrics of resources.
import TidegaugeMeasure
import TidegaugeSpec
import TidegaugeTrial

extension TrialProvider {
    static let resources: [Metric: TrialProvider] = [
        .processCPU: .number { ($0.findings.cpu.perCommitNs, $0.findings.cpu.commits) },
        .writerCPU: .number { $0.cpu(.writer) },
        .upkeepCPU: .number { $0.cpu(.upkeep) },
        .observerCPU: .figures { $0.observerCPU },
        .writerBytes: .number { $0.allocated { $0.writerBytes } },
        .observerBytes: .number { $0.allocated { $0.observerBytes } },
        .engineBytes: .number { $0.allocated { $0.engineBytes } },
        .liveBytes: .held(.often) { _ in AllocationProbe.liveBytes().map { Int($0) } },
        .residentBytes: .held(.often) { _ in ProcessHoldings.residentBytes },
        .fileBytes: .held(.often) { try $0.fileBytes() },
        .openFiles: .held(.atEnds) { _ in ProcessHoldings.openFiles },
        .spaceAmplification: .number { ($0.findings.versions.amplification, 1) },
        .activeVersions: .figures { sheet in
            let versions = sheet.findings.versions
            return [(Statistic.value, versions.last), (.max, versions.highest)].map { statistic, count in
                Figure(.activeVersions, statistic, count.map { Double($0) }, n: 1)
            }
        },
    ]
}

extension FigureSheet {
    fileprivate func cpu(_ role: ThreadRole) -> (value: Double?, n: Int) {
        each(Double(findings.cpu.roleNs[role.rawValue] ?? 0), of: findings.cpu.commits)
    }

    /// Not available for delivery on a dispatch queue: its threads are shared with all other dispatched work, so
    /// their CPU time is not that of deliveries alone.
    fileprivate var observerCPU: [Figure] {
        let isShared = spec.observers.deliver == .queue
        let (value, n) = cpu(.observer)
        return [Figure(.observerCPU, .value, isShared ? nil : value, n: n, flags: isShared ? [.queueThreads] : [])]
    }

    fileprivate func allocated(_ bytes: (AllocationAccount) -> Int64?) -> (value: Double?, n: Int) {
        each(findings.allocations.flatMap(bytes).map { Double($0) }, of: findings.allocations?.commits ?? 0)
    }
}
