// Rules for combinations of values of the load, its rows and faults. Pure.
import TidegaugeSpec

extension Settings {
    // MARK: When

    func checkArrivals(_ blame: Blame) {
        guard writers.load == .open else {
            for setting in [Setting.rate, .arrivals, .burst, .onTime, .offTime, .trace] {
                blame(
                    self[setting] != nil, [setting, .load],
                    "'\(setting.rawValue)' has no meaning with 'load: closed', where each commit starts when "
                        + (isLockstep ? "all have heard of the last" : "the last returned")
                        + " (remove one of the two)")
            }
            return
        }
        blame(
            point.wait == .delivery, [.wait, .load],
            "'wait: delivery' is for a closed loop: a schedule waits for nobody (add 'load: closed')")
        blame(
            writers.arrivals == .trace && self[.rate] != nil, [.rate, .arrivals],
            "'writers.rate' has no meaning with 'arrivals: trace', which says when each commit is due (remove it)")
    }

    // MARK: What

    func checkKeys(_ blame: Blame) {
        blame(
            writers.keys == .hot && self[.items] != nil
                && Double(dataset.items) * writers.hotKeys / Double(writers.count) < 1,
            [.hotKeys, .items, .writerThreads, .keys],
            "'writers.hot_keys' is less than one row of each writer's (more 'dataset.items', or a larger share)")
        if observers.sort == .list { checkLists(blame) }
        if dataset.links > 0 { checkLinks(blame) }
        for setting in [Setting.textCharacters, .payloadBytes, .tables] { checkWholeRows(setting, blame) }
    }

    /// The rows with text and bytes require ascending keys, no links and no list.
    private func checkWholeRows(_ setting: Setting, _ blame: Blame) {
        guard value(setting) != setting.row.defaultValue else { return }
        let name = setting.rawValue
        blame(dataset.keys != .ascending, [setting, .primaryKeys], "'\(name)' needs 'keys: ascending'")
        blame(
            dataset.links > 0, [setting, .links],
            "'\(name)' and 'dataset.links' do not go together (remove one of the two)")
        blame(
            observers.sort == .list, [setting, .sort],
            "'\(name)' and 'sort: list' do not go together (remove one of the two)")
    }

    private func checkLists(_ blame: Blame) {
        blame(
            observers.queries != .same, [.queries, .sort],
            "'sort: list' is one list that all observers watch ('queries: same', or another sort)")
        blame(
            self[.match] != nil && observers.match < 1, [.match, .sort],
            "'sort: list' is watched whole: 'observers.match' has no meaning (remove it)")
        blame(
            observers.idleQueries > 0, [.idleQueries, .sort],
            "'sort: list' is one list of all rows, without rows for 'observers.idle_queries' (remove one of the two)")
    }

    private func checkLinks(_ blame: Blame) {
        blame(
            writers.changes.keys.contains { $0 != WritersSpec.ChangeKind.touch.rawValue }, [.change, .links],
            "'dataset.links' puts the rows that change behind those that are watched, which only 'touch' leaves in "
                + "place (write 'change: touch')")
        blame(
            observers.sort == .list, [.sort, .links],
            "'sort: list' and 'dataset.links' do not go together (remove one of the two)")
        blame(
            observers.audit != .none, [.audit, .links],
            "'observers.audit' looks at rows without links (remove one of the two)")
        blame(dataset.keys != .ascending, [.primaryKeys, .links], "'dataset.links' needs 'keys: ascending'")
    }

    // MARK: Where

    func checkHosts(_ blame: Blame) {
        if observers.besideWriters != nil { checkObservers(.besideWriters, blame) }
        if observers.hosts != nil { checkObservers(.observerHosts, blame) }
        guard writers.hosts != nil else { return }
        blame(
            writers.process == .own, [.writerHosts, .process],
            "'writers.hosts' are processes of their own already (remove 'process: own')")
        blame(
            isLockstep, [.writerHosts, .wait],
            "'wait: delivery' is one writer that waits for its observers, and 'writers.hosts' are elsewhere (remove one of the two)"
        )
        blame(
            fault.kind != .none, [.writerHosts, .fault],
            "'fault.kind: \(fault.kind.rawValue)' is done to processes of this machine, and 'writers.hosts' are elsewhere (remove "
                + "one of the two)")
        blame(
            writers.count > WritersSpec.maximumThreads, [.writerHosts, .writerThreads],
            "\(writers.hosts ?? 0) hosts with \(writers.threads) threads are \(writers.count) writers, and "
                + "\(WritersSpec.maximumThreads) are the most")
    }

    /// - Parameter asking: setting that places observers on hosts.
    private func checkObservers(_ asking: Setting, _ blame: Blame) {
        let name = "'\(asking.rawValue)'"
        blame(
            writers.hosts == nil, [asking, .writerHosts],
            asking == .besideWriters
                ? "\(name) are on the hosts that write, and there are none (add 'writers.hosts')"
                : "\(name) are told of what other hosts write, and there are none (add 'writers.hosts')")
        blame(observers.count == 0, [asking, .observerCount], "\(name) observe as here: 'observers.count' is 0")
        blame(
            observers.reads != nil, [asking, .reads],
            "\(name) read nothing in their callbacks (remove 'observers.reads')")
        for setting in [Setting.textCharacters, .payloadBytes, .tables] {
            blame(
                value(setting) != setting.row.defaultValue, [asking, setting],
                "\(name) send rows of four numbers (remove '\(setting.rawValue)')")
        }
    }

    // MARK: What is done to it

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
                "'\(setting.rawValue)' has no meaning with 'fault.kind: \(kind.rawValue)'"
                    + (needed.isEmpty ? "" : ", which takes \(names)"))
        }
        let windowNs = point.spec.durationNs
        blame(
            needed.contains(.faultAt) && self[.faultAt] != nil && self[.duration] != nil
                && fault.atNs + fault.lengthNs >= windowNs, [.faultAt, .faultLength, .duration],
            "'fault.at' is over only after the measured window, which is \(Quantity.text(durationNs: windowNs))"
                + " long (earlier, or a longer 'duration')")
        blame(
            writers.process == .own && (writers.load != .open || writers.threads > 1),
            [.process, .load, .writerThreads],
            "'writers.process: own' is one writer that follows a schedule ('load: open', one thread)")
        checkHosts(blame)
        switch kind.needs {
        case .ownWriters:
            blame(
                writers.process != .own, [.fault, .process],
                "'fault.kind: \(kind.rawValue)' needs writers that can be hit alone (write 'writers.process: own')")
        case .files(let durability):
            blame(
                point.spec.durability == "memory", [.fault, .durability],
                "'fault.kind: \(kind.rawValue)' has nothing to hit in a store that lives in memory (write "
                    + "'durability: \(durability)')")
        case .checkedDeliveries:
            blame(
                observers.count == 0, [.fault, .observerCount],
                "'fault.kind: \(kind.rawValue)' needs deliveries: 'observers.count' is 0")
        case .ownServer:
            blame(
                point.spec.serverURL != nil, [.fault, .serverURL],
                "'fault.kind: \(kind.rawValue)' hits a server of the trial's own (remove one of the two)")
        case nil, .sharedStore: break
        }
    }

    func checkServer(_ blame: Blame) {
        let spec = point.spec
        blame(
            spec.serverURL != nil && (spec.serverTransport != nil || spec.serverStandbyNs != nil),
            [.serverURL, .serverTransport, .serverStandby],
            "'server.transport' and 'server.standby' are of a server of the trial's own: one that is there already stays as it is "
                + "(remove one of the two)")
    }
}
