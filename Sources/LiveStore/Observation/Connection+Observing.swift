// Observers of a connection: how they are added, and how those that were invalidated are let go of.
//
// Tokens are invalidated on any thread; everything here but `requestSweep` is on the connection's scheduler.

extension Connection {
    /// The one instance of a query on this connection.
    func query(_ plan: QueryPlan, _ table: Table, showing: ConnectionQuery? = nil) -> ConnectionQuery {
        observers.query(plan) { ConnectionQuery(plan, table, showing: showing) }
    }

    /// Adds an observer. Its initial callback comes as a delivery of its own, never from here.
    func observe(
        _ query: ConnectionQuery, madeAt place: String, _ body: @escaping (DeliveredChange) -> Void
    ) throws -> NotificationToken {
        let (mailbox, upkeep) = try observing()
        if let fault = query.plan.fault { throw fault }
        let state = CollectionToken(query, body)
        query.add(state)
        if query.attach() {
            observers.attach(query)
            upkeep.send(.attach(mailbox, query, attachment: query.attachment))
            if !autorefresh { hold(query) }
        } else if query.delivered != nil {
            mailbox.requestInitial(of: query)
        }
        let reference = HeldConnection(self)
        return NotificationToken(state, core, madeAt: place) { [weak query] in
            if let query { reference.sweep(.query(query)) }
        }
    }

    /// Adds an observer of one object.
    func observe(
        _ binding: RowBinding, columns: UInt64, madeAt place: String,
        _ body: @escaping (DeliveredObjectChange) -> Void
    ) throws -> NotificationToken {
        let (mailbox, upkeep) = try observing()
        guard transaction == nil else { throw StoreError.observedInWrite }
        guard let row = shown?.row(binding.table, binding.id) else {
            try checkReads()
            throw StoreError.invalidatedObject(table: binding.table.schema.name)
        }
        // What the first change is told from. Not read at the delivery that brings it: until upkeep hears of the observer,
        // deliveries may pass the change by.
        let known = deliveredRow(binding.table, binding.id) ?? row
        let state = ObjectToken(
            binding.table, binding.id, columns: columns, since: shown?.version ?? 0,
            known: known, body)
        observers.add(state)
        upkeep.send(.watch(mailbox, state, seen: Array(row.image)))
        let reference = HeldConnection(self)
        return NotificationToken(state, core, madeAt: place) { [weak state] in
            if let state { reference.sweep(.object(state)) }
        }
    }

    /// Calls `body` on this connection's scheduler whenever the connection has moved on to a newer version, before the
    /// observers of collections and objects; and with `.refreshRequired` where `autorefresh` is off and there is one.
    ///
    /// There is no initial call. Several commits may come as one.
    /// - Throws: `noScheduler` on a connection that lives for one block, `closed`.
    public func observe(
        file: String = #fileID, line: Int = #line, _ body: @escaping (StoreNotification, Connection) -> Void
    ) throws -> NotificationToken {
        let (mailbox, upkeep) = try observing()
        let state = StoreToken { [unowned self] in body($0, self) }
        if observers.add(state) { upkeep.send(.observeStore(mailbox, true)) }
        let reference = HeldConnection(self)
        return NotificationToken(state, core, madeAt: "\(file):\(line)") { reference.sweep(.store) }
    }

    /// What every observer needs.
    private func observing() throws -> (Mailbox, Upkeep) {
        checkScheduler()
        guard let mailbox else { throw StoreError.noScheduler }
        return (mailbox, try core.startUpkeep())
    }

    /// Lets go of invalidated observers. Any thread. On the scheduler it is done at once where that is possible, because
    /// a run loop that ends never turns again.
    fileprivate func requestSweep(_ subject: ObservedSubject) {
        if scheduler?.isCurrent == true, !isDelivering, transaction == nil {
            sweep(subject)
        } else {
            mailbox?.requestSweep(of: subject)
        }
    }

    func sweep(_ subject: ObservedSubject) {
        switch subject {
        case .query(let query):
            guard query.sweep() else { return }
            observers.detach(query)
            core.detach(query)
        case .object(let token):
            guard observers.remove(token) else { return }
            token.releaseCallback()
            observedCells?.remove(token)
            core.runningUpkeep?.send(.unwatch(token))
        case .store:
            let gone = observers.takeInvalidStore()
            for token in gone { token.releaseCallback() }
            guard observers.store.isEmpty, !gone.isEmpty, let mailbox else { return }
            core.runningUpkeep?.send(.observeStore(mailbox, false))
        case .turn(let turn): asCallback(turn.body)
        }
    }
}

/// A connection that a token keeps alive, on whatever thread the token is, and asks to let go of its observer.
private final class HeldConnection: @unchecked Sendable {
    private let connection: Connection

    init(_ connection: Connection) { self.connection = connection }

    func sweep(_ subject: ObservedSubject) { connection.requestSweep(subject) }
}
