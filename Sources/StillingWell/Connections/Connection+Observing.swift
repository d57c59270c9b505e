// Adding and removing the observers of a connection.
//
// A token may be invalidated on any thread, which then calls `requestSweep`. Everything else here runs on the
// connection's scheduler.

extension Connection {
    /// Adds an observer. Its initial callback comes in a later delivery, never inside this call.
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
        // Values that the first change is compared with. The row of the delivery before the report may be too new:
        // until the upkeep thread knows the observer, a delivery may move past a change without reporting it.
        let known = deliveredRow(binding.table, binding.id) ?? row
        let object = ObjectHandle(
            binding.table, binding.id, backlinks: properties.backlinks, since: shown?.version ?? 0)
        let state = ObjectToken(object, columns: properties.columns, known: known, body)
        live.observedObjects[ObjectIdentifier(object)] = state
        let seen = row.copy(binding.table.layout)
        upkeep.begin(.watch(live.mailbox, object, seen: seen, at: object.backlinks.isEmpty ? nil : shown))
        return live.makeToken(state, madeAt: place) { .object(object) }
    }

    /// Calls `body` on this connection's scheduler when the connection has moved to a newer version, before the
    /// observers of collections and objects. If `autorefresh` is off, calls it with `.refreshRequired` when a newer
    /// version exists.
    ///
    /// There is no initial call. Several commits may be reported by one call.
    /// - Throws: `noScheduler` on a connection without a delivery context, `closed`, `openedBeforeFork`.
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
        // The connection holds its version from here on. Observers are told of commits after it.
        live.wake()
        return (live, try core.startUpkeep())
    }
}

extension LiveConnection {
    /// Makes the token of an observer.
    /// - Parameters:
    ///   - ended: called when the token is invalidated or released, on any thread. Not called if the observation has
    ///     ended with an error before.
    ///   - subject: returns what is observed, or nil if that has been released.
    fileprivate func makeToken(
        _ state: TokenState, madeAt place: String, ended: (@Sendable () -> Void)? = nil,
        _ subject: @escaping @Sendable () -> ObservedSubject?
    ) -> NotificationToken {
        // The token retains the connection on any thread, and only asks it to remove an observer, which any thread may
        // do.
        nonisolated(unsafe) let connection = self
        return NotificationToken(state, core.storage, upkeep: { [core] in core.runningUpkeep }, madeAt: place) {
            ended?()
            if let subject = subject() { connection.requestSweep(subject) }
        }
    }

    /// Removes invalidated observers. Any thread. Done at once if the scheduler knows that the caller is on it, which
    /// an actor's does not, and no delivery runs: a run loop that is ending delivers nothing more. Also done during a
    /// write, because the callbacks may hold the last reference to the connection, whose release ends the write.
    private func requestSweep(_ subject: ObservedSubject) {
        if scheduler.isCurrent, !isDelivering { return sweep(subject) }
        mailbox.request(.sweep(subject))
        // Tested after the request, because a request is dropped if the actor has been released. Then no other code can
        // use the connection.
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
            // Released after the removal, because objects captured by callbacks may call back into this method when
            // they are freed.
            for token in gone { token.releaseCallback() }
            if storeTokens.isEmpty, !gone.isEmpty { core.runningUpkeep?.send(.observeStore(mailbox, false)) }
        }
    }
}
