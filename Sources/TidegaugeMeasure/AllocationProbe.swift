// Bytes allocated, by jemalloc's own counters. The library replaces malloc for the whole process, Swift's allocations
// included; builds without it (sanitizers bring their own allocator) have no counters, and the columns are empty.
import CStillingWellPlatform

#if HAVE_JEMALLOC
    import CTidegaugeJemalloc
#endif

/// Counters of one thread's allocations. Reading costs a load: no call, no lock.
public struct ThreadAllocations: Sendable {
    /// Points into the thread's own jemalloc state and lives as long as the thread.
    nonisolated(unsafe) private let allocated: UnsafePointer<UInt64>

    /// Counters of the calling thread; `nil` where jemalloc is not linked. They may be read from another thread as
    /// long as this one lives (the value may then be a moment old).
    public init?() {
        #if HAVE_JEMALLOC
            guard let counter = AllocationProbe.value("thread.allocatedp", nil as UnsafePointer<UInt64>?),
                let allocated = counter
            else { return nil }
            self.allocated = allocated
        #else
            return nil
        #endif
    }

    /// Bytes the thread has allocated in its life, as size classes: what was taken, not what was asked for.
    public var allocatedBytes: UInt64 { allocated.pointee }
}

/// What is known of the process's heap.
public enum AllocationProbe {
    /// Whether this build counts allocations at all.
    public static var isAvailable: Bool { ThreadAllocations() != nil }

    /// Bytes allocated and not freed, over all threads, as of now; where jemalloc is not linked as a sanitizer's allocator
    /// says, or glibc's. Refreshes jemalloc's statistics, which takes its locks for some 200 µs: seldom within the window.
    public static func liveBytes() -> UInt64? {
        #if HAVE_JEMALLOC
            return moveEpoch() ? value("stats.allocated", 0).map { UInt64($0) } : nil
        #else
            return cp_heap_bytes()
        #endif
    }

    /// What all threads have asked for since the process began; `nil` where jemalloc is not linked. What a thread's own
    /// cache has served counts when that cache was last looked through, so that short spans are a few per cent off. Takes
    /// jemalloc's locks, for some 200 µs: outside the window, or at its ends.
    public static func processTotals() -> AllocationTotals? {
        #if HAVE_JEMALLOC
            guard moveEpoch() else { return nil }
            var totals = AllocationTotals()
            // 4096 stands for all arenas together (MALLCTL_ARENAS_ALL).
            for (kind, classes, size) in [("bins", "nbins", "bin"), ("lextents", "nlextents", "lextent")] {
                guard let count = value("arenas.\(classes)", UInt32(0)) else { return nil }
                for index in 0..<count {
                    guard let requests = value("stats.arenas.4096.\(kind).\(index).nrequests", UInt64(0)),
                        let bytes = value("arenas.\(size).\(index).size", 0)
                    else { return nil }
                    totals.count += Int64(requests)
                    totals.bytes += Int64(requests) * Int64(bytes)
                }
            }
            return totals
        #else
            return nil
        #endif
    }

    #if HAVE_JEMALLOC
        /// Statistics are cached until the epoch moves.
        private static func moveEpoch() -> Bool {
            var epoch: UInt64 = 1
            return mallctl("epoch", nil, nil, &epoch, MemoryLayout<UInt64>.size) == 0
        }

        fileprivate static func value<Value: BitwiseCopyable>(_ name: String, _ initial: Value) -> Value? {
            var (value, size) = (initial, MemoryLayout<Value>.size)
            let code = withUnsafeMutableBytes(of: &value) { mallctl(name, $0.baseAddress, &size, nil, 0) }
            return code == 0 ? value : nil
        }
    #endif
}

/// Allocations and their bytes, as size classes.
public struct AllocationTotals: Codable, Sendable, Equatable {
    public var count: Int64 = 0
    public var bytes: Int64 = 0

    public static func - (later: AllocationTotals, earlier: AllocationTotals) -> AllocationTotals {
        AllocationTotals(count: later.count - earlier.count, bytes: later.bytes - earlier.bytes)
    }
}
