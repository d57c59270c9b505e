// Enqueuing where so many distinct notifications wait already: the typed queue beside Foundation's, in one run.
import Foundation
import TypedNotifications

enum NotificationQueueCost {
    private static let waiting = [10, 100, 1_000, 4_000]
    private static let more = 200
    private static let rounds = 5

    final class Sender {}

    struct Changed: TypedNotification {
        typealias Poster = Sender
        let number: Int
    }

    static func run() {
        print("waiting   Foundation   typed   ns per enqueue, coalescing on name (type) and sender (poster)")
        for count in waiting {
            let senders = (0..<count + more).map { _ in Sender() }
            let objects = (0..<count + more).map { _ in NSObject() }
            var foundation: [Double] = []
            var typed: [Double] = []
            for _ in 0..<rounds {
                let queue = NotificationQueue(notificationCenter: NotificationCenter())
                func enqueue(_ index: Int) {
                    queue.enqueue(
                        Notification(name: Notification.Name("changed"), object: objects[index]),
                        postingStyle: .whenIdle, coalesceMask: [.onName, .onSender], forModes: [.default])
                }
                for index in 0..<count { enqueue(index) }
                foundation.append(Timing.perCallNs(more) { enqueue(count + $0) })
                let mine = TypedNotificationQueue(TypedNotificationCenter())
                for index in 0..<count { mine.enqueue(Changed(number: index), by: senders[index], .whenIdle) }
                typed.append(
                    Timing.perCallNs(more) { mine.enqueue(Changed(number: $0), by: senders[count + $0], .whenIdle) })
                precondition(mine.count == count + more)
            }
            let (theirs, ours) = (Timing.median(foundation), Timing.median(typed))
            print(
                "\(count)\t  \(Timing.shown(theirs))\t       \(Timing.shown(ours))\t  "
                    + "\(Timing.shown(theirs / ours)) times as fast")
        }
    }
}
