// Bytes allocated, by jemalloc's own counters. The library replaces malloc for the whole process, Swift's allocations
// included; builds without it (sanitizers bring their own allocator) have no counters, and the columns say n/a.
import CPlatform

#if HAVE_JEMALLOC
    import CJemalloc
#endif

/// Counters of one thread's allocations. Reading costs a load: no call, no lock.
public struct ThreadAllocations: Sendable {
    // Both point into the thread's own jemalloc state and live as long as the thread.
    nonisolated(unsafe) private let allocated: UnsafePointer<UInt64>
    nonisolated(unsafe) private let deallocated: UnsafePointer<UInt64>

    /// Counters of the calling thread; `nil` where jemalloc is not linked. They may be read from another thread as
    /// long as this one lives (the value may then be a moment old).
    public init?() {
        guard let allocated = AllocationProbe.counterPointer("thread.allocatedp"),
            let deallocated = AllocationProbe.counterPointer("thread.deallocatedp")
        else { return nil }
        (self.allocated, self.deallocated) = (allocated, deallocated)
    }

    /// Bytes the thread has allocated in its life, as size classes: what was taken, not what was asked for.
    public var allocatedBytes: UInt64 { allocated.pointee }
    /// Bytes the thread has freed in its life, whoever had allocated them.
    public var deallocatedBytes: UInt64 { deallocated.pointee }
}

/// What is known of the process's heap.
public enum AllocationProbe {
    /// Whether this build counts allocations at all.
    public static var isAvailable: Bool { counterPointer("thread.allocatedp") != nil }

    /// Bytes the calling thread has allocated in its life; `nil` where jemalloc is not linked. For repeated reading
    /// keep a `ThreadAllocations`.
    public static func threadAllocatedBytes() -> UInt64? { ThreadAllocations()?.allocatedBytes }

    /// Bytes allocated and not freed, over all threads, as of now; where jemalloc is not linked as a sanitizer's allocator
    /// says, or glibc's. Refreshes jemalloc's statistics, which takes its locks for some 200 µs: seldom within the window.
    public static func liveBytes() -> UInt64? {
        #if HAVE_JEMALLOC
            // Statistics are cached until the epoch moves.
            var epoch: UInt64 = 1
            guard mallctl("epoch", nil, nil, &epoch, MemoryLayout<UInt64>.size) == 0 else { return nil }
            var bytes = 0
            var size = MemoryLayout<Int>.size
            guard mallctl("stats.allocated", &bytes, &size, nil, 0) == 0 else { return nil }
            return UInt64(bytes)
        #else
            return cp_heap_bytes()
        #endif
    }

    /// What all threads have asked for since the process began; `nil` where jemalloc is not linked. What a thread's own
    /// cache has served counts when that cache was last looked through, so that short spans are a few per cent off. Takes
    /// jemalloc's locks, for some 200 µs: outside the window, or at its ends.
    public static func processTotals() -> AllocationTotals? {
        #if HAVE_JEMALLOC
            var epoch: UInt64 = 1
            guard mallctl("epoch", nil, nil, &epoch, MemoryLayout<UInt64>.size) == 0 else { return nil }
            var totals = AllocationTotals()
            // 4096 stands for all arenas together (MALLCTL_ARENAS_ALL).
            for (kind, classes, size) in [("bins", "nbins", "bin"), ("lextents", "nlextents", "lextent")] {
                guard let count: UInt32 = value("arenas.\(classes)") else { return nil }
                for index in 0..<count {
                    guard let requests: UInt64 = value("stats.arenas.4096.\(kind).\(index).nrequests"),
                        let bytes: Int = value("arenas.\(size).\(index).size")
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
        private static func value<Number: FixedWidthInteger>(_ name: String) -> Number? {
            var value: Number = 0
            var size = MemoryLayout<Number>.size
            return mallctl(name, &value, &size, nil, 0) == 0 ? value : nil
        }
    #endif

    static func counterPointer(_ name: String) -> UnsafePointer<UInt64>? {
        #if HAVE_JEMALLOC
            var pointer: UnsafePointer<UInt64>?
            var size = MemoryLayout<UnsafePointer<UInt64>?>.size
            guard mallctl(name, &pointer, &size, nil, 0) == 0 else { return nil }
            return pointer
        #else
            return nil
        #endif
    }
}

/// Allocations and their bytes, as size classes.
public struct AllocationTotals: Codable, Sendable, Equatable {
    public var count: Int64 = 0
    public var bytes: Int64 = 0

    public static func - (later: AllocationTotals, earlier: AllocationTotals) -> AllocationTotals {
        AllocationTotals(count: later.count - earlier.count, bytes: later.bytes - earlier.bytes)
    }
}
