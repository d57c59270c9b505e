// Detects threads of a trial that waited for processors used by other programs. Pressure stall information does not
// suffice: two writers and their observers on two cores cause as much as a co-tenant. Two facts together do: the time
// that the trial's threads spent in run queues (schedstat, exact per thread), and the processors' busy time outside
// the trial (/proc/stat minus the trial's CPU time). While a thread waits, all its processors are busy with the trial
// or with others. So the others' share of the busy time is taken as their share of the waiting. A trial alone on the
// machine only waits for itself. A co-tenant that leaves a processor free causes no waiting.

/// CPU and waiting time of the trial and of other programs in a window.
public struct Contention: Codable, Sendable, Equatable {
    /// Time that the trial's threads, without the harness's, ran or waited for a processor.
    public var ranNs: Int64
    public var waitedNs: Int64
    /// CPU time of this process, and of threads of its child processes that are in both readings.
    public var ownNs: Int64
    /// Busy time of the processors beyond `ownNs`, less the resolution of the kernel's ticks.
    public var othersNs: Int64

    /// Estimated share of the trial's possible run time that other programs took: 0.5 means half speed.
    public var waitShare: Double {
        guard waitedNs > 0, othersNs > 0 else { return 0 }
        let theirs = Double(waitedNs) * Double(othersNs) / Double(max(ownNs, 0) + othersNs)
        return theirs / (Double(max(ranNs, 0)) + theirs)
    }
}

/// Counters at one time. A window is the difference of two readings.
public struct RunQueueReading: Sendable, Equatable {
    public struct Thread: Sendable, Equatable {
        public var ranNs: Int64
        public var waitedNs: Int64
        /// Whether the thread is in another process of the trial, whose CPU time is not in `processNs`.
        public var isHelper = false
    }

    /// Threads by kernel ID.
    public var threads: [Int32: Thread]
    /// CPU time of this process, including ended threads.
    public var processNs: Int64
    /// Busy time of all processors, with the resolution of kernel ticks.
    public var machineNs: Int64
    /// Allowance for the error of `machineNs`: one tick per processor.
    public var resolutionNs: Int64

    /// Returns the difference of two readings. Threads that are not in both are left out, except from the CPU time of
    /// this process.
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
            othersNs: max(0, machineNs - earlier.machineNs - ownNs - resolutionNs))
    }
}
