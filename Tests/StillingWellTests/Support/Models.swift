import Foundation
import StillingWell

final class Note: StoredObject {
    @Stored(.primaryKey) var id = 0
    @Stored var title = ""
    @Stored var score = 0
    @Stored var weight = 0.0
    @Stored var done = false
    @Stored var due: Date? = nil
    @Stored var blob = Data()
    @Stored var tag = UUID()
    @Stored var group: Int? = nil
    @Stored var mood: Mood? = nil

    convenience init(id: Int, score: Int = 0, title: String = "", group: Int? = nil) {
        self.init()
        self.id = id
        self.score = score
        self.title = title
        self.group = group
    }
}

/// A class with a text as key, and with a default value that differs from instance to instance.
final class Person: StoredObject {
    @Stored(.primaryKey) var name = ""
    @Stored var token = UUID()
}

/// A class without a primary key.
final class LogLine: StoredObject {
    @Stored var text = ""
}
