// Observers whose callback is isolated to an actor, which it receives. The connection is one of that actor.

/// Returns a callback that runs `body` isolated to `actor`, while that exists. Called on the actor.
private func bound<Isolation: Actor, Change>(
    to actor: Isolation, _ body: @escaping (isolated Isolation, Change) -> Void
) -> (Change) -> Void {
    actor.preconditionIsolated(
        "observe(on:) names \(Isolation.self) and was called elsewhere: call it there, on a connection of .actor(self)")
    return { [weak actor] change in
        guard let actor else { return }
        // A change is not Sendable. It stays on the actor, which `assumeIsolated` checks at each call.
        nonisolated(unsafe) let (body, change) = (body, change)
        actor.assumeIsolated { body($0, change) }
    }
}

extension Results {
    /// Same as `observe(keyPaths:_:)`, with a callback that is isolated to an actor and receives it. The connection
    /// is one that the actor opened with `.actor(self)`. The observer does not retain the actor. If this call or a
    /// callback is not on the actor, the program stops.
    ///
    ///     token = try notes.observe(on: self) { me, change in me.count += 1 }
    /// - Parameter keyPaths: properties whose changes count as modifications; nil for all.
    /// - Throws: what `observe(keyPaths:_:)` throws.
    public func observe<Isolation: Actor>(
        on actor: Isolation, keyPaths: [PartialKeyPath<Object>]? = nil, file: String = #fileID, line: Int = #line,
        _ body: @escaping (isolated Isolation, ResultsChange<Object>) -> Void
    ) throws -> NotificationToken {
        try observe(keyPaths: keyPaths, file: file, line: line, bound(to: actor, body))
    }
}

extension SectionedResults {
    /// Same as `observe(keyPaths:_:)`, with a callback that is isolated to an actor, as of `Results`.
    /// - Parameter keyPaths: properties whose changes count as modifications; nil for all.
    /// - Throws: what `observe(keyPaths:_:)` throws.
    public func observe<Isolation: Actor>(
        on actor: Isolation, keyPaths: [PartialKeyPath<Object>]? = nil, file: String = #fileID, line: Int = #line,
        _ body: @escaping (isolated Isolation, SectionedResultsChange<Key, Object>) -> Void
    ) throws -> NotificationToken {
        try observe(keyPaths: keyPaths, file: file, line: line, bound(to: actor, body))
    }
}

extension LiveObject {
    /// Same as `observe(keyPaths:_:)`, with a callback that is isolated to an actor, as of `Results`.
    /// - Parameter keyPaths: properties to report; nil for all.
    /// - Throws: what `observe(keyPaths:_:)` throws.
    public func observe<Isolation: Actor>(
        on actor: Isolation, keyPaths: [PartialKeyPath<Self>]? = nil, file: String = #fileID, line: Int = #line,
        _ body: @escaping (isolated Isolation, ObjectChange<Self>) -> Void
    ) throws -> NotificationToken {
        try observe(keyPaths: keyPaths, file: file, line: line, bound(to: actor, body))
    }
}
