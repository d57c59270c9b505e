import Foundation
import StillingWell

enum Mood: Int, MappedValue, Comparable, CaseIterable {
    case calm, glad
    case wild = 7

    static func < (a: Mood, b: Mood) -> Bool { a.rawValue < b.rawValue }
}

/// A mapped type without a value for the empty text, which is the stored zero value.
enum Colour: String, MappedValue {
    case red, green, blue
}

/// A type of the program, stored as a text.
struct Place: MappedValue, Hashable {
    var x: Int
    var y: Int

    init(_ x: Int, _ y: Int) { (self.x, self.y) = (x, y) }

    init?(stored: String) {
        let parts = stored.split(separator: ",").compactMap { Int($0) }
        guard parts.count == 2 else { return nil }
        self.init(parts[0], parts[1])
    }

    var stored: String { "\(x),\(y)" }
}

/// A type stored as a date.
struct Day: MappedValue {
    var number: Int

    init(_ number: Int) { self.number = number }
    init(stored: Date) { number = Int(stored.timeIntervalSinceReferenceDate / 86_400) }
    var stored: Date { Date(timeIntervalSinceReferenceDate: Double(number) * 86_400) }
}

/// A type with a case for values of newer programs, so that no stored value is unknown.
enum Answer: String, MappedValue {
    case yes, no, other

    init(stored: String) { self = Self(rawValue: stored) ?? .other }
}

/// A type that writes values which it cannot read, like those of a newer program.
struct Even: MappedValue {
    var number: Int

    init(_ number: Int) { self.number = number }
    init?(stored: Int) {
        guard stored.isMultiple(of: 2) else { return nil }
        number = stored
    }
    var stored: Int { number }
}

final class Painting: StoredObject {
    @Stored(.primaryKey) var place = Place(0, 0)
    @Stored(.indexed) var mood = Mood.calm
    @Stored var second: Mood? = nil
    @Stored var colour = Colour.red
    @Stored(.indexed) var frame: Colour? = nil
    @Stored var day = Day(0)
    @Stored var answer = Answer.no
    @Stored var even = Even(0)
    @Stored var evens: Even? = nil
    @Stored var small: Int8 = 0
    @Stored var wide: Int64 = 0
    @Stored var count: UInt32? = nil
    @Stored var ratio: Float = 0
    @Linked var copyOf: Painting?
    @Listed var moods: List<Mood>
    @Listed var colours: List<Colour?>
    @Listed var numbers: List<Int16>
    @Listed var pairs: List<Even>

    convenience init(_ x: Int, _ mood: Mood = .calm, _ colour: Colour = .red) {
        self.init()
        place = Place(x, 0)
        self.mood = mood
        self.colour = colour
    }
}
