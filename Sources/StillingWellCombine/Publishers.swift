// Publishers of collections, objects and connections.
import StillingWell

#if canImport(Combine)
    import Combine
#else
    import OpenCombine
#endif

extension Results {
    /// Returns a publisher of the collection: once when it has been evaluated, then after changes. On the connection's
    /// scheduler.
    /// - Parameter keyPaths: properties whose changes count as modifications; nil for all.
    public func publisher(
        keyPaths: [PartialKeyPath<Object>]? = nil
    ) -> Publishers.Map<LivePublisher<ResultsChange<Object>>, Results<Object>> {
        changePublisher(keyPaths: keyPaths).map { [self] _ in self }
    }

    /// Returns a publisher of changes: `.initial`, then change sets. An error fails the publisher and is never an
    /// `.error` value. On the connection's scheduler.
    /// - Parameter keyPaths: properties whose changes count as modifications; nil for all.
    public func changePublisher(keyPaths: [PartialKeyPath<Object>]? = nil) -> LivePublisher<ResultsChange<Object>> {
        LivePublisher { [self] in makeFeed(keyPaths: keyPaths) }
    }
}

extension SectionedResults {
    /// Returns a publisher of the sections: once when they have been evaluated, then after changes. On the connection's
    /// scheduler.
    /// - Parameter keyPaths: properties whose changes count as modifications; nil for all.
    public func publisher(
        keyPaths: [PartialKeyPath<Object>]? = nil
    ) -> Publishers.Map<LivePublisher<SectionedResultsChange<Key, Object>>, SectionedResults<Key, Object>> {
        changePublisher(keyPaths: keyPaths).map { [self] _ in self }
    }

    /// Returns a publisher of changes: `.initial`, then change sets. An error fails the publisher and is never an
    /// `.error` value. On the connection's scheduler.
    /// - Parameter keyPaths: properties whose changes count as modifications; nil for all.
    public func changePublisher(
        keyPaths: [PartialKeyPath<Object>]? = nil
    ) -> LivePublisher<SectionedResultsChange<Key, Object>> {
        LivePublisher { [self] in
            asQuery.makeFeed(keyPaths: keyPaths) { [self] in $0.map { .update(self, $0) } ?? .initial(self) }
        }
    }
}

extension List {
    /// Returns a publisher of the list: once when it has been evaluated, then after changes of it or of its objects. On
    /// the connection's scheduler.
    public func publisher() -> Publishers.Map<LivePublisher<ListChange<Element>>, List<Element>> {
        changePublisher().map { _ in self }
    }

    /// Returns a publisher of changes: `.initial`, then change sets. An error fails the publisher and is never an
    /// `.error` value. On the connection's scheduler.
    public func changePublisher() -> LivePublisher<ListChange<Element>> { LivePublisher { try makeFeed() } }
}

extension LiveObject {
    /// Returns a publisher of the object's changes, which finishes after `.deleted`. An error fails the publisher and
    /// is never an `.error` value. On the connection's scheduler.
    /// - Parameter keyPaths: properties to report; nil for all.
    public func changePublisher(keyPaths: [PartialKeyPath<Self>]? = nil) -> LivePublisher<ObjectChange<Self>> {
        LivePublisher { [self] in try makeFeed(keyPaths: keyPaths) }
    }

    /// Returns a publisher of a property's current value and of later ones. It finishes when the object is deleted. On
    /// the connection's scheduler.
    public func publisher<Value: StorableValue>(for keyPath: KeyPath<Self, Value>) -> LivePublisher<Value> {
        LivePublisher { [self] in try makeFeed(of: keyPath) }
    }
}

extension Connection {
    /// Publisher of the events of the whole store. On the connection's scheduler.
    public var changePublisher: LivePublisher<StoreNotification> { LivePublisher { [self] in makeFeed() } }
}
