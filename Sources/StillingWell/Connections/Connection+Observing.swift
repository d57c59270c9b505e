// Observers of a connection: how they are added, and how those that were invalidated are let go of.
//
// Tokens are invalidated on any thread; everything here but `requestSweep` is on the connection's scheduler.

extension Connection {
    /// Adds an observer. Its initial callback comes as a delivery of its own, never from here.
    func observe(
        _ query: ConnectionQuery, madeAt place: String, _ body: @escaping (DeliveredChange) -> Void
    ) throws -> NotificationToken {
        let (live, upkeep) = try observing()
        if let fault = query.plan.fault { throw fault }
        let recorded = core.recording.subscribed(query, body)
        let state = CollectionToken(query, recorded.body)
        query.add(state)
        if query.attach() {
            live.attached[ObjectIdentifier(query)] = query
            upkeep.begin(.attach(live.mailbox, query, attachment: query.attachment))
            if !autorefresh { live.hold(query) }
        } else if query.delivered != nil {
            live.mailbox.requestInitial(of: query)
        }
        return live.makeToken(state, madeAt: place, ended: recorded.ended) { [weak query] in query.map { .query($0) } }
    }

    func observe(
        _ binding: RowBinding, _ properties: (columns: UInt64, backlinks: [Backlink]), madeAt place: String,
        _ body: @escaping (DeliveredObjectChange) -> Void
    ) throws -> NotificationToken {
        let (live, upkeep) = try observing()
        guard transaction == nil else { throw StoreError.observedInWrite }
        guard let row = shown?.row(binding.table, binding.id) else {
            try checkReads()
            throw StoreError.invalidatedObject(table: binding.table.schema.name)
        }
        // What the first change is told from. Not read at the delivery that brings it: until upkeep hears of the observer,
        // deliveries may pass the change by.
        let known = deliveredRow(binding.table, binding.id) ?? row
        let object = ObjectHandle(
            binding.table, binding.id, backlinks: properties.backlinks, since: shown?.version ?? 0)
        let state = ObjectToken(object, columns: properties.columns, known: known, body)
        live.observedObjects[ObjectIdentifier(object)] = state
        let seen = row.copy(binding.table.layout)
        upkeep.begin(.watch(live.mailbox, object, seen: seen, at: object.backlinks.isEmpty ? nil : shown))
        return live.makeToken(state, madeAt: place) { .object(object) }
    }

    /// Calls `body` on this connection's scheduler whenever the connection has moved on to a newer version, before the
    /// observers of collections and objects; and with `.refreshRequired` where `autorefresh` is off and there is one.
    ///
    /// There is no initial call. Several commits may come as one.
    /// - Throws: `noScheduler` on a connection that lives for one block, `closed`.
    public func observe(
        file: String = #fileID, line: Int = #line, _ body: @escaping (StoreNotification, Connection) -> Void
    ) throws -> NotificationToken {
        let (live, upkeep) = try observing()
        let state = StoreToken { [unowned self] in body($0, self) }
        live.storeTokens.append(state)
        if live.storeTokens.count == 1 { upkeep.begin(.observeStore(live.mailbox, true)) }
        return live.makeToken(state, madeAt: "\(file):\(line)") { .store }
    }

    private func observing() throws -> (LiveConnection, Upkeep) {
        checkScheduler()
        let live = try live()
        // What comes after this is what the observer hears of.
        live.wake()
        return (live, try core.startUpkeep())
    }
}

extension LiveConnection {
    /// The token of an observer.
    /// - Parameters:
    ///   - ended: called when it is invalidated, on any thread.
    ///   - subject: what the observer is let go of by; nil where that has gone.
    fileprivate func makeToken(
        _ state: TokenState, madeAt place: String, ended: (@Sendable () -> Void)? = nil,
        _ subject: @escaping @Sendable () -> ObservedSubject?
    ) -> NotificationToken {
        // The token keeps the connection, on whatever thread it is, and asks it to let go of an observer, which any thread may.
        nonisolated(unsafe) let connection = self
        return NotificationToken(state, core.storage, upkeep: { [core] in core.runningUpkeep }, madeAt: place) {
            ended?()
            if let subject = subject() { connection.requestSweep(subject) }
        }
    }

    /// Lets go of invalidated observers. Any thread. On the scheduler it is done at once where that is possible, because
    /// a run loop that ends never turns again. In a write too: if the connection is released with its observers, the write ends with it.
    private func requestSweep(_ subject: ObservedSubject) {
        if scheduler.isCurrent, !isDelivering { return sweep(subject) }
        mailbox.requestSweep(of: subject)
        // Asked afterwards: a request that comes when the actor has gone is dropped. Nobody else can use the connection then.
        if (scheduler as? ActorScheduler)?.isGone == true { endWithPlace("the actor of its connection was released") }
    }

    func sweep(_ subject: ObservedSubject) {
        switch subject {
        case .query(let query):
            guard query.ofConnection.sweep() else { return }
            attached[ObjectIdentifier(query)] = nil
            core.runningUpkeep?.send(.detach(query))
        case .object(let object):
            guard let token = observedObjects.removeValue(forKey: ObjectIdentifier(object)) else { return }
            token.releaseCallback()
            observedCells?.remove(token)
            core.runningUpkeep?.send(.unwatch(object))
        case .store:
            let gone = storeTokens.filter { !$0.isActive }
            storeTokens.removeAll { !$0.isActive }
            // What user code they hold may come back here.
            for token in gone { token.releaseCallback() }
            if storeTokens.isEmpty, !gone.isEmpty { core.runningUpkeep?.send(.observeStore(mailbox, false)) }
        case .turn(let turn): asCallback(turn.body)
        }
    }
}
