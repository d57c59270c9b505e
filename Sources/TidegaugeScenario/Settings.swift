// Values at one point, from layers of settings of which later ones win, and their typed view. Values only.
import TidegaugeSpec

/// A value of a setting and its position.
struct GivenValue {
    var value: SettingValue
    var place: ScenarioProblem.Place
    /// Layer of the value. Later layers win, and conflicts are reported for them.
    var layer: Layer

    enum Layer: Comparable {
        case base, profile, sweep, option
    }
}

struct Settings {
    private(set) var given: [Setting: GivenValue] = [:]
    /// Settings that were given but refused when read. Rules do not report them again.
    var refused: Set<Setting> = []
    /// Profile that the values are of, for error messages.
    var profile: Profile?
    /// Values in force as a sweep point. Settings without value or default are as in `TrialSpec.blank`.
    private(set) var point = SweepPoint.defaults

    subscript(setting: Setting) -> GivenValue? { given[setting] }

    /// Returns the settings with another layer on top.
    func overlaid(by layer: [Setting: GivenValue]) -> Settings {
        var result = self
        result.given.merge(layer) { _, later in later }
        result.refused.subtract(layer.keys)
        for (setting, given) in layer { setting.row.write(given.value, &result.point) }
        return result
    }

    /// Value in force; nil without a given value or default.
    func value(_ setting: Setting) -> SettingValue? { given[setting]?.value ?? setting.row.defaultValue }

    // MARK: Typed views

    var dataset: DatasetSpec { point.spec.dataset }
    var observers: ObserversSpec { point.spec.observers }
    var writers: WritersSpec { point.spec.writers }
    var fault: FaultSpec { point.spec.fault }

    func word(_ setting: Setting) -> String { value(setting)?.text ?? "" }

    /// Whether the load is a closed loop that waits for deliveries.
    var isLockstep: Bool { writers.load == .closed && point.wait == .delivery }
}
