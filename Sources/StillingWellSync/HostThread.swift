// A thread that runs blocks for others, one at a time, while their callers wait. For state that belongs to the thread
// that made it, such as the ownership of a mutex, and must outlive any thread of the caller. The thread is not traced.
import Glibc

/// Runs blocks for one caller at a time. Ends with `end()`.
public final class HostThread: Sendable {
    /// Signalled by the caller after it has set `block`, and by `end()`. `done` is signalled by the thread after it has
    /// run the block.
    private let asked = PlainSemaphore()
    private let done = PlainSemaphore()
    /// Set by the caller before it signals `asked`, and taken by the thread afterwards. Nil ends the thread.
    private let block = DeliveryBound<(() -> Void)?>(nil)

    /// Starts the thread.
    /// - Throws: `ThreadError` if the system cannot start it.
    public init(starting name: String) throws(ThreadError) {
        let (handle, error) = ThreadStart.start(name) { [self] in
            while true {
                asked.wait()
                guard runBlock() else { return }
                done.signal()
            }
        }
        guard error == 0 else { throw ThreadError(name: name, code: error) }
        pthread_detach(handle)
    }

    /// Runs `body` on the thread and waits for it. Any thread except this one. Calls must not overlap.
    public func run<Result, Failure: Error>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
        var result: Swift.Result<Result, Failure>?
        withoutActuallyEscaping({ result = Swift.Result(catching: body) }) { escaping in
            block.claim()
            block.value = escaping
            asked.signal()
            done.wait()
        }
        return try result!.get()
    }

    /// Runs the block and releases it before returning, because it must not outlive its call. Returns false if there is
    /// no block.
    @inline(never)
    private func runBlock() -> Bool {
        block.claim()
        guard let taken = block.value.take() else { return false }
        taken()
        return true
    }

    /// Ends the thread. Nothing may be run afterwards.
    public func end() { asked.signal() }
}

/// A POSIX semaphore that begins at 0.
private final class PlainSemaphore: Sendable {
    private let semaphore = InlineCell(sem_t())

    init() { sem_init(semaphore.address, 0, 0) }

    deinit { sem_destroy(semaphore.address) }

    func signal() { sem_post(semaphore.address) }

    func wait() { while sem_wait(semaphore.address) != 0, errno == EINTR {} }
}
