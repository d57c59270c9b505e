// Parses settings at the top level, in a section or in a profile, and sweeps over them.
import TidegaugeSpec

/// Settings of one layer of a file.
struct SettingsLayer {
    let layer: GivenValue.Layer
    var values: [Setting: GivenValue] = [:]
    /// Settings that were given with invalid values, or that a misspelt key probably meant.
    var refused: Set<Setting> = []
    /// Sweep of a profile, which replaces the scenario's sweep as a whole.
    var sweep: Sweep?

    init(_ layer: GivenValue.Layer) { self.layer = layer }

    /// Marks the setting or section that a misspelt key probably meant as refused, so that it does not count as
    /// missing.
    mutating func refuse(_ key: String?, in section: String?) {
        guard let key else { return }
        refused.formUnion(
            Setting.allCases.filter {
                section == nil ? $0.section ?? $0.key == key : $0.section == section && $0.key == key
            })
    }
}

extension ScenarioReader {
    static let sections = FileKey.sections.map(\.rawValue)

    /// Reads `entry` if it is a setting or a section, and ignores other keys.
    mutating func readSetting(_ entry: YAMLNode.Entry, into layer: inout SettingsLayer) {
        if Self.sections.contains(entry.key) {
            readSection(entry, into: &layer)
        } else if let setting = Setting(rawValue: entry.key), setting.section == nil {
            readValue(entry.value, of: setting, into: &layer)
        }
    }

    private mutating func readSection(_ section: YAMLNode.Entry, into layer: inout SettingsLayer) {
        let known = Setting.all(in: section.key)
        let keys = known.map(\.key).joined(separator: ", ")
        guard let entries = entries(of: section.value, "'\(section.key)' expects a map", " (keys: \(keys))") else {
            return layer.refused.formUnion(known)
        }
        for entry in entries {
            if let setting = known.first(where: { $0.key == entry.key }) {
                readValue(entry.value, of: setting, into: &layer)
            } else {
                layer.refuse(refuseUnknown(entry, among: known.map(\.key)), in: section.key)
            }
        }
    }

    private mutating func readValue(_ node: YAMLNode, of setting: Setting, into layer: inout SettingsLayer) {
        if let value = value(node, of: setting) {
            layer.values[setting] = GivenValue(value: value, place: problems.place(node.position), layer: layer.layer)
        } else {
            layer.refused.insert(setting)
        }
    }

    /// Returns the value, or nil after reporting a problem.
    mutating func value(_ node: YAMLNode, of setting: Setting) -> SettingValue? {
        do throws(ValueFault) {
            return try setting.value(from: node)
        } catch {
            problems.add(error.position ?? node.position, "'\(setting.rawValue)' \(error.message)")
            return nil
        }
    }

    // MARK: Sweeps

    mutating func readSweep(_ node: YAMLNode) -> Sweep {
        var sweep = Sweep(products: [], place: problems.place(node.position))
        switch node.content {
        case .mapping(let entries): readProduct(entries, node, into: &sweep)
        case .sequence(let nodes) where !nodes.isEmpty:
            for node in nodes where !problems.isFull {
                if case .mapping(let entries) = node.content {
                    readProduct(entries, node, into: &sweep)
                } else {
                    expected("'sweep' expects a map of keys to lists", at: node)
                    sweep.isComplete = false
                }
            }
        default:
            expected("'sweep' expects a map such as '{ dataset.items: [1_000, 10_000] }' or a list of them", at: node)
            sweep.isComplete = false
        }
        if sweep.pointCount > Sweep.maximumPoints {
            problems.add(node.position, "the sweep has more than \(Sweep.maximumPoints) points; shorten its lists")
            sweep.products = []
            sweep.isComplete = false
        }
        return sweep
    }

    private mutating func readProduct(_ entries: [YAMLNode.Entry], _ node: YAMLNode, into sweep: inout Sweep) {
        var product = Sweep.Product(axes: [])
        if entries.isEmpty { problems.add(node.position, "the sweep names no key (leave 'sweep' out, or name one)") }
        for entry in entries {
            guard let setting = sweptSetting(entry), let values = axis(entry.value, of: setting, into: &sweep),
                !values.isEmpty
            else {
                sweep.isComplete = false
                continue
            }
            product.axes.append((setting, values))
        }
        sweep.products.append(product)
    }

    private mutating func sweptSetting(_ entry: YAMLNode.Entry) -> Setting? {
        let known = Setting.swept.map(\.rawValue)
        guard let setting = Setting(rawValue: entry.key) else {
            let isSection = Self.sections.contains(entry.key)
            let inside = known.filter { $0.hasPrefix(entry.key + ".") }.joined(separator: ", ")
            let hint = isSection ? "(one of \(inside))" : Nearest.hint(for: entry.key, among: known)
            problems.add(entry.position, "a sweep over '\(Quantity.clipped(entry.key))', which is no key \(hint)")
            return nil
        }
        guard setting.row.isSwept else {
            problems.add(
                entry.position,
                "'\(entry.key)' cannot be swept: durations and numbers of trials are the same at all points")
            return nil
        }
        return setting
    }

    private mutating func axis(_ node: YAMLNode, of setting: Setting, into sweep: inout Sweep) -> [GivenValue]? {
        guard case .sequence(let nodes) = node.content, !nodes.isEmpty else {
            let isList = if case .sequence = node.content { true } else { false }
            problems.add(
                node.position,
                "the sweep over '\(setting.rawValue)' expects a list of values, found "
                    + (isList ? "an empty one" : "\(node.description) (write '[…]')"))
            return nil
        }
        var values: [GivenValue] = []
        var seen: Set<SettingValue> = []
        for node in nodes where !problems.isFull {
            guard let value = value(node, of: setting) else {
                sweep.isComplete = false
                continue
            }
            if seen.insert(value).inserted {
                values.append(GivenValue(value: value, place: problems.place(node.position), layer: .sweep))
            } else {
                problems.add(node.position, "'\(setting.rawValue)' takes the value \(value.text) twice in this list")
            }
        }
        return values
    }

    // MARK: Profiles

    mutating func readProfiles(_ node: YAMLNode) -> [Profile: SettingsLayer] {
        let names = Profile.allCases.map(\.rawValue)
        let keys = " (keys: \(names.joined(separator: ", ")))"
        guard let entries = entries(of: node, "'profiles' expects a map", keys) else { return [:] }
        var profiles: [Profile: SettingsLayer] = [:]
        for entry in entries {
            if let profile = Profile(rawValue: entry.key) {
                profiles[profile] = readProfile(entry)
            } else {
                refuse("profile", entry.key, at: entry.position, among: names)
            }
        }
        return profiles
    }

    private mutating func readProfile(_ profile: YAMLNode.Entry) -> SettingsLayer {
        var layer = SettingsLayer(.profile)
        let expected = "the profile '\(profile.key)' expects a map such as '{ duration: 5s }'"
        guard let entries = entries(of: profile.value, expected) else { return layer }
        let known = ["sweep"] + Self.sections + Setting.all(in: nil).map(\.rawValue)
        for entry in entries {
            if entry.key == "sweep" {
                layer.sweep = readSweep(entry.value)
            } else if known.contains(entry.key) {
                readSetting(entry, into: &layer)
            } else if FileKey.fixed.contains(where: { $0.rawValue == entry.key }) {
                problems.add(
                    entry.position,
                    "'\(entry.key)' holds for all profiles (a profile may change: \(known.joined(separator: ", ")))")
            } else {
                refuseUnknown(entry, among: known)
            }
        }
        return layer
    }
}
