// Tests of publishers of a controller's changes, on a queue of their own.
import Dispatch
import FetchedResults
import FetchedResultsCombine
import Foundation
import OpenCombine
import StillingWell
import Testing

final class Skiff: StoredObject {
    @Stored(.primaryKey) var number = 0
    @Stored var quay = 0

    convenience init(_ number: Int, quay: Int) {
        self.init()
        self.number = number
        self.quay = quay
    }
}

@Suite("A controller's publisher", .timeLimit(.minutes(15)))
struct ControllerPublisherTests {
    private let store: Store
    private let queue = DispatchQueue(label: "controller")
    private let path = NSTemporaryDirectory() + "fetched-combine-\(UUID().uuidString)"

    init() throws {
        store = try Store(.init(path: path, models: [Skiff.self], durability: .memory))
        try store.write { for number in 0..<4 { try $0.add(Skiff(number, quay: number % 2)) } }
    }

    /// Runs a block on the controller's queue. Closes the store afterwards.
    private func run(_ body: (Connection) throws -> Void) throws {
        defer {
            store.close()
            try? FileManager.default.removeItem(atPath: path)
        }
        try queue.sync { try body(try store.connect(on: .queue(queue))) }
    }

    @Test("the initial sections, then their changes, without those that its token skips")
    func changes() throws {
        try run { connection in
            let request = FetchRequest(Skiff.self) { $0.sorted(by: \.number) }.sectioned(by: \.quay)
            let controller = FetchedResultsController(connection, request)
            #expect(throws: FetchedResultsError.notFetched) { try controller.changePublisher() }
            try controller.performFetch()
            var token: NotificationToken?
            var seen: [String] = []
            let cancellable = try controller.changePublisher().handleToken { token = $0 }.sink(
                receiveCompletion: { _ in },
                receiveValue: {
                    switch $0 {
                    case .initial(let controller): seen.append("\(controller.sections.map(\.objectCount))")
                    case .update(let controller, let changes):
                        seen.append(
                            "\(controller.sections.map(\.objectCount)) +\(changes.insertedSections) "
                                + "+\(changes.insertions.map { "\($0.section).\($0.row)" })")
                    }
                })
            #expect(seen.isEmpty)
            try store.write { try $0.add(Skiff(9, quay: 2)) }
            // The first evaluation is made on another thread, so the test waits for it.
            while seen.isEmpty {
                try store.write { try #require(try $0.object(Skiff.self, forPrimaryKey: 9)).quay = 2 }
                try connection.refresh()
            }
            #expect(seen == ["[2, 2, 1]"])
            seen = []
            let held = try #require(token)
            try connection.write(withoutNotifying: [held]) { try connection.add(Skiff(10, quay: 2)) }
            try connection.refresh()
            #expect(seen.isEmpty)
            try store.write { try $0.add(Skiff(11, quay: 3)) }
            try connection.refresh()
            #expect(seen == [#"[2, 2, 2, 1] +[3] +["3.0"]"#])
            cancellable.cancel()
            try store.write { try $0.add(Skiff(12, quay: 3)) }
            try connection.refresh()
            #expect(seen.count == 1)
            controller.invalidate()
        }
    }

    @Test("a request without sections is one section, which is there even when it is empty")
    func oneSection() throws {
        try run { connection in
            let controller = FetchedResultsController(connection, FetchRequest(Skiff.self) { $0.where(\.quay == 7) })
            try controller.performFetch()
            var seen: [String] = []
            let cancellable = try controller.changePublisher().sink(
                receiveCompletion: { _ in },
                receiveValue: {
                    if case .update(_, let changes) = $0 {
                        seen.append("\(changes.insertedSections) \(changes.insertions)")
                    } else {
                        seen.append("initial")
                    }
                })
            while seen.isEmpty {
                try store.write { try #require(try $0.object(Skiff.self, forPrimaryKey: 0)).quay = 0 }
                try connection.refresh()
            }
            try store.write { try $0.add(Skiff(9, quay: 7)) }
            try connection.refresh()
            #expect(seen == ["initial", "[] \([RowPath(section: 0, row: 0)])"])
            cancellable.cancel()
            controller.invalidate()
        }
    }
}
