// Measurements too small for a scenario: what tracing costs where it is off, the notification queue beside Foundation's, the
// way of one row change to a controller's delegate, and what reading costs. Prints a table; `make micro`.
import Foundation

let wanted = CommandLine.arguments.dropFirst()
if wanted.first == ReadingCost.loopCommand {
    try ReadingCost.runLoop(Array(wanted.dropFirst()))
    exit(0)
}
for (name, run) in [
    ("tracing", TracingCost.run), ("notification-queue", NotificationQueueCost.run),
    ("fetched-results", FetchedResultsCost.run), ("reading", ReadingCost.run),
] where wanted.isEmpty || wanted.contains(name) {
    print("== \(name)")
    try run()
}
exit(0)
