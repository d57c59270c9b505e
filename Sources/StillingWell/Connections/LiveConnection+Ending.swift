// How a connection ends: with its last reference, on any thread; or before that with the place that it lives at, the thread of a run loop
// or an actor, where nothing can be delivered any more.

extension LiveConnection {
    /// Ends the connection with its place: releases its version, its observers and its place in upkeep, and cancels a write in progress.
    /// Tokens and other references that a program still holds may be released later, on any thread.
    ///
    /// On the thread that ends; or, after the actor has gone, on the thread that lets go of an observer first.
    /// - Parameter event: what ended, for the log.
    func endWithPlace(_ event: String) {
        guard core.storage.isOfThisProcess, shouldEnd() else { return }
        abandonWrite(event)
        disconnect()
        mailbox.close()
        for query in attached.values { query.end() }
        for token in observedObjects.values { token.releaseCallback() }
        for token in storeTokens { token.releaseCallback() }
        (attached, observedObjects, storeTokens, observedCells) = ([:], [:], [], nil)
        own.forget()
        delivered = nil
        read(from: nil)
        epoch += 1
    }

    /// Ends deliveries.
    func disconnect() {
        scheduler.invalidate()
        core.runningUpkeep?.disconnect(mailbox, Array(attached.values), observedObjects.values.map(\.object))
    }
}
