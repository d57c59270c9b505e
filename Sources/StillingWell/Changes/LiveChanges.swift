// Changes as asynchronous sequences. No queue: a slow loop gets one element for all changes since the element it took
// last, or, for a store, the last event only.

/// The changes of results, an object or a store, one element after another, for any task:
///
///     for try await update in try notes.changes() { print(update.count, update.changes) }
///
/// At most one element waits to be taken. An element of results holds its version, as described at `ResultsUpdate`.
///
/// The subscription ends when a task that waits for an element is cancelled, when the sequence and its iterators are
/// released, when the store is closed, when the thread of its connection ends, when the object is deleted, or with an
/// error. One task iterates at a time; each loop needs its own sequence.
public struct LiveChanges<Element: Sendable>: AsyncSequence, Sendable {
    let source: any ChangeSource<Element>

    /// Returns an iterator that continues where the last one stopped.
    public func makeAsyncIterator() -> Iterator { Iterator(source: source) }

    /// Takes one element after the other.
    public struct Iterator: AsyncIteratorProtocol {
        let source: any ChangeSource<Element>

        /// Returns the next element; nil once the subscription has ended without an error. Does not leave the caller's
        /// actor.
        /// - Throws: the error that ended the subscription, such as that of a query that cannot be evaluated or of an
        ///   object that cannot be read.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(StoreError) -> Element? {
            try await source.next(isolation: actor)
        }
    }
}

/// A subscription that ends with its last reference.
protocol ChangeSource<Element>: AnyObject, Sendable {
    associatedtype Element: Sendable

    func next(isolation actor: isolated (any Actor)?) async throws(StoreError) -> Element?
}

/// A subscription whose elements are made of what its channel holds, by the task that takes them.
///
/// Unchecked because of `makeElement`, which the iterating task alone calls.
final class PendingSource<Element: Sendable, Pending: Sendable>: ChangeSource, @unchecked Sendable {
    let channel: ChangeChannel<Pending>
    /// Makes an element of a pending change. Returns nil if there is nothing to report.
    private let makeElement: (Pending) -> Element?

    init(_ channel: ChangeChannel<Pending>, _ makeElement: @escaping (Pending) -> Element?) {
        self.channel = channel
        self.makeElement = makeElement
    }

    deinit { channel.finish(dropping: true) }

    func next(isolation actor: isolated (any Actor)?) async throws(StoreError) -> Element? {
        while let pending = try await channel.take(isolation: actor).get() {
            if let element = makeElement(pending) { return element }
        }
        return nil
    }
}

extension ChangeChannel {
    /// Ends the subscription of `token` with this channel, and the channel when the store is closed.
    func keep(_ token: NotificationToken, of core: StoreCore) {
        let key = ObjectIdentifier(self)
        whenFinished {
            token.invalidate()
            core.forgetClosing(key)
        }
        core.whenClosing(key) { [weak self] in self?.finish() }
    }
}
