// Resting: without observers, upkeep holds no version, so that it pins no pages. A new observer says at which version
// it begins, because newer ones may exist when upkeep wakes. Upkeep thread only, except `begin`.

extension Upkeep {
    /// Begins an observation: commits after this call returns are reported to the observer. At the limit of snapshots,
    /// only those after upkeep wakes. Any thread.
    func begin(_ message: Message) {
        send(message)
        // After the message: upkeep does not rest while one is waiting.
        inbox.begin(storage)
    }

    /// Releases upkeep's snapshot, because no observer needs the next step.
    func rest() {
        // At the limit of snapshots upkeep keeps the one it has.
        guard let sleeping = try? storage.sleepingSnapshot(wakesUpkeep: false) else { return }
        if inbox.rest() { snapshot.value = sleeping }
    }

    /// Takes a version again: the newest, or an older one at which an observer begins.
    func goOn() {
        let newest = snapshot.value.version
        if let start = inbox.goOn(), start.version < newest { snapshot.value = start }
        // Earlier suppressing commits concern no observer of later commits.
        inbox.forgetSkips(upTo: snapshot.value.version)
    }
}
