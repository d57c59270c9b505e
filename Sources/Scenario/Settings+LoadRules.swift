// Which values of the load, of the rows it is about and of what is done to it on purpose cannot stand together. Pure.

extension Settings {
    // MARK: When

    func checkArrivals(_ blame: Blame) {
        if writers.load != .open {
            for setting in [Setting.rate, .arrivals, .burst, .onTime, .offTime, .trace] where self[setting] != nil {
                blame(
                    [setting, .load],
                    "'\(setting.rawValue)' has no meaning with 'load: closed', where each commit starts when "
                        + (isLockstep ? "all have heard of the last" : "the last returned")
                        + " (remove one of the two)")
            }
            return
        }
        if point.wait == .delivery {
            blame(
                [.wait, .load],
                "'wait: delivery' is for a closed loop: a schedule waits for nobody (add 'load: closed')")
        }
        if writers.arrivals == .trace, self[.rate] != nil {
            blame(
                [.rate, .arrivals],
                "'writers.rate' has no meaning with 'arrivals: trace', which says when each commit is due (remove it)")
        }
    }

    // MARK: What

    func checkKeys(_ blame: Blame) {
        if writers.keys == .hot, self[.items] != nil,
            Double(dataset.items) * writers.hotKeys / Double(writers.threads) < 1
        {
            blame(
                [.hotKeys, .items, .writerThreads, .keys],
                "'writers.hot_keys' is less than one row of each writer's (more 'dataset.items', or a larger share)")
        }
        if observers.sort == .list { checkLists(blame) }
        if dataset.links > 0 { checkLinks(blame) }
    }

    private func checkLists(_ blame: Blame) {
        if observers.queries != .same {
            blame(
                [.queries, .sort],
                "'sort: list' is one list that all observers watch ('queries: same', or another sort)")
        }
        if self[.match] != nil, observers.match < 1 {
            blame([.match, .sort], "'sort: list' is watched whole: 'observers.match' has no meaning (remove it)")
        }
        if observers.bystanders > 0 {
            blame([.bystanders, .sort], "'sort: list' is one list of all rows: bystanders have none of their own")
        }
    }

    private func checkLinks(_ blame: Blame) {
        if writers.changes.keys.contains(where: { $0 != WritersSpec.ChangeKind.touch.rawValue }) {
            blame(
                [.change, .links],
                "'dataset.links' puts the rows that change behind those that are watched, which only 'touch' leaves in "
                    + "place (write 'change: touch')")
        }
        if observers.sort == .list {
            blame([.sort, .links], "'sort: list' and 'dataset.links' do not go together (remove one of the two)")
        }
        if observers.audit != .none {
            blame([.audit, .links], "'observers.audit' looks at rows without links (remove one of the two)")
        }
        if dataset.keys != .ascending {
            blame([.primaryKeys, .links], "'dataset.links' needs 'keys: ascending'")
        }
    }

    // MARK: What is done to it

    func checkFault(_ blame: Blame) {
        let kind = fault.kind
        let needed = kind.row.takes
        for setting in FaultSpec.parameters {
            let isNeeded = needed.contains(setting)
            if isNeeded, self[setting] == nil, !refused.contains(setting) {
                blame([.fault], "'fault.kind: \(kind.rawValue)' needs '\(setting.rawValue)'")
            }
            if !isNeeded, self[setting] != nil {
                let names = needed.map { "'\($0.rawValue)'" }.joined(separator: " and ")
                blame(
                    [setting, .fault],
                    "'\(setting.rawValue)' has no meaning with 'fault.kind: \(kind.rawValue)'"
                        + (needed.isEmpty ? "" : ", which takes \(names)"))
            }
        }
        let windowNs = point.spec.durationNs
        if needed.contains(.faultAt), self[.faultAt] != nil, self[.duration] != nil,
            fault.atNs + fault.lengthNs >= windowNs
        {
            blame(
                [.faultAt, .faultLength, .duration],
                "'fault.at' is over only after the measured window, which is \(Quantity.text(durationNs: windowNs))"
                    + " long (earlier, or a longer 'duration')")
        }
        if writers.process == .own, writers.load != .open || writers.threads > 1 {
            blame(
                [.process, .load, .writerThreads],
                "'writers.process: own' is one writer that follows a schedule ('load: open', one thread)")
        }
        checkNeed(of: kind, blame)
    }

    private func checkNeed(of kind: FaultSpec.Kind, _ blame: Blame) {
        switch kind.needs {
        case .ownWriters where writers.process != .own:
            blame(
                [.fault, .process],
                "'fault.kind: \(kind.rawValue)' needs writers that can be hit alone (write 'writers.process: own')")
        case .files(let durability) where point.spec.durability == "memory":
            blame(
                [.fault, .durability],
                "'fault.kind: \(kind.rawValue)' has nothing to hit in a store that lives in memory (write "
                    + "'durability: \(durability)')")
        case .checkedDeliveries where observers.count == 0:
            blame([.fault, .observerCount], "'fault.kind: \(kind.rawValue)' needs deliveries: 'observers.count' is 0")
        case nil, .ownWriters, .sharedStore, .files, .checkedDeliveries: break
        }
    }
}
