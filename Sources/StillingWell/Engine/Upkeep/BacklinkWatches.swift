// Observers of backlinks: they are told when other objects begin or cease to link to their object. Each is registered
// under the table whose rows link to its object. Other tables cost nothing. Upkeep thread only.

struct BacklinkWatches {
    /// One backlink property of one observer.
    private struct Way {
        let watch: ObjectWatch
        /// Index of the property in `ObjectHandle.backlinks`.
        let place: Int

        private var edge: LinkEdge { watch.object.backlinks[place].edge }
        /// Table whose rows link to the object: for a list, the table of its elements.
        var table: UInt32 { edge.elements ?? edge.source }
        var column: Int { edge.elements == nil ? edge.column : ListTable.value }
    }

    /// Registrations by linking table and linked object.
    private var ways: [UInt32: [ObjectID: [Way]]] = [:]
    /// Observers registered at a version that upkeep has not reached, with the snapshot of that version.
    private var ahead: [(watch: ObjectWatch, seen: Snapshot)] = []

    var isEmpty: Bool { ways.isEmpty }
    /// Tables whose changes matter.
    var tables: [UInt32] { Array(ways.keys) }
    func isWatched(_ table: UInt32) -> Bool { ways[table] != nil }

    private static func ways(of watch: ObjectWatch) -> [Way] {
        watch.object.backlinks.indices.map { Way(watch: watch, place: $0) }
    }

    /// Adds an observer.
    /// - Parameters:
    ///   - seen: the snapshot at `object.since`.
    ///   - now: upkeep's snapshot.
    /// - Returns: the update for changes between both, or nil.
    mutating func watch(_ watch: ObjectWatch, seen: Snapshot, now: Snapshot) -> ObjectUpdate? {
        let ways = Self.ways(of: watch)
        for way in ways { self.ways[way.table, default: [:]][watch.object.id, default: []].append(way) }
        if seen.version > now.version { ahead.append((watch, seen)) }
        guard seen.version < now.version else { return nil }
        let tables = Set(ways.map(\.table)).compactMap { now.storage.tablesByID[$0] }
        let changes = NetChanges(
            from: seen, to: now, wanted: { id in tables.first { $0.id == id } }, allWanted: { tables })
        return Self.compare(watch, changes, [], from: seen, to: now)
    }

    mutating func unwatch(_ object: ObjectHandle) {
        ahead.removeAll { $0.watch.object === object }
        for backlink in object.backlinks {
            let table = backlink.edge.elements ?? backlink.edge.source
            ways[table]?[object.id]?.removeAll { $0.watch.object === object }
            if ways[table]?[object.id]?.isEmpty == true { ways[table]?[object.id] = nil }
            if ways[table]?.isEmpty == true { ways[table] = nil }
        }
    }

    /// Calls `body` with the update of each observer that has one.
    mutating func find(
        _ changes: NetChanges, _ skips: [SkipRecord], from old: Snapshot, to new: Snapshot,
        _ body: (ObjectWatch, ObjectUpdate) -> Void
    ) {
        var found: [ObjectIdentifier: (watch: ObjectWatch, update: ObjectUpdate)] = [:]
        for change in changes.tables {
            guard let ways = ways[change.table.id] else { continue }
            for column in Set(ways.values.joined().map(\.column)) {
                for row in change.rows where row.columns >> UInt64(column) & 1 != 0 {
                    let was = old.row(change.table, row.id)?.target(column)
                    let now = new.row(change.table, row.id)?.target(column)
                    guard was != now else { continue }
                    for way in [was, now].compactMap(\.self).flatMap({ ways[$0] ?? [] })
                    where way.column == column && way.watch.object.since <= old.version {
                        let update = Self.update(way, row, changes, skips)
                        let object = ObjectIdentifier(way.watch.object)
                        if found[object]?.update.add(update) == nil { found[object] = (way.watch, update) }
                    }
                }
            }
        }
        for (watch, seen) in ahead where seen.version <= new.version {
            guard let update = Self.compare(watch, changes, skips, from: seen, to: new) else { continue }
            found[ObjectIdentifier(watch.object)] = (watch, update)
        }
        ahead.removeAll { $0.seen.version <= new.version }
        if let failure = old.failure ?? new.failure {
            // A row that could not be read has no links, which is no change.
            for way in ways.values.flatMap(\.values).joined() {
                found[ObjectIdentifier(way.watch.object)] = (
                    way.watch, ObjectUpdate(way.watch.object, failure: failure)
                )
            }
        }
        for (watch, update) in found.values { body(watch, update) }
    }

    /// Update of one observer since an older snapshot, which may be in the middle of `changes`.
    private static func compare(
        _ watch: ObjectWatch, _ changes: NetChanges, _ skips: [SkipRecord], from old: Snapshot, to new: Snapshot
    ) -> ObjectUpdate? {
        var found: ObjectUpdate?
        let id = watch.object.id
        for way in ways(of: watch) {
            for change in changes.tables where change.table.id == way.table {
                for row in change.rows where row.columns >> UInt64(way.column) & 1 != 0 {
                    let led = old.row(change.table, row.id)?.target(way.column) == id
                    let leads = new.row(change.table, row.id)?.target(way.column) == id
                    guard led != leads else { continue }
                    let update = update(way, row, changes, skips)
                    if found?.add(update) == nil { found = update }
                }
            }
        }
        return (old.failure ?? new.failure).map { ObjectUpdate(watch.object, failure: $0) } ?? found
    }

    private static func update(
        _ way: Way, _ row: ChangedRow, _ changes: NetChanges, _ skips: [SkipRecord]
    ) -> ObjectUpdate {
        let bit: UInt64 = 1 << UInt64(way.place)
        func entry(_ version: UInt64, skippedBy tokens: [any SilencedObserver]) -> ObjectChangeEntry {
            ObjectChangeEntry(version: version, columns: 0, backlinks: bit, isDeletion: false, skippedBy: tokens)
        }
        guard !skips.isEmpty, changes.isComplete else {
            return ObjectUpdate(way.watch.object, [entry(row.version, skippedBy: [])])
        }
        let written = changes.log[row.history].filter {
            $0.entry.columns >> UInt64(way.column) & 1 != 0 && $0.version > way.watch.object.since
        }
        return ObjectUpdate(
            way.watch.object,
            written.map { change in
                entry(change.version, skippedBy: skips.filter { $0.version == change.version }.flatMap(\.tokens))
            })
    }
}

extension RowReader {
    /// Object that a link of the row leads to.
    fileprivate func target(_ column: Int) -> ObjectID? {
        isNull(column) ? nil : ObjectID(rawValue: slot(column))
    }
}
