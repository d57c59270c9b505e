// Queries that select rows from an order (limited, distinct) or by text, for the store and for the model.
import Foundation
import StillingWell

extension NoteQuery {
    /// Keeps the first note of each value.
    private static func first(
        of value: @escaping @Sendable (NoteValue) -> AnyHashable
    ) -> @Sendable ([NoteValue]) -> [NoteValue] {
        return { notes in
            var seen: Set<AnyHashable> = []
            return notes.filter { seen.insert(value($0)).inserted }
        }
    }

    private static func first(_ count: Int) -> @Sendable ([NoteValue]) -> [NoteValue] {
        return { Array($0.prefix(count)) }
    }

    private struct GroupAndDone: Hashable {
        let group: Int?
        let done: Bool
    }

    static let derived: [NoteQuery] = [
        NoteQuery(
            name: "by -score, first 5", live: { $0.sorted(by: \.score, ascending: false).limited(to: 5) },
            passes: { _ in true }, precedes: { order([compare($1.score, $0.score)]) }, shape: first(5)),
        NoteQuery(
            name: "score > 30, by score, first 3",
            live: { $0.where(\.score > 30).sorted(by: \.score).limited(to: 3) },
            passes: { $0.score > 30 }, precedes: { order([compare($0.score, $1.score)]) }, shape: first(3)),
        NoteQuery(
            name: "20 < score <= 70, by -score, title, first 4",
            live: {
                $0.where(\.score > 20 && \.score <= 70)
                    .sorted(by: [SortKey(\.score, ascending: false), SortKey(\Note.title)]).limited(to: 4)
            },
            passes: { $0.score > 20 && $0.score <= 70 },
            precedes: { order([compare($1.score, $0.score), compare($0.title, $1.title)]) }, shape: first(4)),
        NoteQuery(
            name: "not done, first 4", live: { $0.limited(to: 4).where(\.done == false) }, passes: { !$0.done },
            precedes: { _, _ in nil }, shape: first(4)),
        NoteQuery(
            name: "none of all", live: { $0.limited(to: 0) }, passes: { _ in true }, precedes: { _, _ in nil },
            shape: first(0)),
        NoteQuery(
            name: "by -score, distinct group",
            live: { $0.sorted(by: \.score, ascending: false).distinct(by: [\.group]) },
            passes: { _ in true }, precedes: { order([compare($1.score, $0.score)]) }, shape: first { $0.group }),
        NoteQuery(
            name: "score >= 40, by score, distinct done, group",
            live: { $0.where(\.score >= 40).sorted(by: \.score).distinct(by: [\.done, \.group]) },
            passes: { $0.score >= 40 }, precedes: { order([compare($0.score, $1.score)]) },
            shape: first { GroupAndDone(group: $0.group, done: $0.done) }),
        NoteQuery(
            name: "distinct done", live: { $0.distinct(by: [\.done]) }, passes: { _ in true },
            precedes: { _, _ in nil }, shape: first { $0.done }),
        NoteQuery(
            name: "by done, distinct title, first 3",
            live: { $0.distinct(by: [\.title]).limited(to: 3).sorted(by: \.done) },
            passes: { _ in true }, precedes: { order([compare($0.done ? 1 : 0, $1.done ? 1 : 0)]) },
            shape: { first(3)(first { bytes($0.title) }($0)) }),
    ]

    static let text: [NoteQuery] = [
        NoteQuery(
            name: "title begins with a, by title", live: { $0.where((\Note.title).hasPrefix("a")).sorted(by: \.title) },
            passes: { bytes($0.title).starts(with: "a".utf8) }, precedes: { order([compare($0.title, $1.title)]) }),
        NoteQuery(
            name: "title begins with a\\0, by -title",
            live: { $0.where((\Note.title).hasPrefix("a\0")).sorted(by: \.title, ascending: false) },
            passes: { bytes($0.title).starts(with: "a\0".utf8) }, precedes: { order([compare($1.title, $0.title)]) }),
        NoteQuery(
            name: "title begins with Ü or ends with R, without case",
            live: {
                $0.where(
                    (\Note.title).hasPrefix("Ü", caseInsensitive: true)
                        || (\Note.title).hasSuffix("R", caseInsensitive: true))
            },
            passes: { $0.title.hasPrefix("ü") || $0.title.hasSuffix("r") }, precedes: { _, _ in nil }),
        NoteQuery(
            name: "title begins with a, by score", live: { $0.where((\Note.title).hasPrefix("a")).sorted(by: \.score) },
            passes: { bytes($0.title).starts(with: "a".utf8) }, precedes: { order([compare($0.score, $1.score)]) }),
    ]
}
