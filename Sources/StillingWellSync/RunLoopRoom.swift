// Whether a thread can have a run loop. Core Foundation takes descriptors for a thread's run loop when that is first asked for, and
// ends the process if there are none.
import Foundation
import Glibc

public enum RunLoopRoom {
    /// Descriptors of a run loop: for waking it, for its timers and for waiting on both. One more is left to other threads.
    private static let descriptors = 4
    private static let key = "StillingWellSync.RunLoopRoom"

    /// Whether the calling thread has a run loop, or there are descriptors for one.
    public static var isThere: Bool {
        let known = Thread.current.threadDictionary
        if known[key] != nil { return true }
        guard hasDescriptors else { return false }
        known[key] = true
        return true
    }

    /// Whether there are descriptors for the run loop of a further thread.
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
