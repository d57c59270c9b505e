// Callbacks of a notification queue from its run loop, in one mode: from a source in the next pass, or from an observer
// before the loop sleeps. On the queue's thread.
import CoreFoundation
import Foundation
import StillingWellSync

final class Outlet {
    private let loop = CFRunLoopGetCurrent()!
    private let mode: RunLoop.Mode
    private let body: (NotificationTiming) -> Void
    private var signal: RunLoopSignal?
    private var idleObserver: CFRunLoopObserver?
    private var isTurnRequested = false

    init(_ mode: RunLoop.Mode, _ body: @escaping (NotificationTiming) -> Void) {
        self.mode = mode
        self.body = body
        signal = RunLoopSignal("notification queue", mode: mode) { [weak self] in self?.turn() }
    }

    func request(_ timing: NotificationTiming) {
        switch timing {
        case .now, .asSoonAsPossible:
            if isTurnRequested { return }
            isTurnRequested = true
            signal?.signal()
        case .whenIdle:
            if idleObserver == nil { addIdleObserver() }
            // A handler that runs before the loop sleeps may request again. The loop must make another pass for that.
            CFRunLoopWakeUp(loop)
        }
    }

    private func turn() {
        isTurnRequested = false
        body(.asSoonAsPossible)
    }

    private func addIdleObserver() {
        let observer = CFRunLoopObserverCreateWithHandler(
            kCFAllocatorDefault, CFRunLoopActivity.beforeWaiting.rawValue, false, 0
        ) { [weak self] _, _ in self?.idle() }
        idleObserver = observer
        CFRunLoopAddObserver(loop, observer, mode.asCFRunLoopMode)
    }

    private func idle() {
        idleObserver = nil
        body(.whenIdle)
    }

    /// Whether the loop runs in a mode in which it calls this outlet.
    var isServed: Bool { signal?.isServed ?? false }

    func end() {
        signal?.invalidate()
        if let idleObserver { CFRunLoopObserverInvalidate(idleObserver) }
    }
}
