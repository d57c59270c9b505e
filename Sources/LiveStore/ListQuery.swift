// What a list keeps from one access to the next. On the scheduler of its connection.
import LiveStoreEngine

/// The elements that were read last, and the query that the list is. That is made for who is shown rows or observes them: an edit
/// takes a tenth less without.
final class ListQuery {
    var made: ConnectionQuery?
    /// For as long as neither number has changed.
    var run: (elements: ListRun, epoch: Int, generation: Int)?
}
