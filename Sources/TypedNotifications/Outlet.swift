// How a queue is called back by its run loop in one mode: by a source when it comes round, by an observer before it
// sleeps. On the queue's thread.
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
            // A handler that is called before sleep asks for the next time; the loop must come round for that.
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

    /// Whether the loop is in a mode in which it calls back here.
    var isServed: Bool { signal?.isServed ?? false }

    func end() {
        signal?.invalidate()
        if let idleObserver { CFRunLoopObserverInvalidate(idleObserver) }
    }
}
