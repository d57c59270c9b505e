// The live connections and the mail of the current step, which each connection gets as one mailbox update. Upkeep
// thread only.
import StillingWellSync

/// Upkeep's state of one connection.
final class ConnectedMailbox {
    let mailbox: Mailbox
    fileprivate let mail = DeliveryBound(VersionMail())
    fileprivate var isTouched = false
    /// Whether the store as a whole is observed, so that each step of upkeep sends mail.
    var observesStore = false
    /// Whether mail was sent that may not have been taken yet.
    fileprivate var isWaiting = false
    /// Nanoseconds that the first delivery has been waited for, as counted so far.
    var unservedNs: Int64 = 0

    init(_ mailbox: Mailbox) { self.mailbox = mailbox }

    /// Cached result of `isIdle`. Cleared when mail is sent or discarded.
    fileprivate var wasIdle: Bool?
    /// Number of updates in the last mail, used as an estimate for the next.
    fileprivate var usualUpdates = 0

    /// Whether the connection has taken all its mail, so that no later root replaces what it was sent last. Cached for
    /// the step.
    var isIdle: Bool {
        if let wasIdle { return wasIdle }
        let isIdle = isWaiting ? mailbox.isEmpty : true
        wasIdle = isIdle
        return isIdle
    }
}

struct ConnectionList {
    private var connected: [ObjectIdentifier: ConnectedMailbox] = [:]
    /// Connections with mail in this step.
    private var touched: [ConnectedMailbox] = []
    /// Connections with `isWaiting`.
    private var waiting: [ConnectedMailbox] = []
    /// Whole difference of two trees, if several windows of this step need it.
    private var difference: TreeDifference?
    /// The last two trees for which a change set was requested.
    private var lastPair: (old: RankedTree, new: RankedTree)?

    mutating func add(_ mailbox: Mailbox) { connected[ObjectIdentifier(mailbox)] = ConnectedMailbox(mailbox) }

    mutating func remove(_ mailbox: Mailbox) {
        connected[ObjectIdentifier(mailbox)] = nil
        storeObservers.removeAll { $0.mailbox === mailbox }
        waiting.removeAll { $0.mailbox === mailbox }
        // The connection may have got mail in this step. Mail that is never taken would hold its version.
        touched.removeAll { $0.mailbox === mailbox }
    }

    /// Returns nil once the connection has ended.
    subscript(mailbox: Mailbox) -> ConnectedMailbox? { connected[ObjectIdentifier(mailbox)] }

    mutating func add(_ update: consuming RootUpdate, to connection: ConnectedMailbox) {
        touch(connection)
        connection.mail.value.updates.append(update)
    }

    mutating func add(_ update: ObjectUpdate, to connection: ConnectedMailbox) {
        touch(connection)
        connection.mail.value.objects.append(update)
    }

    private mutating func touch(_ connection: ConnectedMailbox) {
        guard !connection.isTouched else { return }
        connection.isTouched = true
        connection.mail.value.updates.reserveCapacity(connection.usualUpdates)
        touched.append(connection)
    }

    var all: some Sequence<ConnectedMailbox> { connected.values }

    private(set) var storeObservers: [ConnectedMailbox] = []

    mutating func setObservesStore(_ observes: Bool, _ connection: ConnectedMailbox) {
        guard connection.observesStore != observes else { return }
        connection.observesStore = observes
        if observes { storeObservers.append(connection) } else { storeObservers.removeAll { $0 === connection } }
    }

    /// Change set of a window between two trees. The first window is compared alone. If the next request is for the
    /// same trees, they are compared as a whole, and that difference is clipped for it and for further windows of the
    /// step.
    mutating func changes(from old: RankedTree, to new: RankedTree, in window: TreeWindow) -> ChangeSet {
        // Used in place: a copy would retain every part of the difference.
        if difference?.isBetween(old, new) == true { return difference!.changeSet(in: window) }
        if let lastPair, lastPair.old.isIdentical(to: old), lastPair.new.isIdentical(to: new) {
            let whole = TreeDifference(from: old, to: new)
            difference = whole
            return whole.changeSet(in: window)
        }
        lastPair = (old, new)
        return .between(old, new, in: window)
    }

    /// Ends the step: sends each connection its mail of the step, and moves other waiting mail on to the new version.
    /// - Parameters:
    ///   - isNew: whether the version differs from the last call. Observers of the whole store are notified only then.
    ///   - skips: the suppressing commits that this step crossed.
    mutating func deliver(_ snapshot: Snapshot, isNew: Bool, _ skips: [SkipRecord] = []) {
        difference = nil
        lastPair = nil
        if isNew {
            for connection in storeObservers {
                touch(connection)
                connection.mail.value.storeSkips = skips
            }
        }
        waiting.removeAll { connection in
            if connection.isTouched { return false }
            connection.isWaiting = connection.mailbox.advance(snapshot)
            return !connection.isWaiting
        }
        for connection in touched { send(snapshot, connection) }
        discard()
    }

    /// Discards the mail of this step.
    mutating func discard() {
        difference = nil
        lastPair = nil
        for connection in touched {
            connection.mail.value.removeAll()
            connection.isTouched = false
            connection.wasIdle = nil
        }
        touched.removeAll(keepingCapacity: true)
    }

    /// Sends the snapshot alone to every connection that holds a version, so that all its mail is at this version.
    mutating func offer(_ snapshot: Snapshot) {
        for connection in connected.values where connection.mailbox.offer(snapshot) { noteWaiting(connection) }
    }

    /// Sends the snapshot alone to one connection, so that all its mail is at this version.
    mutating func offer(_ snapshot: Snapshot, to mailbox: Mailbox) {
        guard let connection = self[mailbox], !(connection.isWaiting && mailbox.advance(snapshot)) else { return }
        send(snapshot, connection)
    }

    private mutating func noteWaiting(_ connection: ConnectedMailbox) {
        if !connection.isWaiting { waiting.append(connection) }
        connection.isWaiting = true
        connection.wasIdle = nil
    }

    private mutating func send(_ snapshot: Snapshot, _ connection: ConnectedMailbox) {
        noteWaiting(connection)
        connection.usualUpdates = connection.mail.value.updates.count
        connection.mailbox.put(snapshot, &connection.mail.value)
    }
}
