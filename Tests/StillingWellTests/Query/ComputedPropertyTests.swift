// Tests of key paths of computed properties.
import StillingWellFixtures
import Testing

@testable import StillingWell

@Suite("Computed properties in queries")
struct ComputedPropertyTests {
    private func path<Object: StoredObject>(_ keyPath: PartialKeyPath<Object>) -> ColumnPath? {
        try? ColumnPath.resolve(keyPath).get()
    }

    private func expectRefused<Object: StoredObject>(
        _ keyPath: PartialKeyPath<Object>, from name: String, line: Int = #line
    ) {
        guard case .failure(let refusal) = ColumnPath.resolve(keyPath) else {
            Issue.record("line \(line): a computed property was taken for '\(name)'")
            return
        }
        #expect(
            refusal.text.hasSuffix("is not a stored property, but something computed from '\(name)'; compare that one"),
            "line \(line): \(refusal.text)")
    }

    @Test("a computed property is refused, also where it returns the stored value")
    func computed() {
        expectRefused(\Star.isOrdinary, from: "isFavourite")
        expectRefused(\Star.shout, from: "title")
        expectRefused(\Star.shown, from: "title")
        expectRefused(\Star.positive, from: "stars")
        expectRefused(\Star.alias, from: "stars")
        expectRefused(\Star.halfStars, from: "weight")
        expectRefused(\Star.title.capitalized, from: "title")
        expectRefused(\Star.names.endIndex, from: "names")
    }

    @Test("a computed property on the way over a link, and at its end, is refused")
    func links() {
        expectRefused(\Star.near, from: "neighbour")
        expectRefused(\Star.near?.title, from: "title")
        expectRefused(\Star.neighbourTitle, from: "title")
        expectRefused(\Star.neighbour?.shout, from: "title")
        expectRefused(\Star.neighbour!.positive, from: "stars")
        expectRefused(\Star.near?.names, from: "names")
    }

    @Test("an overridden property is refused, and an inherited one is taken")
    func inheritance() {
        expectRefused(\LoudStar.title, from: "title")
        expectRefused(\LoudStar.shout, from: "title")
        #expect(path(\LoudStar.stars)?.columns == path(\Star.stars)?.columns)
        #expect(path(\LoudStar.readable)?.columns == path(\Star.readable)?.columns)
        #expect(path(\Planet.sun?.stars)?.columns.count == 2)
        expectRefused(\Planet.sun?.title, from: "title")
    }

    @Test("a requirement of a protocol is taken where a stored property fulfils it, and refused elsewhere")
    func requirements() {
        func check<Object: Shining>(_: Object.Type, isStored: Bool) {
            #expect(path(\Object.stars)?.columns == [2])
            #expect(path(\Object.neighbourStar?.stars) == nil)
            let refused: [PartialKeyPath<Object>] = [\.shout, \.shown, \.positive, \.isOrdinary]
            #expect(refused.map { path($0) == nil } == refused.map { _ in !isStored })
            expectRefused(\Object.doubleStars, from: "stars")
        }
        check(Star.self, isStored: false)
        check(Beacon.self, isStored: true)
        func inherited<Object: Star>(_: Object.Type) {
            #expect(path(\Object.stars)?.columns == [2])
            expectRefused(\Object.shown, from: "title")
        }
        inherited(LoudStar.self)
    }

    @Test("stored properties, links, lists and counts are taken")
    func stored() {
        let single: [PartialKeyPath<Star>] = [
            \.isFavourite, \.title, \.stars, \.weight, \.readable, \.nickname, \.neighbour, \.names,
        ]
        #expect(single.map { path($0)?.columns } == (0..<8).map { [$0] })
        #expect(path(\Star.names.count)?.columns == [7])
        #expect(path(\Star.neighbour?.title)?.columns == [6, 1])
        #expect(path(\Star.neighbour!.title)?.columns == [6, 1])
        #expect(path(\Star.neighbour?.nickname)?.columns == [6, 5])
        #expect(path(\Star.neighbour?.neighbour?.names.count)?.columns == [6, 6, 7])
        #expect(path((\Star.neighbour).appending(path: \.?.stars))?.columns == [6, 2])
        // Declared in another module.
        #expect(path(\SampleNumber.sample?.name)?.columns == [1, 0])
        #expect(path(\Sample.ratio)?.columns == [2])
    }

    @Test("a query by a computed property stops the program with that text")
    func stopping() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let test = try TestStore([Star.self])
            try test.read { _ = try $0.objects(Star.self).where(\.isOrdinary == true).count }
        }
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(text.contains("is not a stored property, but something computed from 'isFavourite'"), "\(text)")
    }
}

private protocol Shining: StoredObject {
    var stars: Int { get set }
    var shout: String { get }
    var shown: String { get }
    var positive: Int { get }
    var isOrdinary: Bool { get }
    var neighbourStar: Self? { get }
}

extension Shining {
    var doubleStars: Int { stars * 2 }
}

private class Star: StoredObject, Shining {
    @Stored var isFavourite = false
    @Stored var title = ""
    @Stored var stars = 0
    @Stored var weight = 0.0
    @Stored private(set) var readable = 0
    @Stored var nickname: String? = nil
    @Linked var neighbour: Star?
    @Listed var names: List<String>

    var isOrdinary: Bool { !isFavourite }
    var shout: String { title.uppercased() }
    var shown: String { title.isEmpty ? "untitled" : title }
    var positive: Int { max(0, stars) }
    var alias: Int {
        get { stars }
        set { stars = newValue }
    }
    var halfStars: Int { Int(weight * 2) }
    var near: Star? { neighbour }
    var neighbourStar: Self? { nil }
    var neighbourTitle: String? { neighbour?.title }
}

private final class LoudStar: Star {
    override var title: String {
        get { super.title.uppercased() }
        set { super.title = newValue }
    }
}

private final class Planet: StoredObject {
    @Linked var sun: LoudStar?
}

private final class Beacon: StoredObject, Shining {
    @Stored var shout = ""
    @Stored var shown = ""
    @Stored var stars = 0
    @Stored var positive = 0
    @Stored var isOrdinary = false
    var neighbourStar: Beacon? { nil }
}
