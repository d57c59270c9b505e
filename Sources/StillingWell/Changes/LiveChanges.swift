// Changes as an asynchronous sequence. Nothing is queued in it: a loop that is slow gets one element for all that happened
// meanwhile, computed from what it was told last to what is there now.

/// What happens to results, an object or a store, element by element, to any task:
///
///     for try await update in try notes.changes() { print(update.count, update.changes) }
///
/// At most one element waits to be taken. It pins no version of the store, and keeps one root of the collection.
///
/// The subscription begins where the sequence is made and ends with the task that iterates it, with the sequence itself, or
/// with the store, which finishes the loop. One task iterates at a time; several loops need a sequence each.
public struct LiveChanges<Element: Sendable>: AsyncSequence, Sendable {
    /// The query cannot be evaluated, or the object not be read.
    public typealias Failure = StoreError

    let source: any ChangeSource<Element>

    /// Takes elements from where the last iterator stopped.
    public func makeAsyncIterator() -> Iterator { Iterator(source: source) }

    /// Takes one element after the other.
    public struct Iterator: AsyncIteratorProtocol {
        let source: any ChangeSource<Element>

        /// The next element; nil once the task is cancelled, the store closed, or the object deleted.
        /// - Throws: what made the query fail, such as `tooManySnapshots`.
        public mutating func next() async throws(StoreError) -> Element? { try await next(isolation: nil) }

        /// As `next()`, without leaving the caller's actor.
        /// - Throws: what made the query fail.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(StoreError) -> Element? {
            try await source.next(isolation: actor)
        }
    }
}

/// One subscription; ends with its last reference.
protocol ChangeSource<Element>: AnyObject, Sendable {
    associatedtype Element: Sendable

    func next(isolation actor: isolated (any Actor)?) async throws(StoreError) -> Element?
}

/// A subscription whose elements are made of what its channel holds, by the task that takes them.
///
/// Unchecked because of `makeElement`, which the iterating task alone calls.
final class PendingSource<Element: Sendable, Pending: Sendable>: ChangeSource, @unchecked Sendable {
    let channel: ChangeChannel<Pending>
    /// Nil: there is nothing to tell after all.
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

    /// Ties the subscription behind `token` to this sequence, and both to the store.
    func keep(_ token: NotificationToken, of core: StoreCore) -> LiveChanges<Element> {
        let key = ObjectIdentifier(channel)
        channel.whenFinished {
            token.invalidate()
            core.forgetClosing(key)
        }
        core.whenClosing(key) { [weak channel] in channel?.finish() }
        return LiveChanges(source: self)
    }
}
