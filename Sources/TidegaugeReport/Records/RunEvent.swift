// Events of a run besides figures, as stored in journal.ndjson.
import TidegaugeTrial

/// An event, one line of the journal: an object with one key, the name of the case.
public enum RunEvent: Sendable, Equatable {
    /// The request of the run. First line of a journal.
    case run(RunHeader)
    case trial(TrialRecord)
    case skipped(SkippedRecord)
    case judged(Judgement)
    case ended(EndRecord)
    /// Comparison with a baseline.
    case compared(BaselineComparison)

    /// Line of the journal, without the last events of hangs, which are in a separate file.
    func line() throws -> String {
        guard case .trial(var trial) = self else { return try JSONLines.text(self) }
        for index in trial.hangs?.indices ?? 0..<0 { trial.hangs![index].events = [] }
        return try JSONLines.text(RunEvent.trial(trial))
    }
}

extension RunEvent: Codable {
    private enum Key: String, CodingKey { case run, trial, skipped, judged, ended, compared }

    public init(from decoder: any Decoder) throws {
        let line = try decoder.container(keyedBy: Key.self)
        switch try line.onlyKey() {
        case .run: self = .run(try line.decode(RunHeader.self, forKey: .run))
        case .trial: self = .trial(try line.decode(TrialRecord.self, forKey: .trial))
        case .skipped: self = .skipped(try line.decode(SkippedRecord.self, forKey: .skipped))
        case .judged: self = .judged(try line.decode(Judgement.self, forKey: .judged))
        case .ended: self = .ended(try line.decode(EndRecord.self, forKey: .ended))
        case .compared: self = .compared(try line.decode(BaselineComparison.self, forKey: .compared))
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var line = encoder.container(keyedBy: Key.self)
        switch self {
        case .run(let header): try line.encode(header, forKey: .run)
        case .trial(let record): try line.encode(record, forKey: .trial)
        case .skipped(let record): try line.encode(record, forKey: .skipped)
        case .judged(let judgement): try line.encode(judgement, forKey: .judged)
        case .ended(let record): try line.encode(record, forKey: .ended)
        case .compared(let comparison): try line.encode(comparison, forKey: .compared)
        }
    }
}

/// The end of a run, also of an interrupted one. Missing if the run was killed.
public struct EndRecord: Codable, Sendable, Equatable {
    /// Exit code of the process.
    public var exitCode: Int32

    public init(exitCode: Int32) { self.exitCode = exitCode }
}
