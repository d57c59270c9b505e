// Resolves BASE and HEAD to two binaries and one plan, and collects what only one of them can run.
import ArgumentParser
import Foundation
import TidegaugeCompare
import TidegaugeMeasure
import TidegaugeProcessDriver
import TidegaugeReport
import TidegaugeRun
import TidegaugeScenario
import TidegaugeSpec

struct ComparedSides {
    /// A binary and the folder of its scenario files.
    private struct Side {
        var compared: ComparedSide
        var binary: OtherBinary
        var scenarios: String?
    }

    private let base: Side
    private let head: Side
    /// Drivers to compare on; nil: those of the options.
    private let engines: [String]?

    var binaries: (base: OtherBinary, head: OtherBinary) { (base.binary, head.binary) }

    /// Builds the sides if necessary.
    init(base baseName: String, head headName: String?, _ options: CompareOptions, _ run: CompareRun) throws {
        engines = nil
        if Self.isBinary(baseName), let headName, Self.isBinary(headName) {
            base = try Self.binary(baseName)
            head = try Self.binary(headName)
            return
        }
        let (repository, revisions) = try Self.revisions(baseName, headName)
        do {
            let build = CommitBuild(repository: repository, interruption: run.interruption, note: run.note)
            func side(_ revision: Revision) throws -> Side {
                let built = try build.build(
                    revision, product: options.product, configuration: options.configuration)
                var side = try Self.binary(built.executable)
                side.compared.name = revision.name
                side.compared.commit = revision.commit
                side.compared.isDirty = revision.isDirty
                side.scenarios = built.scenarios
                return side
            }
            base = try side(revisions.base)
            head = try side(revisions.head)
        } catch let error as ShellFailure {
            throw Self.exit(error, run)
        }
    }

    /// Builds engines of another language, which this binary measures on both sides.
    /// - Parameter command: command of the shell that builds a commit.
    init(
        base baseName: String, head headName: String?, build command: String, _ options: CompareOptions,
        _ run: CompareRun
    ) throws {
        let (repository, revisions) = try Self.revisions(baseName, headName)
        do {
            let build = CommitBuild(repository: repository, interruption: run.interruption, note: run.note)
            let folders = (
                base: try build.build(revisions.base, by: command), head: try build.build(revisions.head, by: command)
            )
            let own = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
            let ofHead = try Engines.meet(options.driver, in: folders.head)
            let names = ofHead.map(\.name)
            let ofBase = try Engines.meet(options.driver, in: folders.base, names: names)
            for (engine, argument) in zip(ofHead, options.driver) { try Engines.add(engine, argument) }
            func side(_ revision: Revision, _ engines: [KnownEngine]) throws -> Side {
                var side = try Self.binary(own)
                (side.compared.name, side.compared.commit) = (revision.name, revision.commit)
                side.compared.isDirty = revision.isDirty
                side.compared.engines = try Engines.json(engines)
                side.binary.talks.drivers += names
                side.binary.engines = side.compared.engines
                return side
            }
            base = try side(revisions.base, ofBase)
            head = try side(revisions.head, ofHead)
            engines = names
        } catch let error as ShellFailure {
            throw Self.exit(error, run)
        } catch let error as Engines.Refusal {
            throw Self.exit(error, run)
        }
    }

    private static func exit(_ error: any Error, _ run: CompareRun) -> ExitCode {
        if run.interruption.isRaised { return ExitCode(.interrupted) }
        printError("\(error)")
        return ExitCode(.fault)
    }

    private static func revisions(
        _ base: String, _ head: String?
    ) throws -> (Repository, (base: Revision, head: Revision)) {
        do {
            let repository = try Repository()
            return (
                repository,
                (try repository.revision(base), try head.map(repository.revision) ?? repository.workingTree())
            )
        } catch {
            throw ValidationError("\(error)")
        }
    }

    private static func isBinary(_ path: String) -> Bool {
        var isFolder: ObjCBool = false
        return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) && !isFolder.boolValue
            && FileManager.default.isExecutableFile(atPath: path)
    }

    private static func binary(_ path: String) throws -> Side {
        let absolute = URL(fileURLWithPath: path).standardizedFileURL.path
        do {
            let talks = try TrialProtocol.ask(absolute)
            return Side(
                compared: ComparedSide(
                    name: path, commit: "", executable: absolute, fingerprint: Fingerprint.of(absolute)),
                binary: OtherBinary(path: absolute, talks: talks), scenarios: nil)
        } catch {
            printError("\(error)")
            throw ExitCode(.fault)
        }
    }

    // MARK: Plan

    /// - Parameter isCountedOnly: whether no pairs are run.
    func plan(_ options: CompareOptions, isCountedOnly: Bool = false) throws -> ComparisonPlan {
        let place = folder(head, options)
        let loaded = ScenarioPaths.withoutServers(try ScenarioPaths.load([place]), asked: [place], isReported: false)
        let wanted = loaded.filter { options.isWanted($0.name) }
        if wanted.isEmpty {
            let near = options.scenario.first.map { Nearest.several(to: $0, among: loaded.map(\.name)) } ?? ""
            throw ValidationError("no scenario matches \(options.scenario.joined(separator: ", "))\(near)")
        }
        let all = try Subjects(
            wanted, areNamed: !options.scenario.isEmpty, profile: options.profile, drivers: engines ?? options.driver,
            overrides: RunPlan.overrides(options.set))
        var oneSided = all.skipped + scenariosOfOneSide(loaded, options)
        let subjects = all.subjects.filter { subject in
            guard let refusal = refusal(subject) else { return true }
            oneSided.append(OneSided(what: subject.title, why: refusal))
            return false
        }
        if !isCountedOnly, let obstacle = Looks.obstacle(screenPairs: options.pairs, gates: subjects.count) {
            throw ValidationError(obstacle)
        }
        var (base, head) = (base.compared, head.compared)
        (base.shim, head.shim) = try options.shims
        let calibratedNs = Calibration.ofThisMachine(options.out)?.hiccupP99Ns
        return ComparisonPlan(
            base: base, head: head, subjects: subjects, oneSided: oneSided,
            profile: options.profile, pairs: isCountedOnly ? 0 : options.pairs,
            budgetSeconds: try options.budgetSeconds,
            seed: options.seed ?? .random(in: 1 ... .max),
            rule: options.keepNoisy ? .keepingEverything : VoidRule(NoiseLimits(calibratedHiccupNs: calibratedNs)),
            resamples: options.resamples)
    }

    private func folder(_ side: Side, _ options: CompareOptions) -> String {
        // Files of an older commit may contain former words, which are refused.
        guard let scenarios = side.scenarios, options.scenarios == "Scenarios",
            side.binary.talks.specVersion == TrialSpec.currentVersion
        else { return options.scenarios }
        return scenarios
    }

    /// Returns why one of the binaries cannot run the subject, or nil if both can.
    private func refusal(_ subject: ComparedSubject) -> String? {
        for (name, side) in [("base", base), ("head", head)] {
            let talks = side.binary.talks
            let driver = SpecDialect.driver(subject.driver, version: talks.specVersion)
            if !talks.drivers.contains(driver) { return "the \(name) has no driver '\(driver)'" }
            for point in subject.points {
                do {
                    _ = try SpecDialect.json(point, version: talks.specVersion)
                } catch {
                    return "the \(name) does not run: \(error)"
                }
            }
        }
        return nil
    }

    /// Scenarios whose file only one side has. A new scenario is run on both binaries, but reported.
    private func scenariosOfOneSide(_ loaded: [Scenario], _ options: CompareOptions) -> [OneSided] {
        guard let baseFolder = base.scenarios, head.scenarios != nil else { return [] }
        let names = FileManager.default.enumerator(atPath: baseFolder)?.compactMap { $0 as? String } ?? []
        let base = Set(
            names.filter { $0.hasSuffix(".yaml") }.map {
                (($0 as NSString).lastPathComponent as NSString).deletingPathExtension
            }.map { RenamedWords.scenarios[$0] ?? $0 })
        let head = Set(loaded.map(\.name))
        return base.subtracting(head).sorted().map { OneSided(what: $0, why: "only the base has this scenario") }
            + head.subtracting(base).sorted().map {
                OneSided(what: "\($0), as a file", why: "only the head has this scenario; both binaries run it")
            }
    }
}
