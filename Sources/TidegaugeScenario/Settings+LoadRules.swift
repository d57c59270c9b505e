// Further rules for combinations of values. Pure.
import TidegaugeSpec

extension Settings {
    // MARK: Schedule

    func checkArrivals(_ blame: Blame) {
        guard writers.load == .open else {
            for setting in [Setting.rate, .arrivals, .burst, .onTime, .offTime, .trace] {
                blame(
                    self[setting] != nil, [setting, .load],
                    "'\(setting.rawValue)' does not apply with 'load: closed', where each commit begins after "
                        + (isLockstep ? "every observer was called for the last one" : "the last one returned")
                        + " (remove one of the two)")
            }
            return
        }
        blame(
            point.wait == .delivery, [.wait, .load],
            "'wait: delivery' requires a closed loop (add 'load: closed')")
        blame(
            writers.arrivals == .trace && self[.rate] != nil, [.rate, .arrivals],
            "'writers.rate' does not apply with 'arrivals: trace', which has the due time of each commit (remove it)")
    }

    // MARK: Rows

    func checkKeys(_ blame: Blame) {
        blame(
            writers.keys == .hot && self[.items] != nil
                && Double(dataset.items) * writers.hotKeys / Double(writers.count) < 1,
            [.hotKeys, .items, .writerThreads, .keys],
            "'writers.hot_keys' is less than one row per writer (more 'dataset.items', or a larger share)")
        if observers.sort == .list { checkLists(blame) }
        if dataset.links > 0 { checkLinks(blame) }
        for setting in [Setting.textCharacters, .payloadBytes, .tables] { checkWholeRows(setting, blame) }
    }

    /// Rows with texts, payloads or counterparts in other tables require ascending keys, no links and no list.
    private func checkWholeRows(_ setting: Setting, _ blame: Blame) {
        guard value(setting) != setting.row.defaultValue else { return }
        let name = setting.rawValue
        blame(dataset.keys != .ascending, [setting, .primaryKeys], "'\(name)' needs 'keys: ascending'")
        blame(
            dataset.links > 0, [setting, .links],
            "'\(name)' and 'dataset.links' cannot be combined (remove one of the two)")
        blame(
            observers.sort == .list, [setting, .sort],
            "'\(name)' and 'sort: list' cannot be combined (remove one of the two)")
    }

    private func checkLists(_ blame: Blame) {
        blame(
            observers.queries != .same, [.queries, .sort],
            "'sort: list' requires that all observers watch the list (write 'queries: same', or another sort)")
        blame(
            self[.match] != nil && observers.match < 1, [.match, .sort],
            "'observers.match' does not apply with 'sort: list', because the whole list is observed (remove it)")
        blame(
            observers.idleQueries > 0, [.idleQueries, .sort],
            "'sort: list' and 'observers.idle_queries' cannot be combined, because all rows are in the list (remove "
                + "one of the two)")
    }

    private func checkLinks(_ blame: Blame) {
        blame(
            writers.changes.keys.contains { $0 != WritersSpec.ChangeKind.touch.rawValue }, [.change, .links],
            "with 'dataset.links' the changed rows are not in the results, so only 'touch' can change them (write "
                + "'change: touch')")
        blame(
            observers.sort == .list, [.sort, .links],
            "'sort: list' and 'dataset.links' cannot be combined (remove one of the two)")
        blame(
            observers.audit != .none, [.audit, .links],
            "'observers.audit' and 'dataset.links' cannot be combined (remove one of the two)")
        blame(dataset.keys != .ascending, [.primaryKeys, .links], "'dataset.links' needs 'keys: ascending'")
    }

    // MARK: Processes and hosts

    func checkHosts(_ blame: Blame) {
        if observers.besideWriters != nil { checkObservers(.besideWriters, blame) }
        if observers.hosts != nil { checkObservers(.observerHosts, blame) }
        guard writers.hosts != nil else { return }
        blame(
            writers.process == .own, [.writerHosts, .process],
            "'writers.hosts' already have separate processes (remove 'process: own')")
        blame(
            isLockstep, [.writerHosts, .wait],
            "'wait: delivery' requires a writer in the observers' process, so it excludes 'writers.hosts' (remove "
                + "one of the two)"
        )
        blame(
            fault.kind != .none, [.writerHosts, .fault],
            "'fault.kind: \(fault.kind.rawValue)' affects processes of this machine only, so it excludes "
                + "'writers.hosts' (remove one of the two)")
        blame(
            writers.count > WritersSpec.maximumThreads, [.writerHosts, .writerThreads],
            "\(writers.hosts ?? 0) hosts with \(writers.threads) threads are \(writers.count) writers, at most "
                + "\(WritersSpec.maximumThreads) are possible")
    }

    /// - Parameter asking: setting that places observers on hosts.
    private func checkObservers(_ asking: Setting, _ blame: Blame) {
        let name = "'\(asking.rawValue)'"
        blame(
            writers.hosts == nil, [asking, .writerHosts],
            "\(name) requires hosts that write (add 'writers.hosts')")
        blame(observers.count == 0, [asking, .observerCount], "\(name) requires observers: 'observers.count' is 0")
        blame(
            observers.reads != nil, [asking, .reads],
            "\(name) excludes reads in callbacks (remove 'observers.reads')")
        for setting in [Setting.textCharacters, .payloadBytes, .tables] {
            blame(
                value(setting) != setting.row.defaultValue, [asking, setting],
                "\(name) supports rows of four numbers only (remove '\(setting.rawValue)')")
        }
    }

    // MARK: Faults

    func checkFault(_ blame: Blame) {
        let kind = fault.kind
        let needed = kind.row.takes
        let names = needed.map { "'\($0.rawValue)'" }.joined(separator: " and ")
        for setting in FaultSpec.parameters {
            let isNeeded = needed.contains(setting)
            blame(
                isNeeded && self[setting] == nil && !refused.contains(setting), [.fault],
                "'fault.kind: \(kind.rawValue)' needs '\(setting.rawValue)'")
            blame(
                !isNeeded && self[setting] != nil, [setting, .fault],
                "'\(setting.rawValue)' does not apply with 'fault.kind: \(kind.rawValue)'"
                    + (needed.isEmpty ? "" : ", which takes \(names)"))
        }
        let windowNs = point.spec.durationNs
        let isOfProfile = [Setting.faultAt, .faultLength, .duration].contains { self[$0]?.layer == .profile }
        let place = isOfProfile ? profile.map { " in the profile '\($0.rawValue)'" } ?? "" : ""
        blame(
            needed.contains(.faultAt) && self[.faultAt] != nil && self[.duration] != nil
                && fault.atNs + fault.lengthNs >= windowNs, [.faultAt, .faultLength, .duration],
            "the fault ends after the measured window, which is \(Quantity.text(durationNs: windowNs)) long\(place) (an "
                + "earlier 'fault.at', or a longer 'duration')")
        blame(
            writers.process == .own && (writers.load != .open || writers.threads > 1),
            [.process, .load, .writerThreads],
            "'writers.process: own' requires a single writer with a schedule (write 'load: open' and 'threads: 1')")
        checkHosts(blame)
        switch kind.needs {
        case .ownWriters:
            blame(
                writers.process != .own, [.fault, .process],
                "'fault.kind: \(kind.rawValue)' requires writers in a separate process (write 'writers.process: own')")
        case .files(let durability):
            blame(
                point.spec.durability == "memory", [.fault, .durability],
                "'fault.kind: \(kind.rawValue)' has nothing to hit in a store that lives in memory (write "
                    + "'durability: \(durability)')")
        case .checkedDeliveries:
            blame(
                observers.count == 0, [.fault, .observerCount],
                "'fault.kind: \(kind.rawValue)' requires deliveries: 'observers.count' is 0")
        case .ownServer:
            blame(
                point.spec.serverURL != nil, [.fault, .serverURL],
                "'fault.kind: \(kind.rawValue)' requires a server that the trial starts, so it excludes 'server.url' "
                    + "(remove one of the two)")
        case nil, .sharedStore: break
        }
    }

    func checkServer(_ blame: Blame) {
        let spec = point.spec
        blame(
            spec.serverURL != nil && (spec.serverTransport != nil || spec.serverStandbyNs != nil),
            [.serverURL, .serverTransport, .serverStandby],
            "'server.transport' and 'server.standby' require a server that the trial starts, so they exclude "
                + "'server.url' (remove one of the two)")
    }
}
