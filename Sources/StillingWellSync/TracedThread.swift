// A named thread that can be joined, unlike Foundation's.
import Glibc
import StillingWellBasis

/// The error of a thread that could not be started.
public struct ThreadError: Error, Sendable, CustomStringConvertible {
    public let name: String
    /// Error number of the system.
    public let code: Int32

    public var description: String {
        let remedy =
            switch code {
            case EAGAIN: "; end other threads, or raise the limit of processes (ulimit -u)"
            case EMFILE: "; close files, or raise the limit of open files (ulimit -n)"
            default: ""
            }
        return "cannot start thread '\(name)': \(String(cString: strerror(code)))\(remedy)"
    }
}

/// A thread that runs one closure. Must be joined or detached once.
public final class TracedThread: Sendable {
    public let resource: TracedResource
    private let handle: pthread_t
    /// Number of the thread in explored schedules. -1 if it is not controlled.
    private let controlled: Int

    /// Starts the thread, or ends the process if that fails.
    /// - Parameter name: name in the kernel, which keeps the first 15 bytes.
    public convenience init(
        _ name: String, _ body: @escaping @Sendable () -> Void, file: StaticString = #fileID, line: UInt = #line
    ) {
        do { try self.init(starting: name, body, file: file, line: line) } catch { stopProgram("\(error)") }
    }

    /// Starts the thread.
    /// - Parameter name: name in the kernel, which keeps the first 15 bytes.
    /// - Throws: `ThreadError` if the system cannot start it.
    public init(
        starting name: String, _ body: @escaping @Sendable () -> Void, file: StaticString = #fileID,
        line: UInt = #line
    ) throws(ThreadError) {
        let resource = TracedResource(.thread, name)
        let place = SourcePlace(file, line)
        let control = Tracing.isOn ? Tracing.hook?.control : nil
        let number = control?.register(name) ?? -1
        let (handle, error) = ThreadStart.start(name) {
            control?.begin(number)
            if Tracing.isOn { Tracing.report(.acquired, resource, place) }
            body()
            if Tracing.isOn { Tracing.report(.released, resource, place) }
            control?.end()
        }
        guard error == 0 else { throw ThreadError(name: name, code: error) }
        (self.handle, self.resource, controlled) = (handle, resource, number)
    }

    /// Whether the system can start another thread now. Takes as long as starting one.
    public static var canStart: Bool {
        let (handle, error) = ThreadStart.start("probe") {}
        if error == 0 { pthread_join(handle, nil) }
        return error == 0
    }

    /// Waits for the body to return and frees the thread.
    public func join(_ file: StaticString = #fileID, _ line: UInt = #line) {
        guard Tracing.isOn else {
            pthread_join(handle, nil)
            return
        }
        let place = SourcePlace(file, line)
        let hook = Tracing.hook
        hook?.note(.willWait, resource, place)
        if controlled >= 0 { hook?.control?.join(controlled) }
        pthread_join(handle, nil)
        hook?.note(.gaveUp, resource, place)
    }

    /// Waits for the body to return. On the thread itself, detaches it instead.
    public func joinOrDetach() {
        if isCurrent { pthread_detach(handle) } else { join() }
    }

    /// Detaches the thread, which is freed when its body returns.
    public func detach() { pthread_detach(handle) }

    /// Whether the calling thread is this one.
    public var isCurrent: Bool { pthread_equal(handle, pthread_self()) != 0 }
}
