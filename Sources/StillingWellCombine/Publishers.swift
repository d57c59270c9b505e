// Where publishers come from: results, lists, sections, objects, single properties, connections.
import StillingWell

#if canImport(Combine)
    import Combine
#else
    import OpenCombine
#endif

extension Results {
    /// The collection, when it has been evaluated and after every change. On the connection's scheduler.
    /// - Parameter keyPaths: the properties whose changes count as modifications; nil means all.
    public func publisher(
        keyPaths: [PartialKeyPath<Object>]? = nil
    ) -> Publishers.Map<LivePublisher<ResultsChange<Object>>, Results<Object>> {
        changePublisher(keyPaths: keyPaths).map { [self] _ in self }
    }

    /// What a collection observer is told: `.initial`, then change sets. A failure is the publisher's, never an `.error`
    /// value. On the connection's scheduler.
    /// - Parameter keyPaths: the properties whose changes count as modifications; nil means all.
    public func changePublisher(keyPaths: [PartialKeyPath<Object>]? = nil) -> LivePublisher<ResultsChange<Object>> {
        LivePublisher { [self] in makeFeed(keyPaths: keyPaths) }
    }
}

extension SectionedResults {
    /// The sections, when they have been evaluated and after every change. On the connection's scheduler.
    /// - Parameter keyPaths: the properties whose changes count as modifications; nil means all.
    public func publisher(
        keyPaths: [PartialKeyPath<Object>]? = nil
    ) -> Publishers.Map<LivePublisher<SectionedResultsChange<Key, Object>>, SectionedResults<Key, Object>> {
        changePublisher(keyPaths: keyPaths).map { [self] _ in self }
    }

    /// What an observer of sections is told: `.initial`, then change sets. A failure is the publisher's, never an `.error`
    /// value. On the connection's scheduler.
    /// - Parameter keyPaths: the properties whose changes count as modifications; nil means all.
    public func changePublisher(
        keyPaths: [PartialKeyPath<Object>]? = nil
    ) -> LivePublisher<SectionedResultsChange<Key, Object>> {
        LivePublisher { [self] in
            asQuery.makeFeed(keyPaths: keyPaths) { [self] in $0.map { .update(self, $0) } ?? .initial(self) }
        }
    }
}

extension List {
    /// The list, when it has been evaluated and after every change of it or of the objects in it. On the connection's
    /// scheduler.
    public func publisher() -> Publishers.Map<LivePublisher<ListChange<Element>>, List<Element>> {
        changePublisher().map { _ in self }
    }

    /// What a list's observer is told: `.initial`, then change sets. A failure is the publisher's, never an `.error` value.
    /// On the connection's scheduler.
    public func changePublisher() -> LivePublisher<ListChange<Element>> { LivePublisher { try makeFeed() } }
}

extension LiveObject {
    /// What an object's observer is told; finishes after `.deleted`. A failure is the publisher's, never an `.error` value.
    /// On the connection's scheduler.
    /// - Parameter keyPaths: the properties to hear of; nil means all.
    public func changePublisher(keyPaths: [PartialKeyPath<Self>]? = nil) -> LivePublisher<ObjectChange<Self>> {
        LivePublisher { [self] in try makeFeed(keyPaths: keyPaths) }
    }

    /// The value of one property, first the one it has; finishes when the object is deleted. On the connection's scheduler.
    public func publisher<Value: StorableValue>(for keyPath: KeyPath<Self, Value>) -> LivePublisher<Value> {
        LivePublisher { [self] in try makeFeed(of: keyPath) }
    }
}

extension Connection {
    /// What observers of the whole store are told. On the connection's scheduler.
    public var changePublisher: LivePublisher<StoreNotification> { LivePublisher { [self] in makeFeed() } }
}
