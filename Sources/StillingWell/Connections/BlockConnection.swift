// The connections behind blocks: of `store.read` and `store.write`, and of writes that are committed together.
import StillingWellBasis

/// A connection for the length of one block: at one version, or for one write.
class BlockConnection: Connection {
    /// The first thing that went wrong in a `store.read` block where it could not be thrown; the block's end throws it.
    private(set) final var failure: StoreError?
    private final var hasEnded = false

    /// The block has returned.
    final func end() {
        if transaction != nil { endOpenWrite() }
        delivered = nil
        read(from: nil)
        transaction = nil
        hasEnded = true
        thread = 0
    }

    /// Cancels a write that the block has begun and not ended.
    func endOpenWrite() { abandonWrite("its store.read or store.write block returned") }

    override final var isOver: Bool { hasEnded }

    override final var misuse: String? {
        guard hasEnded else { return nil }
        return """
            something of a store.read or store.write block was used after the block: copy what is needed inside the \
            block, or open a connection with store.connect(on:) for objects that stay
            """
    }

    override final func checkScheduler() { if hasEnded { stopProgram(misuse ?? "") } }

    override final func noteFailure(_ error: StoreError) { if failure == nil { failure = error } }
}

/// A connection for one block within a transaction that others share, and that somebody else commits.
final class PartConnection: BlockConnection {
    init(_ store: Store, in transaction: WriteTransaction) {
        super.init(store, at: nil)
        self.transaction = transaction
    }

    /// The transaction goes on with other blocks.
    override func endOpenWrite() {}

    override func ongoingWrite() throws -> WriteTransaction { throw StoreError.writeInsideWrite }
}
