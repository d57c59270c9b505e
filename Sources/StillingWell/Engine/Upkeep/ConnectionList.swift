// The live connections, and the mail of the current step, gathered so that each connection gets one mailbox update per
// version. Upkeep thread only.

/// A connection as upkeep knows it.
final class ConnectedMailbox {
    let mailbox: Mailbox
    @exclusivity(unchecked) fileprivate var mail = VersionMail()
    fileprivate var isTouched = false
    /// Somebody observes the store as a whole, and hears of every version.
    var observesStore = false
    /// Had mail that it may not have taken yet.
    fileprivate var isWaiting = false
    /// For how long its first turn has been waited for, as far as somebody looked.
    var unservedNs: Int64 = 0

    init(_ mailbox: Mailbox) { self.mailbox = mailbox }

    /// The answer of `isIdle`, which stays what it is until mail is sent.
    fileprivate var wasIdle: Bool?
    /// How many updates the last mail had: most likely as many as the next one will.
    fileprivate var usualUpdates = 0

    /// Whether the connection has taken all its mail, so that what it was sent last is what it has reported. In a step it is
    /// asked for each of its windows, and the mailbox once.
    var isIdle: Bool {
        if let wasIdle { return wasIdle }
        let isIdle = isWaiting ? mailbox.isEmpty : true
        wasIdle = isIdle
        return isIdle
    }
}

struct ConnectionList {
    private var connected: [ObjectIdentifier: ConnectedMailbox] = [:]
    /// Those with mail in this step.
    private var touched: [ConnectedMailbox] = []
    /// Those with `isWaiting`.
    private var waiting: [ConnectedMailbox] = []
    /// The whole difference of two trees that several windows of this step asked for.
    private var difference: TreeDifference?
    /// The two trees that were asked for last.
    private var lastPair: (old: RankedTree, new: RankedTree)?

    mutating func add(_ mailbox: Mailbox) { connected[ObjectIdentifier(mailbox)] = ConnectedMailbox(mailbox) }

    mutating func remove(_ mailbox: Mailbox) {
        connected[ObjectIdentifier(mailbox)] = nil
        storeObservers.removeAll { $0.mailbox === mailbox }
        waiting.removeAll { $0.mailbox === mailbox }
        // It may have been added in this step too. Mail that nobody takes would hold a version.
        touched.removeAll { $0.mailbox === mailbox }
    }

    /// nil once the connection has ended.
    subscript(mailbox: Mailbox) -> ConnectedMailbox? { connected[ObjectIdentifier(mailbox)] }

    mutating func add(_ update: consuming RootUpdate, to connection: ConnectedMailbox) {
        touch(connection)
        connection.mail.updates.append(update)
    }

    mutating func add(_ update: ObjectUpdate, to connection: ConnectedMailbox) {
        touch(connection)
        connection.mail.objects.append(update)
    }

    private mutating func touch(_ connection: ConnectedMailbox) {
        guard !connection.isTouched else { return }
        connection.isTouched = true
        connection.mail.updates.reserveCapacity(connection.usualUpdates)
        touched.append(connection)
    }

    /// All connections.
    var all: some Sequence<ConnectedMailbox> { connected.values }

    /// Whether any connection observes the store as a whole.
    private(set) var storeObservers: [ConnectedMailbox] = []

    mutating func setObservesStore(_ observes: Bool, _ connection: ConnectedMailbox) {
        guard connection.observesStore != observes else { return }
        connection.observesStore = observes
        if observes { storeObservers.append(connection) } else { storeObservers.removeAll { $0 === connection } }
    }

    /// The change set of a window between two trees. One window is compared alone; where many windows of one tree are
    /// touched by one step, the whole is compared once and clipped to each.
    mutating func changes(from old: RankedTree, to new: RankedTree, in window: TreeWindow) -> ChangeSet {
        // Asked where it is: a copy of the whole would count as many references as it has parts.
        if difference?.isBetween(old, new) == true { return difference!.changeSet(in: window) }
        if let lastPair, lastPair.old.isIdentical(to: old), lastPair.new.isIdentical(to: new) {
            let whole = TreeDifference(from: old, to: new)
            difference = whole
            return whole.changeSet(in: window)
        }
        lastPair = (old, new)
        return .between(old, new, in: window)
    }

    /// Ends the step: one update per connection, and waiting mail moves on to the new version.
    /// - Parameters:
    ///   - isNew: whether the version is another than at the last call, which observers of the whole store hear of.
    ///   - skips: the silent commits that this step crossed.
    mutating func deliver(_ snapshot: Snapshot, isNew: Bool, _ skips: [SkipRecord] = []) {
        difference = nil
        lastPair = nil
        if isNew {
            for connection in storeObservers {
                touch(connection)
                connection.mail.storeSkips = skips
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

    /// Forgets the mail of this step.
    mutating func discard() {
        difference = nil
        lastPair = nil
        for connection in touched {
            connection.mail.removeAll()
            connection.isTouched = false
            connection.wasIdle = nil
        }
        touched.removeAll(keepingCapacity: true)
    }

    /// Sends the snapshot alone, to everyone who has no mail waiting, and holds a version.
    mutating func offer(_ snapshot: Snapshot) {
        for connection in connected.values where !connection.isWaiting && !connection.mailbox.isAsleep {
            send(snapshot, connection)
        }
    }

    /// Sends the snapshot alone to one connection, so that all it has is at this version.
    mutating func offer(_ snapshot: Snapshot, to mailbox: Mailbox) {
        guard let connection = self[mailbox], !(connection.isWaiting && mailbox.advance(snapshot)) else { return }
        send(snapshot, connection)
    }

    private mutating func send(_ snapshot: Snapshot, _ connection: ConnectedMailbox) {
        if !connection.isWaiting { waiting.append(connection) }
        connection.isWaiting = true
        connection.wasIdle = nil
        connection.usualUpdates = connection.mail.updates.count
        connection.mailbox.put(snapshot, &connection.mail)
    }
}
