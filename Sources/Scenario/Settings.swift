// The values in force at one point: layers of settings, the later ones winning, and the typed view of the result.
// Values only.

/// A setting's value and where it was given.
struct GivenValue {
    var value: SettingValue
    var place: ScenarioProblem.Place
    /// The base of the file, a profile, a sweep, an option: later layers win, and get the blame.
    var layer: Layer

    enum Layer: Int, Comparable {
        case base, profile, sweep, option

        static func < (a: Layer, b: Layer) -> Bool { a.rawValue < b.rawValue }
    }
}

struct Settings {
    private(set) var given: [Setting: GivenValue] = [:]
    /// Given, but refused when it was read: no rule may complain about it a second time.
    var refused: Set<Setting> = []

    subscript(setting: Setting) -> GivenValue? {
        get { given[setting] }
        set { given[setting] = newValue }
    }

    /// These settings with `layer` over them.
    func overlaid(by layer: [Setting: GivenValue]) -> Settings {
        var result = self
        result.given.merge(layer) { _, later in later }
        result.refused.subtract(layer.keys)
        return result
    }

    /// The value in force; nil where nothing was given and there is no default.
    func value(_ setting: Setting) -> SettingValue? { given[setting]?.value ?? setting.defaultValue }

    // MARK: Typed views. A setting without a value reads as its zero; the rules refuse it before anybody looks.

    func integer(_ setting: Setting) -> Int {
        if case .integer(let value)? = value(setting) { value } else { 0 }
    }

    func durationNs(_ setting: Setting) -> Int64 {
        if case .durationNs(let value)? = value(setting) { value } else { 0 }
    }

    func word(_ setting: Setting) -> String {
        if case .word(let value)? = value(setting) { value } else { "" }
    }

    func share(_ setting: Setting) -> Double {
        if case .share(let value)? = value(setting) { value } else { 0 }
    }

    func number(_ setting: Setting) -> Double {
        if case .number(let value)? = value(setting) { value } else { 0 }
    }

    var rateHz: Double {
        if case .rateHz(let value)? = value(.rate) { value } else { 0 }
    }

    var changes: [String: Double] {
        if case .changes(let value)? = value(.change) { value } else { [:] }
    }

    // The words were checked against these very cases when they were read.

    var dataset: DatasetSpec {
        DatasetSpec(
            items: integer(.items), groups: max(integer(.groups), integer(.bystanders)),
            keys: DatasetSpec.Keys(rawValue: word(.primaryKeys))!, links: integer(.links),
            neighbour: DatasetSpec.Neighbour(rawValue: word(.neighbour))!)
    }

    var observers: ObserversSpec {
        var observers = ObserversSpec(
            count: integer(.observerCount), queries: ObserversSpec.Queries(rawValue: word(.queries))!,
            match: share(.match), sort: ObserversSpec.Sort(rawValue: word(.sort))!,
            deliver: ObserversSpec.Deliver(rawValue: word(.deliver))!, threads: integer(.observerThreads),
            bystanders: integer(.bystanders), workNs: durationNs(.work),
            calls: ObserversSpec.Calls(rawValue: word(.calls))!,
            subscribe: ObserversSpec.Subscribe(rawValue: word(.subscribe))!,
            audit: ObserversSpec.Audit(rawValue: word(.audit))!, pins: integer(.pins), operators: integer(.operators))
        observers.churn = integer(.churn) > 0 ? integer(.churn) : nil
        return observers
    }

    /// - Parameter trace: the due times of the file that `writers.trace` names.
    func writers(trace: [Int64]) -> WritersSpec {
        var writers = WritersSpec(
            threads: integer(.writerThreads), load: isLockstep ? .lockstep : WritersSpec.Load(rawValue: word(.load))!,
            rateHz: rateHz, arrivals: WritersSpec.Arrivals(rawValue: word(.arrivals))!, burst: max(1, integer(.burst)),
            changes: changes, rowsPerCommit: integer(.rowsPerCommit), keys: WritersSpec.Keys(rawValue: word(.keys))!)
        writers.process = WritersSpec.Process(rawValue: word(.process))!
        writers.onNs = durationNs(.onTime)
        writers.offNs = durationNs(.offTime)
        writers.traceNs = writers.arrivals == .trace ? trace : []
        writers.zipfExponent = number(.zipfExponent)
        writers.hotKeys = share(.hotKeys)
        writers.hotCommits = share(.hotCommits)
        return writers
    }

    /// A closed loop that waits for the deliveries.
    var isLockstep: Bool {
        word(.load) == WritersSpec.Load.closed.rawValue && word(.wait) == WritersSpec.Wait.delivery.rawValue
    }

    var fault: FaultSpec {
        FaultSpec(
            kind: FaultSpec.Kind(rawValue: word(.fault))!, atNs: durationNs(.faultAt),
            lengthNs: durationNs(.faultLength),
            amount: number(.faultAmount), every: integer(.faultEvery))
    }
}
