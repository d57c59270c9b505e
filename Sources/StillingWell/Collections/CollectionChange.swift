// Events of observed collections.

/// An event of an observed collection: results, a list or sections.
public enum CollectionChange<Collection, Changes> {
    /// The collection has been evaluated. It is at the connection's `version`.
    case initial(Collection)
    /// The collection changed since this observer was last called.
    case update(Collection, Changes)
    /// The collection cannot be maintained any more. No further call comes.
    case error(StoreError)
}

/// An event of observed results.
public typealias ResultsChange<Object: StoredObject> = CollectionChange<Results<Object>, ChangeSet>

/// An event of an observed list.
public typealias ListChange<Element: ListElement> = CollectionChange<List<Element>, ChangeSet>

/// An event of observed sections.
public typealias SectionedResultsChange<Key: StorableValue, Object: StoredObject> = CollectionChange<
    SectionedResults<Key, Object>, SectionedChangeSet
>
