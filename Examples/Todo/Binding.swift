// A reactive binding: something that is read of objects and shown, and shown anew when any of what was read has changed, by
// whomever.
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
        // Called before the change, once, and by whoever changes it: so it is read again in a turn of its own.
        let value = withObservationTracking(read) { [weak self] in
            DispatchQueue.main.async { MainActor.assumeIsolated { self?.update() } }
        }
        if value != shown { show(value) }
        shown = value
    }
}
