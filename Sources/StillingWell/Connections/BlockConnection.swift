// Connections behind `store.read` and `store.write` blocks, and behind asynchronous writes that share a commit.
import StillingWellBasis

/// A connection that lives for one block: at one version, or for one write.
class BlockConnection: Connection {
    /// First error of a `store.read` block that could not be thrown where it occurred. Thrown at the end of the block.
    private(set) final var failure: StoreError?
    private final var hasEnded = false

    final func end() {
        if transaction != nil { endOpenWrite() }
        delivered = nil
        read(from: nil)
        transaction = nil
        hasEnded = true
        thread = 0
    }

    /// Cancels a write that the block began and did not end.
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

/// A connection for one block within a shared transaction. The owner of the transaction commits it.
final class PartConnection: BlockConnection {
    init(_ store: Store, in transaction: WriteTransaction) {
        super.init(store, at: nil)
        self.transaction = transaction
    }

    /// Does nothing: the transaction continues with other blocks. Its owner calls `endAdditions`.
    override func endOpenWrite() {}

    override func ongoingWrite() throws -> WriteTransaction { throw StoreError.writeInsideWrite }
}
