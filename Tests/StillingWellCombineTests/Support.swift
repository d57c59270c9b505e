// A store of memos.
import Foundation
import StillingWell
import StillingWellFixtures

final class Memo: StoredObject {
    @Stored(.primaryKey) var id = 0
    @Stored var title = ""
    @Stored var score = 0

    convenience init(id: Int, score: Int) {
        self.init()
        self.id = id
        self.score = score
    }
}

final class Shelf: StoredObject {
    @Stored(.primaryKey) var id = 0
    @Listed var memos: List<Memo>
    @Listed var labels: List<String>

    convenience init(id: Int) {
        self.init()
        self.id = id
    }
}

/// A store in a new folder. The folder is removed with it.
final class PublisherStore: Sendable {
    let store: Store
    private let path: String

    init() throws {
        path = NSTemporaryDirectory() + "stillingwell-test-\(UUID().uuidString)"
        store = try Store(.init(path: path, models: [Memo.self, Shelf.self], durability: .relaxed))
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// Overwrites every page of the file that contains these bytes.
    func damagePages(with bytes: String) throws {
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: path + "/data.mdb"))
        defer { try? file.close() }
        let pageBytes = Int(getpagesize())
        var start: UInt64 = 0
        while let page = try file.read(upToCount: pageBytes), !page.isEmpty {
            if page.range(of: Data(bytes.utf8)) != nil {
                try file.seek(toOffset: start)
                try file.write(contentsOf: Data(count: page.count))
            }
            start += UInt64(page.count)
            try file.seek(toOffset: start)
        }
    }
}

typealias ManualScheduler = StillingWellFixtures.ManualScheduler

/// Base class of suites of publishers: three memos, and a connection that the test turns by hand.
class ThreeMemos {
    let test: PublisherStore
    let scheduler = ManualScheduler()
    let connection: Connection
    /// The memos sorted by score.
    let notes: Results<Memo>

    /// - Parameter more: adds further objects in the same write.
    init(_ more: (Connection) throws -> Void) throws {
        test = try PublisherStore()
        try test.store.write {
            for id in 0..<3 { try $0.add(Memo(id: id, score: id * 10)) }
            try more($0)
        }
        connection = try test.store.connect(on: .scheduler(scheduler))
        notes = try connection.objects(Memo.self).sorted(by: \.score)
    }
}
