// Ending a connection: with its last reference, on any thread, or earlier, when its run-loop thread ends or its actor
// is released and nothing can be delivered any more.

extension LiveConnection {
    /// Ends the connection when its thread ends or its actor is gone. Releases its version and observers, detaches it
    /// from the upkeep thread and cancels a write in progress. Tokens and other references that a program still holds
    /// may be released later, on any thread.
    ///
    /// Runs on the thread that ends. After an actor was released it runs on the first thread that removes an observer.
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

    /// Stops deliveries and removes the connection and its queries from the upkeep thread.
    func disconnect() {
        scheduler.invalidate()
        core.runningUpkeep?.disconnect(mailbox, Array(attached.values), observedObjects.values.map(\.object))
    }
}
