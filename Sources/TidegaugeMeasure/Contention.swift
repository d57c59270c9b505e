// Whether a trial's threads waited for processors that somebody else had. Pressure stall information cannot tell: two busy
// writers and their observers on two cores make as much of it as any neighbour. Two facts together can: how long the trial's
// own threads stood in a run queue (schedstat, per thread and exact), and how much of the processors' busy time was not the
// trial's (/proc/stat, less the trial's CPU clock). While a thread waits, every processor it might have had is busy, with the
// trial's work or with another's, so of its waiting the neighbours' share of that work is theirs. A trial that has the machine
// for itself waits for itself alone, however long: its neighbours' share is nothing. A neighbour that leaves a processor free
// makes nobody wait, and is no contention either.

/// The trial's part and the neighbours' over a window.
public struct Contention: Codable, Sendable, Equatable {
    /// The trial's threads, without the harness's own: on a processor, and waiting for one.
    public var ranNs: Int64
    public var waitedNs: Int64
    /// CPU of all threads of the trial's processes.
    public var ownNs: Int64
    /// CPU of everybody else on the machine, as little as the kernel's ticks allow.
    public var neighbourNs: Int64

    /// Of the time in which threads ran or would have run but for neighbours, what neighbours took: 0.5 is half speed.
    public var waitShare: Double {
        guard waitedNs > 0, neighbourNs > 0 else { return 0 }
        let theirs = Double(waitedNs) * Double(neighbourNs) / Double(max(ownNs, 0) + neighbourNs)
        return theirs / (Double(max(ranNs, 0)) + theirs)
    }
}

/// Counters at one moment; a window is the difference of two.
public struct RunQueueReading: Sendable, Equatable {
    public struct Thread: Sendable, Equatable {
        public var ranNs: Int64
        public var waitedNs: Int64
        /// Of another process of the trial, whose CPU is not in `processNs`.
        public var isHelper = false
    }

    /// By kernel id.
    public var threads: [Int32: Thread]
    /// CPU clock of this process, threads that ended included.
    public var processNs: Int64
    /// Busy time of all processors, in ticks of the kernel.
    public var machineNs: Int64
    /// One tick of each processor: what `machineNs` may be off by.
    public var resolutionNs: Int64

    /// Threads that are in both readings; of those born or ended in between, the CPU clock alone.
    public func since(_ earlier: RunQueueReading) -> Contention {
        var ranNs: Int64 = 0
        var waitedNs: Int64 = 0
        var ownNs = processNs - earlier.processNs
        for (id, thread) in threads {
            guard let before = earlier.threads[id], thread.ranNs >= before.ranNs else { continue }
            ranNs += thread.ranNs - before.ranNs
            waitedNs += max(0, thread.waitedNs - before.waitedNs)
            if thread.isHelper { ownNs += thread.ranNs - before.ranNs }
        }
        return Contention(
            ranNs: ranNs, waitedNs: waitedNs, ownNs: ownNs,
            neighbourNs: max(0, machineNs - earlier.machineNs - ownNs - resolutionNs))
    }
}
