// Allocated bytes, from jemalloc's counters. The library replaces malloc for the whole process, including Swift's
// allocations. Builds without it (sanitizers use their own allocator) have no such counters.
import CStillingWellPlatform

#if HAVE_JEMALLOC
    import CTidegaugeJemalloc
#endif

/// Allocation counter of one thread. Reading it is a load, without a call or a lock.
public struct ThreadAllocations: Sendable {
    /// Points into the thread's own jemalloc state and lives as long as the thread.
    nonisolated(unsafe) private let allocated: UnsafePointer<UInt64>

    /// Creates the counter of the calling thread; `nil` without jemalloc's counters. Other threads may read it as long
    /// as the thread lives, and may get a slightly older value.
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

    /// Bytes allocated over the thread's life, as size classes: the allocated sizes, not the requested ones.
    public var allocatedBytes: UInt64 { allocated.pointee }
}

/// Statistics of the process's heap.
public enum AllocationProbe {
    /// Whether this build counts allocations.
    public static var isAvailable: Bool { ThreadAllocations() != nil }

    /// Returns allocated bytes that are not freed, over all threads. Without jemalloc, the value is from a
    /// sanitizer's allocator or glibc. With jemalloc, holds its locks for about 200 µs: call rarely while something is
    /// measured. Nil if the allocator does not report it.
    public static func liveBytes() -> UInt64? {
        #if HAVE_JEMALLOC
            return moveEpoch() ? value("stats.allocated", 0).map { UInt64($0) } : nil
        #else
            return cp_heap_bytes()
        #endif
    }

    /// Returns the requests of all threads since the process started; `nil` without jemalloc's counters. Requests
    /// served from thread caches are counted late, so that short spans can be wrong by a few per cent. Holds jemalloc's
    /// locks for about 200 µs: call before and after the measured part of a trial, not within it.
    public static func processTotals() -> AllocationTotals? {
        #if HAVE_JEMALLOC
            guard moveEpoch() else { return nil }
            var totals = AllocationTotals()
            // 4096 means all arenas together (MALLCTL_ARENAS_ALL).
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
        /// Refreshes jemalloc's cached statistics.
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

/// Number of allocations and their bytes, as size classes.
public struct AllocationTotals: Codable, Sendable, Equatable {
    public var count: Int64 = 0
    public var bytes: Int64 = 0

    public static func - (later: AllocationTotals, earlier: AllocationTotals) -> AllocationTotals {
        AllocationTotals(count: later.count - earlier.count, bytes: later.bytes - earlier.bytes)
    }
}
