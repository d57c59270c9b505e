// The program of an engine, and its reply to `hello`. The process of a trial gets both as JSON.
import Foundation
import StillingWellBasis
import TidegaugeDriver
import TidegaugeSpec

/// How an engine is started.
public struct EngineProgram: Codable, Sendable, Equatable {
    /// Name in place of the engine's own, to tell two versions apart; nil: its own.
    public var name: String?
    /// A command of the shell, such as `node engine.mjs`.
    public var command: String
    /// Variables that are added to the environment.
    public var environment: [String: String]
    /// Folder that it is started in; nil: that of this process.
    public var folder: String?

    public init(command: String, name: String? = nil, environment: [String: String] = [:], folder: String? = nil) {
        (self.name, self.command, self.environment, self.folder) = (name, command, environment, folder)
    }
}

/// The reply to `hello`.
struct EngineIntroduction: Codable, Sendable, Equatable {
    enum Versions: String, Codable, CaseIterable {
        case number, none

        init(from decoder: any Decoder) throws { self = try word(decoder) }
    }
    enum Shown: String, Codable, CaseIterable {
        case rows, keys, none

        init(from decoder: any Decoder) throws { self = try word(decoder) }
    }

    /// The engine's `facts` (Docs/engines.md).
    struct Facts: Codable, Sendable, Equatable {
        var durabilities: [String]
        var changeSets: Bool?
        var versions: Versions?
        var shows: Shown?
        var contents: Bool?
        var advancesTogether: Bool?
        var persists: Bool?
        var counters: [String]?
        var remarks: [String]?

        enum CodingKeys: String, CodingKey, CaseIterable {
            case durabilities, changeSets, versions, shows, contents, advancesTogether, persists, counters, remarks
        }
    }

    /// Names of the facts in a reply, whatever their values are.
    private struct FactNames: Decodable {
        struct Value: Decodable { init(from decoder: any Decoder) {} }

        var facts: [String: Value]
    }

    var name: String
    var engineVersion: String
    var runtime: String
    var facts: Facts

    init(_ reply: EngineMessage) throws {
        guard let line = reply.introduction else { throw ProcessFailure(.facts, "its reply to 'hello' has no 'facts'") }
        do {
            let known = Facts.CodingKeys.allCases.map(\.rawValue)
            let names = try JSONDecoder().decode(FactNames.self, from: Data(line)).facts.keys
            if let name = names.sorted().first(where: { !known.contains($0) }) {
                let hint =
                    Spelling.nearest(to: name, among: known).map { "did you mean '\($0)'?" }
                    ?? "known are \(known.joined(separator: ", "))"
                throw ProcessFailure(.facts, "its facts have the unknown name '\(name)': \(hint)")
            }
            self = try JSONDecoder().decode(Self.self, from: Data(line))
        } catch let error as DecodingError {
            throw ProcessFailure(.facts, "its reply to 'hello' cannot be used: \(Self.words(error))")
        }
        let unknown = facts.durabilities.filter { DurabilityLevel(rawValue: $0) == nil }
        if !unknown.isEmpty || facts.durabilities.isEmpty {
            throw ProcessFailure(
                .facts, "'durabilities' must be some of memory, relaxed and full, found \(facts.durabilities)")
        }
        let counters = facts.counters ?? []
        if let name = counters.first(where: { !Metric.isCounter($0) }) {
            throw ProcessFailure(
                .facts,
                "'counters' has '\(name)': a name has at most 40 lower-case letters, digits and '_', a letter first")
        }
        if Set(counters).count < counters.count {
            throw ProcessFailure(.facts, "'counters' has a name twice: \(counters)")
        }
        if facts.contents == false, facts.shows ?? .none != .none {
            throw ProcessFailure(
                .facts, "it has no contents, and says that it shows \(facts.shows!.rawValue): say 'none'")
        }
    }

    private static func words(_ error: DecodingError) -> String {
        func path(_ context: DecodingError.Context, _ last: [any CodingKey] = []) -> String {
            (context.codingPath + last).map(\.stringValue).joined(separator: ".")
        }
        return switch error {
        case .keyNotFound(let key, let context): "'\(path(context, [key]))' is missing"
        case .typeMismatch(_, let context), .valueNotFound(_, let context), .dataCorrupted(let context):
            "'\(path(context))': \(context.debugDescription)"
        @unknown default: "\(error)"
        }
    }

    /// The engine's facts as the harness's type. A missing fact counts as something that the engine does not do, except
    /// `versions`, which counts as `number`.
    var engineFacts: EngineFacts {
        EngineFacts(
            durabilities: Set(facts.durabilities.compactMap(DurabilityLevel.init)), persists: facts.persists ?? false,
            hasChangeSets: facts.changeSets ?? false
        ) {
            $0.hasVersions = facts.versions ?? .number == .number
            $0.shows =
                switch facts.shows ?? .none {
                case .rows: .rows
                case .keys: .keys
                case .none: .nothing
                }
            $0.advancesTogether = facts.advancesTogether ?? false
            // The write lock is in another process. The harness receives its times only after it has been released.
            $0.readsBesideWriter = false
            $0.remarks =
                ["\(engineVersion), \(runtime), in a process of its own"] + (facts.remarks ?? [])
                + (unchecked.map { [$0] } ?? [])
        }
    }

    /// A phrase that names what the harness cannot check because of the facts; nil if there is nothing.
    var unchecked: String? {
        var parts: [String] = []
        if facts.contents == false {
            parts.append("rows (fact 'contents')")
        } else if facts.shows ?? .none == .none {
            parts.append("rows of each delivery (fact 'shows')")
        }
        if facts.changeSets != true { parts.append("change sets (fact 'changeSets')") }
        return parts.isEmpty ? nil : "not checked: \(parts.joined(separator: ", "))"
    }
}

/// Decodes a word, and names the known ones if it is none of them.
private func word<Word: RawRepresentable<String> & CaseIterable>(_ decoder: any Decoder) throws -> Word {
    let text = try decoder.singleValueContainer().decode(String.self)
    if let word = Word(rawValue: text) { return word }
    let known = Word.allCases.map { "'\($0.rawValue)'" }.joined(separator: ", ")
    throw DecodingError.dataCorrupted(
        .init(codingPath: decoder.codingPath, debugDescription: "expects one of \(known), found '\(text)'"))
}
