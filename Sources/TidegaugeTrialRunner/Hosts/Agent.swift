// The agent of a host. It answers pings, starts the process that writes or observes, stops or kills it on request, and
// finally sends what that process recorded.
//
// It has one thread, which waits for its input and for the process together, so nothing needs a lock. Commit records
// lie in memory shared with the process, so they survive however it ends.
import Foundation
import TidegaugeDriver
import TidegaugeMeasure
import TidegaugeSpec
import TidegaugeTrial

public final class Agent {
    private static let progressEveryNs: Int64 = 100_000_000

    /// The writing or observing process and its commit records.
    private struct Worker {
        let process: Subprocess
        let order: HostOrder
        let records: [RecordBuffer<CommitRecord>]
        /// Folder of the records; removed when both processes have mapped them, or when the worker is dismissed.
        let folder: PrivateFolder
        var frames = HostFrameReader()
        /// Whether its records have been sent already.
        var hasLoaded = false
    }

    private let channel = HostChannel()
    private let clock: ScaledClock
    private let describes: Bool
    private var worker: Worker?
    /// Records of ended workers that have not been sent.
    private var kept: [(writer: Int, records: RecordBuffer<CommitRecord>)] = []
    /// The pending fault; its time is on the machine's clock.
    private var fault: HostFault?
    private var stopped: HostFaultReport?
    private var nextProgressNs = Int64.max
    /// Time of the last message from the trial, which pings while the load runs.
    private var heardNs = MonotonicClock.nowNs()

    /// - Parameters:
    ///   - describes: whether the agent reports its binary and its machine.
    ///   - fasterPPM: parts per million by which the simulated clock runs faster.
    public init(describes: Bool, fasterPPM: Int = 0) {
        (self.describes, clock) = (describes, ScaledClock(fasterPPM: fasterPPM))
    }

    /// Runs until the end of standard input.
    /// - Throws: if a frame is invalid or unexpected, if the output is closed, if the process cannot be started or the
    ///   files of its records cannot be made, if the file of this binary cannot be read, or if the trial sends nothing
    ///   for too long.
    public func run() throws {
        defer { worker?.process.kill() }
        let hello = HostHello(
            binarySHA: describes ? try Fingerprint.sha256OfThisBinary() : nil,
            clock: .current(fasterPPM: clock.fasterPPM), cores: ProcessInfo.processInfo.activeProcessorCount)
        try channel.send(HostFrame(.hello, hello))
        while true {
            if try !wait() { return }
            while let frame = try channel.next() { try take(frame) }
            try hear()
            try doFault(MonotonicClock.nowNs())
            if MonotonicClock.nowNs() >= nextProgressNs {
                try checkSilence()
                try tellProgress()
            }
        }
    }

    /// - Returns: false at the end of the input.
    private func wait() throws -> Bool {
        guard let process = worker?.process else { return channel.read() }
        let untilNs = min(nextProgressNs, fault?.atNs ?? .max, releaseNs ?? .max)
        process.advance(untilNs: untilNs, or: HostChannel.input) { _, bytes in worker?.frames.add(bytes) }
        return channel.isReadable ? hearTrial() : true
    }

    private func hearTrial() -> Bool {
        heardNs = MonotonicClock.nowNs()
        return channel.read()
    }

    /// Throws if the trial has been silent for too long, because a broken connection need not end the input.
    private func checkSilence() throws {
        guard let spec = worker?.order.spec else { return }
        let mostNs = spec.hangTimeoutNs + spec.fault.lengthNs + HostFrame.silenceMarginNs
        if MonotonicClock.nowNs() - heardNs > mostNs {
            throw TrialFault.harness(
                "the trial has sent nothing for \(mostNs / 1_000_000) ms: the connection is lost")
        }
    }

    private func take(_ frame: HostFrame) throws {
        switch frame.kind {
        case .ping:
            let nowNs = clock.nowNs
            try channel.send(HostFrame(.pong, integers: try frame.integers(1) + [nowNs, clock.nowNs]))
        case .order: try start(try frame.decoded(HostOrder.self))
        case .start:
            let windowNs = clock.own(try frame.integers(1)[0])
            worker?.process.write(Data(HostFrame(.start, integers: [windowNs]).bytes))
            nextProgressNs = MonotonicClock.nowNs()
        case .fault:
            var asked = try frame.decoded(HostFault.self)
            asked.atNs = clock.own(asked.atNs)
            fault = asked
        case .settle: worker?.process.write(Data(frame.bytes))
        case .stop: try end(HostReport())
        case .hello, .pong, .ready, .progress, .records, .done, .loaded, .observed:
            throw TrialFault.harness("an agent received '\(frame.kind)', which only agents send")
        }
    }

    private func start(_ asked: HostOrder) throws {
        let folder = try PrivateFolder(in: PrivateFolder.memoryPlace)
        var order = asked
        order.recordFiles = asked.writers.map { "\(folder.path)/writer-\($0)" }
        let capacity = TrialSize.commitsPerWriter(order.spec)
        let records = try order.recordFiles.map {
            try RecordBuffer<CommitRecord>(file: $0, capacity: capacity, isNew: true)
        }
        let process = try Subprocess(
            "/proc/\(getpid())/exe", ["agent", "--worker"], input: Data(try HostFrame(.order, order).bytes),
            keepsInputOpen: true, errors: .inherited)
        worker = Worker(process: process, order: order, records: records, folder: folder)
    }

    /// Handles the worker's frames.
    private func hear() throws {
        while let frame = try worker?.frames.next() {
            switch frame.kind {
            case .ready:
                worker?.folder.remove()
                try channel.send(frame)
            case .loaded:
                worker?.hasLoaded = true
                nextProgressNs = .max
                for (writer, records) in zip(worker?.order.writers ?? 0..<0, worker?.records ?? []) {
                    records.takePublished()
                    try send(records, of: writer)
                }
                try channel.send(frame)
            case .observed: try channel.send(frame)
            case .done: return try end(try frame.decoded(HostReport.self))
            case .hello, .ping, .pong, .order, .start, .progress, .fault, .stop, .records, .settle:
                throw TrialFault.harness("a worker sent '\(frame.kind)', which workers do not send")
            }
        }
        guard let exit = worker?.process.exit else { return }
        try end(HostReport(failure: .store("the process that was to write or observe ended (\(exit)); see its log")))
    }

    private func doFault(_ nowNs: Int64) throws {
        if let releaseNs, nowNs >= releaseNs, var report = stopped {
            stopped = nil
            report.releasedNs = clock.nowNs
            worker?.process.signal(SIGCONT)
            try channel.send(HostFrame(.fault, report))
        }
        guard let due = fault, nowNs >= due.atNs, worker != nil else { return }
        fault = nil
        var report = HostFaultReport(kind: due.kind, hitNs: clock.nowNs)
        switch due.kind {
        case .stop:
            worker?.process.signal(SIGSTOP)
            report.releasedNs = report.hitNs + due.lengthNs
            stopped = report
        case .kill:
            dismissWorker()
            report.committed = kept.last?.records.count ?? 0
            report.lastVersion = kept.last?.records.last?.version
            report.lastCommittedNs = kept.last?.records.last.map { clock.shown($0.committedNs) }
            try channel.send(HostFrame(.fault, report))
        }
    }

    /// Time at which the stopped worker continues.
    private var releaseNs: Int64? { stopped?.releasedNs.map { clock.own($0) } }

    /// Kills the worker if it has not ended, and keeps its records if they have not been sent.
    private func dismissWorker() {
        guard let worker else { return }
        worker.process.kill()
        worker.folder.remove()
        for (writer, records) in zip(worker.order.writers, worker.records) where !worker.hasLoaded {
            records.takePublished()
            kept.append((writer, records))
        }
        self.worker = nil
        nextProgressNs = .max
    }

    private func tellProgress() throws {
        let made = (kept.map(\.records) + (worker?.records ?? [])).reduce(0) { $0 + $1.publishedCount }
        try channel.send(HostFrame(.progress, integers: [Int64(made)]))
        nextProgressNs = MonotonicClock.nowNs() + Self.progressEveryNs
    }

    /// Sends the records that have not been sent, or, after a failure, only its reason; the records then follow when
    /// the trial sends `stop`.
    private func end(_ report: HostReport) throws {
        dismissWorker()
        var report = report
        if describes { report.environment = EnvironmentReport.capture(storeDirectories: []) }
        if report.failure == nil {
            for (writer, records) in kept { try send(records, of: writer) }
            kept = []
        }
        try channel.send(HostFrame(.done, report))
    }
}

extension Agent {
    private func send(_ records: RecordBuffer<CommitRecord>, of writer: Int) throws {
        let shown = records.map { record in
            var record = record
            for time in CommitRecord.times { record[keyPath: time] = clock.shown(record[keyPath: time]) }
            return record
        }
        for frame in HostRecords.frames(writer: writer, shown) { try channel.send(frame) }
    }
}

extension CommitRecord {
    /// The times of a record that are on the clock of its writer.
    static var times: [WritableKeyPath<CommitRecord, Int64>] { [\.dueNs, \.beginNs, \.lockedNs, \.committedNs] }
}
