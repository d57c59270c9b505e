// Starts system threads with a closure and a name.
import CStillingWellPlatform
import Glibc
import StillingWellBasis

/// The argument of a new thread.
package final class ThreadStart {
    private let name: String
    private let body: () -> Void

    private init(_ name: String, _ body: @escaping () -> Void) { (self.name, self.body) = (name, body) }

    /// - Returns: the thread, and the system's error number; 0 on success.
    package static func start(_ name: String, _ body: @escaping () -> Void) -> (handle: pthread_t, error: Int32) {
        let start = ObjectPointer.kept(ThreadStart(name, body))
        var handle = pthread_t()
        let error = pthread_create(
            &handle, nil,
            { argument in
                let start = ObjectPointer.take(argument!, as: ThreadStart.self)
                cp_set_thread_name(start.name)
                start.body()
                return nil
            }, start)
        if error != 0 { ObjectPointer.release(start) }
        return (handle, error)
    }
}
