// Whether a thread can have a run loop. Core Foundation opens descriptors when a thread's run loop is first requested,
// and ends the process if there are none.
import Foundation
import Glibc

public enum RunLoopRoom {
    /// Descriptors that must be free: three for a run loop (wake-up, timers, waiting on both) and one for other
    /// threads.
    private static let descriptors = 4
    private static let key = "StillingWellSync.RunLoopRoom"

    /// Whether there are descriptors for the run loop of the calling thread. Once true, it stays true for the thread,
    /// because the caller is expected to make the loop at once.
    public static var isThere: Bool {
        let known = Thread.current.threadDictionary
        if known[key] != nil { return true }
        guard hasDescriptors else { return false }
        known[key] = true
        return true
    }

    /// Whether there are descriptors for one more run loop.
    public static var hasDescriptors: Bool {
        var opened: [Int32] = []
        defer { for file in opened { close(file) } }
        for _ in 0..<descriptors {
            let file = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
            if file < 0 { return errno != EMFILE && errno != ENFILE }
            opened.append(file)
        }
        return true
    }
}
