// Deliveries to a connection: it takes the mail of upkeep, moves to the mail's version and then tells observers, all at
// that one version. On the connection's scheduler, not inside another delivery. In a write it only removes observers.

extension LiveConnection {
    /// Takes the mail, moves to its version and tells observers. Without `autorefresh`, only takes requests and stays
    /// at its version. Postponed during a write or another delivery. On the scheduler.
    func deliver() {
        guard transaction == nil, !isDelivering else {
            missedDelivery = true
            // Done even in a write: callbacks may hold the only reference to the connection, and so to the write.
            if !isDelivering { for subject in mailbox.takeSweeps() { sweep(subject) } }
            return
        }
        if autorefresh {
            deliverMail()
        } else {
            isDelivering = true
            let mail = mailbox.takeRequests()
            beginInitials(mail)
            tell(mail.held)
            tellFailures(mail)
            tidy(mail)
            if mailbox.hasSnapshot(after: version) { tellStore(.refreshRequired) { _ in true } }
            isDelivering = false
            repostMissedDelivery()
        }
    }

    fileprivate func deliverMail() {
        isDelivering = true
        // The upkeep thread may be at an older version than the one that the connection shows: it may have been opened
        // at that one, have committed it, or read the newest one.
        let mail = mailbox.take(minimum: own.snapshot?.version ?? (isAsleep ? 0 : version))
        beginInitials(mail)
        if let snapshot = mail.snapshot, core.isOpen {
            accept(snapshot, mail)
            if mail.isOffer { sleep() }
            // At once, because commits after this version may exclude the waiting observers from their notification.
            if !autorefresh { attached.values.filter(\.isWaiting).forEach(hold) }
        }
        tellFailures(mail)
        tidy(mail)
        isDelivering = false
        repostMissedDelivery()
    }

    /// Fixes which observers of queries with pending initial callbacks are told in this delivery.
    private func beginInitials(_ mail: Mail) { for query in mail.initials { query.ofConnection.beginDelivery() } }

    /// Takes queries' first trees (roots) of the version that this connection stays at, and tells the observers that
    /// waited for them.
    private func tell(_ held: [HeldRoot]) {
        let useful = held.filter { $0.version == version && $0.update.query.ofConnection.hold($0.update) }
        for root in useful { root.update.query.ofConnection.tell(nil, old: nil, call) }
        // Queries that still wait got a root of an older version, because the connection has moved on, or of an earlier
        // attachment. They are requested again.
        for root in held where root.update.query.ofConnection.isWaiting { hold(root.update.query.ofConnection) }
    }

    /// Requests a query's first tree at the version that a connection without `autorefresh` stays at.
    func hold(_ query: ConnectionQuery) {
        guard let delivered else { return }
        core.runningUpkeep?.send(.hold(mailbox, query, attachment: query.attachment, at: delivered))
    }

    private func tellFailures(_ mail: Mail) {
        for failure in mail.failures {
            switch failure {
            case .query(let failure):
                failure.query.ofConnection.fail(failure, { attached[ObjectIdentifier(failure.query)] = nil }, call)
            case .object(let update): tell(update, from: nil, to: nil)
            }
        }
    }

    private func tidy(_ mail: Mail) {
        for query in mail.initials { query.ofConnection.tell(nil, old: nil, call) }
        for work in mail.work {
            switch work {
            case .sweep(let subject): sweep(subject)
            case .run(let block): asCallback(block.body)
            }
        }
    }

    func repostMissedDelivery() {
        guard missedDelivery, !isDelivering, transaction == nil else { return }
        missedDelivery = false
        mailbox.repost()
    }

    private func accept(_ snapshot: Snapshot, _ mail: Mail) {
        let old = delivered
        moveOn(to: snapshot)
        for index in mail.updates.indices { mail.updates[index].query.ofConnection.accept(mail.updates[index]) }
        if !storeTokens.isEmpty { tellStore(mail, from: old, to: snapshot) }
        for index in mail.updates.indices {
            mail.updates[index].query.ofConnection.tell(mail.updates[index], old: old, call)
        }
        for update in mail.objects { tell(update, from: old, to: snapshot) }
    }

    private func tellStore(_ mail: Mail, from old: Snapshot?, to new: Snapshot) {
        let from = old?.version ?? 0
        guard new.version > from else { return }
        tellStore(.didChange) { token in
            let skipped = mail.storeSkips.count { record in
                record.version > from && record.version <= new.version && record.tokens.contains { $0 === token }
            }
            return UInt64(skipped) < new.version - from
        }
    }

    private func tellStore(_ notification: StoreNotification, where isConcerned: (StoreToken) -> Bool) {
        for token in storeTokens where isConcerned(token) { run(token) { token.tell(notification) } }
    }

    private func tell(_ update: ObjectUpdate, from old: Snapshot?, to new: Snapshot?) {
        // The observer may have been removed.
        guard let token = observedObjects[ObjectIdentifier(update.object)] else { return }
        let change: DeliveredObjectChange?
        do throws(StoreError) {
            change = token.change(
                update, old: try old?.readRow(update.object.table, update.object.id),
                new: try new?.readRow(update.object.table, update.object.id))
        } catch {
            // The log entry does not tell what changed if the row cannot be read.
            change = .failed(error)
        }
        guard let change else { return }
        run(token) { token.tell(change) }
        switch change {
        case .change: return
        case .deleted, .failed:
            _ = token.invalidate()
            sweep(.object(update.object))
        }
    }

    private func call(_ token: CollectionToken, _ change: DeliveredChange) { run(token) { token.tell(change) } }

    /// Runs one callback at the delivered version, without the writes of earlier callbacks of this delivery.
    @inline(__always)
    private func run(_ token: TokenState, _ body: () -> Void) {
        guard core.isOpen, token.begin() else { return }
        asCallback(body)
        token.end()
    }
}

extension QueryHandle {
    /// The handle as a connection's query. Every handle that a connection sends to upkeep is one.
    @inline(__always)
    var ofConnection: ConnectionQuery { unsafeDowncast(self, to: ConnectionQuery.self) }
}

extension Connection {
    /// Moves to the newest version and delivers the changes before it returns, including pending initial callbacks.
    /// Waits for upkeep and for first evaluations.
    /// - Returns: whether there was a newer version. False inside a delivery's callback or a write, where nothing can
    ///   be delivered.
    /// - Throws: `noScheduler` on a connection without a delivery context, `closed`, `openedBeforeFork`,
    ///   `tooManySnapshots`; `storage` if the file cannot be read.
    @discardableResult
    public func refresh() throws -> Bool {
        checkScheduler()
        let live = try live()
        guard transaction == nil, !live.isDelivering else { return false }
        let newest = try core.storage.openSnapshot().version
        let before = live.isAsleep ? live.versionBeforeSleep : version
        try core.startUpkeep().catchUp(live.mailbox, to: newest)
        live.deliverMail()
        return version > before
    }
}
