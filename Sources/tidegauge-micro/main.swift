// Measurements too small for a scenario: what tracing costs where it is off, the notification queue beside Foundation's, and
// the way of one row change to a controller's delegate. Prints a table; `make micro`.
import Foundation

let wanted = CommandLine.arguments.dropFirst()
for (name, run) in [
    ("tracing", TracingCost.run), ("notification-queue", NotificationQueueCost.run),
    ("fetched-results", FetchedResultsCost.run),
] where wanted.isEmpty || wanted.contains(name) {
    print("== \(name)")
    try run()
}
exit(0)
