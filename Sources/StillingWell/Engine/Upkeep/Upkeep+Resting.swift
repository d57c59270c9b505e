// Upkeep that nobody asks holds no version: who observes nothing shall not pin pages. Who begins to observe says from which version
// on, because by the time that upkeep wakes there may be newer ones. Upkeep thread only, but for `begin`.

extension Upkeep {
    /// Begins what somebody observes: what is committed after this has returned is news to the observer. Any thread.
    func begin(_ message: Message) {
        send(message)
        // After the message: with one waiting, upkeep does not go to rest.
        inbox.begin(storage)
    }

    /// Lets go of the version that it stands at: nobody is to be told how it comes to the next one.
    func rest() {
        // At the limit of snapshots it keeps the one it has.
        guard let sleeping = try? storage.sleepingSnapshot(wakesUpkeep: false) else { return }
        if inbox.rest() { snapshot = sleeping }
    }

    /// Stands at a version again: the newest, or an older one from which on somebody observes.
    func goOn() {
        let newest = snapshot.version
        if let start = inbox.goOn(), start.version < newest { snapshot = start }
        // Nobody who is to hear of later commits knows these.
        inbox.forgetSkips(upTo: snapshot.version)
    }
}
