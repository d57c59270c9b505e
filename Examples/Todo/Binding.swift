// A reactive binding: reads objects and shows the result. When a value that was read changes, it reads again, and shows
// the result if it is a different one.
import Foundation
import Observation

@MainActor
final class Binding {
    private let read: () -> String
    private let show: (String) -> Void
    private var shown: String?

    init(_ read: @escaping () -> String, show: @escaping (String) -> Void) {
        (self.read, self.show) = (read, show)
        update()
    }

    private func update() {
        // Called once, before the change, on the changing thread. So the values are read later, on the main queue.
        let value = withObservationTracking(read) { [weak self] in
            DispatchQueue.main.async { MainActor.assumeIsolated { self?.update() } }
        }
        if value != shown { show(value) }
        shown = value
    }
}
