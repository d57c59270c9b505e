// What a list keeps from one access to the next. On the scheduler of its connection.
import StillingWellTree

/// The elements that were read last, and the query that the list is. That is made for who is shown rows or observes them: an edit
/// takes a tenth less without.
class ListQuery {
    /// Whose list it is.
    private var owner: ObjectID?
    final var made: ConnectionQuery?
    /// For as long as neither number has changed.
    final var run: (elements: ListRun, epoch: Int, generation: Int)?

    /// Forgets what was another object's.
    @inline(__always)
    final func belong(to object: ObjectID) {
        if owner == object { return }
        if owner != nil { (made, run) = (nil, nil) }
        owner = object
    }
}
