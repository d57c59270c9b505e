// Model classes of damaged stores.
import Foundation
import StillingWell

final class Item: StoredObject {
    @Stored(.primaryKey) var key = 0
    @Stored(.indexed) var group = 0
    @Stored(.indexed) var name = ""
    @Stored var score = 0
    @Stored var weight: Double? = nil
    @Linked var next: Item?
}

final class Document: StoredObject {
    @Stored(.primaryKey) var title = ""
    @Stored var text = ""
    @Stored var data: Data? = nil
}

final class Folder: StoredObject {
    @Stored(.primaryKey) var name = ""
    @Listed var items: List<Item>
    @Listed var tags: List<String>
    @Listed var numbers: List<Int>
}

/// A model without a primary key.
final class Line: StoredObject {
    @Stored var text = ""
}
