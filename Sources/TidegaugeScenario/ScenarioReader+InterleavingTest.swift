// Parses the threads, steps and endings of an interleaving test, strictly. Conditions across threads, such as
// barriers with one participant or unknown threads, are checked at the end.
import Foundation
import TidegaugeSpec

extension ScenarioReader {
    /// Settings that apply to interleaving tests.
    static let interleavingSettings: [Setting] = [.durability, .repetitions, .hangTimeout]

    private static let defaultName = "observer"
    private static let maximumNameBytes = 15

    /// Parses the interleaving test of a file and reports problems to `problems`.
    mutating func readInterleavingTest(
        _ entries: [YAMLNode.Entry], drivers: [String], _ start: Position
    ) -> InterleavingSpec {
        func entry(_ key: String) -> YAMLNode.Entry? { entries.first { $0.key == key } }
        var places: [String: Position] = [:]
        var play = InterleavingSpec(actors: entry("threads").map { readActors($0.value, &places) } ?? [])
        if let expect = entry("expect") {
            readEndings(expect.value, drivers, into: &play)
        } else {
            problems.add(start, "missing key 'expect': how it ends, completes, deadlock, stall or trap")
        }
        if let cycle = entry("cycle") {
            play.cycle = readCycle(cycle.value)
            let hasDeadlock = play.fallback == .deadlock || play.endings.values.contains(.deadlock)
            if !hasDeadlock, entry("expect") != nil {
                problems.add(cycle.position, "'cycle' applies only if 'expect' names a deadlock (remove it)")
            }
        }
        checkBarriers(play, places)
        return play
    }

    // MARK: Threads and steps

    private mutating func readActors(_ node: YAMLNode, _ places: inout [String: Position]) -> [InterleavingSpec.Actor] {
        guard case .mapping(let entries) = node.content, !entries.isEmpty else {
            expected("'threads' expects a map of names to steps, such as '{ main: [commit] }'", at: node)
            return []
        }
        return entries.map { entry in
            places["thread " + entry.key] = entry.position
            if entry.key.utf8.count > Self.maximumNameBytes {
                problems.add(
                    entry.position,
                    "the thread name '\(Quantity.clipped(entry.key))' is longer than the 15 bytes that the kernel keeps"
                )
            }
            guard case .mapping(let fields) = entry.value.content else {
                return .init(name: entry.key, place: .thread, steps: steps(entry.value, &places))
            }
            var actor = InterleavingSpec.Actor(name: entry.key, place: .thread, steps: [])
            for field in fields {
                switch field.key {
                case "runs_on": actor.place = word(field.value, of: "runs_on", InterleavingSpec.Place.self) ?? .thread
                case "steps": actor.steps = steps(field.value, &places)
                default: refuse("key", field.key, at: field.position, among: ["runs_on", "steps"])
                }
            }
            return actor
        }
    }

    private mutating func steps(_ node: YAMLNode, _ places: inout [String: Position]) -> [InterleavingSpec.Step] {
        guard let nodes = nodes(of: node, "expects a list of steps", " (write '[…]')") else { return [] }
        return nodes.compactMap { step($0, &places) }
    }

    private mutating func step(_ node: YAMLNode, _ places: inout [String: Position]) -> InterleavingSpec.Step? {
        let name: String
        let argument: YAMLNode?
        switch node.content {
        case .scalar(let text, _): (name, argument) = (text, nil)
        case .mapping(let entries) where entries.count == 1: (name, argument) = (entries[0].key, entries[0].value)
        default:
            expected("expects a step, a word or a word with what it needs", at: node)
            return nil
        }
        guard let form = StepRow.all.first(where: { $0.name == name })?.form else {
            refuse("step", name, at: node.position, among: StepRow.all.map(\.name))
            return nil
        }
        guard let step = step(form, argument, &places) else {
            problems.add(argument?.position ?? node.position, "'\(name)' is written \(form.usage(name))")
            return nil
        }
        note(step, argument?.position ?? node.position, &places)
        return step
    }

    /// Returns nil if the argument does not fit the step. Problems of nested steps are already reported.
    private mutating func step(
        _ form: StepForm, _ argument: YAMLNode?, _ places: inout [String: Position]
    ) -> InterleavingSpec.Step? {
        switch form {
        case .alone(let step): return argument == nil ? step : nil
        case .count(let make):
            guard let argument else { return make(1) }
            return integer(argument).map(make)
        case .steps(let make):
            guard let argument, case .sequence = argument.content else { return nil }
            return make(steps(argument, &places))
        case .subscription(let make): return (argument.map { text($0) } ?? Self.defaultName).map(make)
        case .subscribe: return subscribe(argument, &places)
        case .word(_, let make): return argument.flatMap(text).map(make)
        case .named(_, let make):
            guard case .mapping(let entries)? = argument?.content, entries.count == 1 else { return nil }
            return make(entries[0].key, steps(entries[0].value, &places))
        case .times: return times(argument, &places)
        }
    }

    private func text(_ node: YAMLNode) -> String? {
        if case .scalar(let text, _) = node.content, !text.isEmpty { text } else { nil }
    }

    private func integer(_ node: YAMLNode) -> Int? {
        guard let text = text(node), let value = try? Quantity.integer(text), (1...10_000).contains(value) else {
            return nil
        }
        return value
    }

    private mutating func subscribe(_ argument: YAMLNode?, _ places: inout [String: Position]) -> InterleavingSpec.Step?
    {
        guard let argument else { return .subscribe(name: Self.defaultName, count: 1, initial: [], update: []) }
        guard case .mapping(let fields) = argument.content else { return nil }
        var (name, count) = (Self.defaultName, 1)
        var (initial, update): ([InterleavingSpec.Step], [InterleavingSpec.Step]) = ([], [])
        for field in fields {
            switch field.key {
            case "as":
                guard let given = text(field.value) else { return nil }
                name = given
            case "count":
                guard let given = integer(field.value) else { return nil }
                count = given
            case "initial": initial = steps(field.value, &places)
            case "update": update = steps(field.value, &places)
            default: return nil
            }
        }
        return .subscribe(name: name, count: count, initial: initial, update: update)
    }

    private mutating func times(_ argument: YAMLNode?, _ places: inout [String: Position]) -> InterleavingSpec.Step? {
        guard case .mapping(let fields)? = argument?.content, fields.count == 2,
            let count = fields.first(where: { $0.key == "times" }).flatMap({ integer($0.value) }),
            let inside = fields.first(where: { $0.key == "steps" })
        else { return nil }
        return .times(count, steps(inside.value, &places))
    }

    /// Records the first position of each name for the checks at the end.
    private func note(_ step: InterleavingSpec.Step, _ position: Position, _ places: inout [String: Position]) {
        switch step {
        case .barrier(let point): places["barrier " + point] = places["barrier " + point] ?? position
        case .blocked(let name): places["blocked " + name] = places["blocked " + name] ?? position
        case .sync(let name, _), .async(let name, _): places["site " + name] = places["site " + name] ?? position
        case .cancel(let name), .requery(let name), .covered(let name):
            places["subscription " + name] = places["subscription " + name] ?? position
        case .subscribe(let name, _, _, _): places["subscribe " + name] = places["subscribe " + name] ?? position
        default: break
        }
    }

    // MARK: Endings

    private mutating func word<Word: RawRepresentable & CaseIterable>(
        _ node: YAMLNode, of key: String, _: Word.Type
    ) -> Word? where Word.RawValue == String {
        let known = Word.allCases.map(\.rawValue)
        guard let text = text(node) else {
            expected("'\(key)' expects one of \(known.joined(separator: ", "))", at: node)
            return nil
        }
        if let word = Word(rawValue: text) { return word }
        problems.add(
            node.position,
            "'\(key)' has the unknown value '\(Quantity.clipped(text))' \(Nearest.hint(for: text, among: known))")
        return nil
    }

    private mutating func readEndings(_ node: YAMLNode, _ drivers: [String], into play: inout InterleavingSpec) {
        guard case .mapping(let entries) = node.content else {
            play.fallback = word(node, of: "expect", InterleavingSpec.Ending.self)
            return
        }
        for entry in entries {
            guard drivers.contains(entry.key) else {
                let hint = Nearest.hint(for: entry.key, among: drivers)
                problems.add(
                    entry.position,
                    "'expect' names '\(Quantity.clipped(entry.key))', which is no driver here \(hint)")
                continue
            }
            play.endings[entry.key] = word(entry.value, of: "expect", InterleavingSpec.Ending.self)
        }
        for driver in drivers where !entries.contains(where: { $0.key == driver }) {
            problems.add(node.position, "'expect' does not say how it ends on '\(driver)' (add it)")
        }
    }

    private mutating func readCycle(_ node: YAMLNode) -> [String] {
        guard case .sequence(let nodes) = node.content, !nodes.isEmpty else {
            expected("'cycle' expects a list such as '[main > lock a]'", at: node)
            return []
        }
        return nodes.compactMap { node in
            let sides = text(node)?.split(separator: ">", maxSplits: 1) ?? []
            let parts = sides.map { $0.trimmingCharacters(in: .whitespacesAndNewlines) }
            guard parts.count == 2, parts.allSatisfy({ !$0.isEmpty }) else {
                expected("'cycle' expects 'thread > resource'", at: node)
                return nil
            }
            return parts.joined(separator: ">")
        }
    }

    // MARK: Conditions across actors

    private mutating func checkBarriers(_ play: InterleavingSpec, _ places: [String: Position]) {
        let names = play.actors.map(\.name)
        for (key, position) in places.sorted(by: { $0.value < $1.value }) {
            let parts = key.split(separator: " ", maxSplits: 1).map(String.init)
            guard parts.count == 2 else { continue }
            let name = parts[1]
            switch parts[0] {
            case "barrier" where play.actors.filter({ $0.allSteps.contains(.barrier(name)) }).count < 2:
                problems.add(position, "no other thread arrives at the barrier '\(Quantity.clipped(name))'")
            case "blocked" where !names.contains(name):
                problems.add(position, "there is no thread '\(name)' \(Nearest.hint(for: name, among: names))")
            case "site":
                let sites = play.actors.filter { $0.place != .thread }.map(\.name)
                if !sites.contains(name) {
                    problems.add(
                        position,
                        "'\(name)' is no delivery context \(Nearest.hint(for: name, among: sites)); one has 'runs_on: run-loop' or 'runs_on: queue'"
                    )
                }
            case "subscription" where places["subscribe " + name] == nil:
                problems.add(position, "no step subscribes as '\(name)' (write 'subscribe: { as: \(name) }')")
            default: break
            }
        }
        for actor in play.actors where actor.place == .thread {
            let isObserving = actor.steps.contains { step in
                switch step {
                case .subscribe, .beginWrite, .refresh, .requery, .writeLater: true
                default: false
                }
            }
            if isObserving, let position = places["thread " + actor.name] {
                problems.add(
                    position,
                    "'\(actor.name)' has a step that requires a delivery context (write 'runs_on: run-loop' or "
                        + "'runs_on: queue')"
                )
            }
        }
    }
}
