// Waiting notifications of a queue, in order, found by type, by poster and by both. So coalescing costs the same
// however many wait. Plain data of one thread.
import Foundation

struct PendingNotifications {
    struct Entry {
        let notification: any TypedNotification
        let type: ObjectIdentifier
        /// Retained, so that its address identifies the poster while the entry waits.
        let poster: AnyObject
        let timing: NotificationTiming
        let modes: Set<RunLoop.Mode>
    }

    private struct Pair: Hashable {
        let type: ObjectIdentifier
        let poster: ObjectIdentifier
    }

    private var slots: [(entry: Entry, number: Int)?] = []
    private var free: [Int] = []
    private var byTiming = Chains<NotificationTiming>()
    private var byType = Chains<ObjectIdentifier>()
    private var byPoster = Chains<ObjectIdentifier>()
    private var byBoth = Chains<Pair>()

    var count: Int { slots.count - free.count }
    private(set) var addedCount = 0

    mutating func append(_ entry: Entry) {
        let slot = free.popLast() ?? slots.count
        if slot == slots.count { slots.append(nil) }
        slots[slot] = (entry, addedCount)
        addedCount += 1
        byTiming.append(slot, to: entry.timing)
        byType.append(slot, to: entry.type)
        byPoster.append(slot, to: ObjectIdentifier(entry.poster))
        byBoth.append(slot, to: Pair(type: entry.type, poster: ObjectIdentifier(entry.poster)))
    }

    /// Removes the entries that a new notification coalesces with, if any. O(1) for each of them.
    /// - Returns: the removed entries, so that the caller releases user objects.
    mutating func removeAll(
        matching coalescing: NotificationCoalescing, _ type: ObjectIdentifier, _ poster: ObjectIdentifier
    ) -> [Entry] {
        var removed: [Entry] = []
        while let slot = first(coalescing, type, poster) { removed.append(remove(slot)) }
        return removed
    }

    private func first(
        _ coalescing: NotificationCoalescing, _ type: ObjectIdentifier, _ poster: ObjectIdentifier
    ) -> Int? {
        switch (coalescing.contains(.onType), coalescing.contains(.onPoster)) {
        case (true, true): byBoth.first(Pair(type: type, poster: poster))
        case (true, false): byType.first(type)
        case (false, true): byPoster.first(poster)
        case (false, false): nil
        }
    }

    /// Removes and returns the first entry of a timing and mode with a number below `end`. Entries are numbered from 0
    /// in the order in which they were added. O(entries of the timing for other modes).
    mutating func takeFirst(_ timing: NotificationTiming, in mode: RunLoop.Mode, before end: Int) -> Entry? {
        var next = byTiming.first(timing)
        while let slot = next, let (entry, number) = slots[slot], number < end {
            if entry.modes.contains(mode) { return remove(slot) }
            next = byTiming.next(slot)
        }
        return nil
    }

    /// Returns whether an entry of a timing waits for a mode. O(entries of the timing for other modes).
    func contains(_ timing: NotificationTiming, in mode: RunLoop.Mode) -> Bool {
        var next = byTiming.first(timing)
        while let slot = next, let (entry, _) = slots[slot] {
            if entry.modes.contains(mode) { return true }
            next = byTiming.next(slot)
        }
        return false
    }

    private mutating func remove(_ slot: Int) -> Entry {
        let entry = slots[slot]!.entry
        byTiming.remove(slot, from: entry.timing)
        byType.remove(slot, from: entry.type)
        byPoster.remove(slot, from: ObjectIdentifier(entry.poster))
        byBoth.remove(slot, from: Pair(type: entry.type, poster: ObjectIdentifier(entry.poster)))
        slots[slot] = nil
        free.append(slot)
        return entry
    }
}
