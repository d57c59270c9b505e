// Lines from a script or from the standard input, passed to the main queue one at a time.
import Foundation

/// Calls `perform` on the main queue for each line, after the previous one is done. Calls it with nil after the last.
/// - Parameter script: path of a file, or nil for the standard input.
func readLines(
    _ script: String?, _ perform: @escaping @MainActor @Sendable (String?, @escaping @Sendable () -> Void) -> Void
) throws {
    let lines = try script.map {
        try String(contentsOfFile: $0, encoding: .utf8).split(separator: "\n").map(String.init)
    }
    Thread.detachNewThread {
        var rest = (lines ?? [])[...]
        while let line = lines == nil ? readLine() : rest.popFirst() {
            let done = DispatchSemaphore(value: 0)
            DispatchQueue.main.async { MainActor.assumeIsolated { perform(line) { done.signal() } } }
            done.wait()
        }
        DispatchQueue.main.async { MainActor.assumeIsolated { perform(nil) {} } }
    }
}
