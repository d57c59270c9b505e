// State that a list keeps between accesses. On the scheduler of its connection.
import StillingWellTree

/// The elements read last and the list's query.
class ListQuery {
    /// Object that the list belongs to.
    private var owner: ObjectID?
    final var made: ConnectionQuery?
    /// Elements read last, with the connection's `rowEpoch` and the write's `generation` (-1 without a write) then.
    /// Valid while both numbers are unchanged.
    final var run: (elements: ListRun, epoch: Int, generation: Int)?

    /// Sets the owner. Discards the state if it was another object's.
    @inline(__always)
    final func belong(to object: ObjectID) {
        if owner == object { return }
        if owner != nil { (made, run) = (nil, nil) }
        owner = object
    }
}
