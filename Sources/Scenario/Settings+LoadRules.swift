// Which values of the load, of the rows it is about and of what is done to it on purpose cannot stand together. Pure.

extension Settings {
    // MARK: When

    func checkArrivals(_ blame: Blame) {
        let isClosed = word(.load) == WritersSpec.Load.closed.rawValue
        for setting in [Setting.rate, .arrivals, .burst, .onTime, .offTime, .trace]
        where isClosed && self[setting] != nil {
            blame(
                [setting, .load],
                "'\(setting.rawValue)' has no meaning with 'load: closed', where each commit starts when "
                    + (isLockstep ? "all have heard of the last" : "the last returned") + " (remove one of the two)")
        }
        guard !isClosed else { return }
        if word(.wait) == WritersSpec.Wait.delivery.rawValue {
            blame(
                [.wait, .load],
                "'wait: delivery' is for a closed loop: a schedule waits for nobody (add 'load: closed')")
        }
        checkBelongs(.burst, to: .bursts, "the number of commits in a burst", blame)
        checkBelongs(.onTime, to: .onOff, "how long commits come", blame)
        checkBelongs(.offTime, to: .onOff, "how long none come", blame)
        checkBelongs(.trace, to: .trace, "the file with the due times", blame)
        if word(.arrivals) == WritersSpec.Arrivals.trace.rawValue, self[.rate] != nil {
            blame(
                [.rate, .arrivals],
                "'writers.rate' has no meaning with 'arrivals: trace', which says when each commit is due (remove it)")
        }
    }

    /// `setting` has to be there with one kind of arrivals, and may not be with another.
    private func checkBelongs(
        _ setting: Setting, to arrivals: WritersSpec.Arrivals, _ meaning: String, _ blame: Blame
    ) {
        let isThat = word(.arrivals) == arrivals.rawValue
        if isThat, self[setting] == nil, !refused.contains(setting) {
            blame([.arrivals], "'arrivals: \(arrivals.rawValue)' needs '\(setting.rawValue)', \(meaning)")
        }
        if !isThat, self[setting] != nil {
            blame(
                [setting, .arrivals],
                "'\(setting.rawValue)' has a meaning only with 'arrivals: \(arrivals.rawValue)' (add it)")
        }
    }

    // MARK: What

    func checkKeys(_ blame: Blame) {
        let keys = WritersSpec.Keys(rawValue: word(.keys))
        if self[.zipfExponent] != nil, keys != .zipf, keys != .latest {
            blame(
                [.zipfExponent, .keys], "'writers.zipf_exponent' has a meaning only with 'keys: zipf' or 'keys: latest'"
            )
        }
        for setting in [Setting.hotKeys, .hotCommits] where self[setting] != nil && keys != .hot {
            blame([setting, .keys], "'\(setting.rawValue)' has a meaning only with 'keys: hot' (add it)")
        }
        if keys == .hot, self[.items] != nil {
            let rows = Double(integer(.items)) * share(.hotKeys) / Double(integer(.writerThreads))
            if rows < 1 {
                blame(
                    [.hotKeys, .items, .writerThreads, .keys],
                    "'writers.hot_keys' is less than one row of each writer's (more 'dataset.items', or a larger share)"
                )
            }
        }
        checkLists(blame)
        checkLinks(blame)
    }

    private func checkLists(_ blame: Blame) {
        guard word(.sort) == ObserversSpec.Sort.list.rawValue else { return }
        if word(.queries) != ObserversSpec.Queries.same.rawValue {
            blame(
                [.queries, .sort],
                "'sort: list' is one list that all observers watch ('queries: same', or another sort)")
        }
        if self[.match] != nil, share(.match) < 1 {
            blame([.match, .sort], "'sort: list' is watched whole: 'observers.match' has no meaning (remove it)")
        }
        if integer(.bystanders) > 0 {
            blame([.bystanders, .sort], "'sort: list' is one list of all rows: bystanders have none of their own")
        }
    }

    private func checkLinks(_ blame: Blame) {
        guard integer(.links) > 0 else { return }
        if changes.keys.contains(where: { $0 != WritersSpec.ChangeKind.touch.rawValue }) {
            blame(
                [.change, .links],
                "'dataset.links' puts the rows that change behind those that are watched, which only 'touch' leaves in "
                    + "place (write 'change: touch')")
        }
        if word(.sort) == ObserversSpec.Sort.list.rawValue {
            blame([.sort, .links], "'sort: list' and 'dataset.links' do not go together (remove one of the two)")
        }
        if word(.audit) != ObserversSpec.Audit.none.rawValue {
            blame([.audit, .links], "'observers.audit' looks at rows without links (remove one of the two)")
        }
        if word(.primaryKeys) != DatasetSpec.Keys.ascending.rawValue {
            blame([.primaryKeys, .links], "'dataset.links' needs 'keys: ascending'")
        }
    }

    // MARK: What is done to it

    /// What a kind of fault has to say, in the order it is asked for; nothing else may stand beside it.
    private static func parameters(_ kind: FaultSpec.Kind) -> [Setting] {
        switch kind {
        case .none: []
        case .stall, .writerStopped, .diskFull: [.faultAt, .faultLength]
        case .slowdown: [.faultAmount]
        case .loss, .reorder: [.faultEvery]
        case .writerKilled, .observerKilled, .clockStep: [.faultAt]
        case .slowFsync: [.faultLength]
        }
    }

    func checkFault(_ blame: Blame) {
        let kind = fault.kind
        let needed = Self.parameters(kind)
        for setting in [Setting.faultAt, .faultLength, .faultAmount, .faultEvery] {
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
        if needed.contains(.faultAt), self[.faultAt] != nil, self[.duration] != nil,
            fault.atNs + fault.lengthNs >= durationNs(.duration)
        {
            blame(
                [.faultAt, .faultLength, .duration],
                "'fault.at' is over only after the measured window, which is \(Quantity.text(durationNs: durationNs(.duration)))"
                    + " long (earlier, or a longer 'duration')")
        }
        let isOwn = word(.process) == WritersSpec.Process.own.rawValue
        if kind == .writerKilled || kind == .writerStopped, !isOwn {
            blame(
                [.fault, .process],
                "'fault.kind: \(kind.rawValue)' needs writers that can be hit alone (write 'writers.process: own')")
        }
        if isOwn, word(.load) != WritersSpec.Load.open.rawValue || integer(.writerThreads) > 1 {
            blame(
                [.process, .load, .writerThreads],
                "'writers.process: own' is one writer that follows a schedule ('load: open', one thread)")
        }
        if kind == .diskFull || kind == .slowFsync, word(.durability) == "memory" {
            blame(
                [.fault, .durability],
                "'fault.kind: \(kind.rawValue)' has nothing to hit in a store that lives in memory (write "
                    + "'durability: \(kind == .slowFsync ? "full" : "relaxed")')")
        }
        if kind.mustBeCaught, integer(.observerCount) == 0 {
            blame([.fault, .observerCount], "'fault.kind: \(kind.rawValue)' needs deliveries: 'observers.count' is 0")
        }
    }
}
