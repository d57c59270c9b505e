// The values in force at one point: layers of settings, the later ones winning, and the typed view of the result.
// Values only.
import TidegaugeSpec

/// A setting's value and where it was given.
struct GivenValue {
    var value: SettingValue
    var place: ScenarioProblem.Place
    /// The base of the file, a profile, a sweep, an option: later layers win, and get the blame.
    var layer: Layer

    enum Layer: Comparable {
        case base, profile, sweep, option
    }
}

struct Settings {
    private(set) var given: [Setting: GivenValue] = [:]
    /// Given, but refused when it was read: no rule may complain about it a second time.
    var refused: Set<Setting> = []
    /// The values in force, each where its row puts it. What has neither a value nor a default is 0 or empty; the rules
    /// refuse it before anybody looks.
    private(set) var point = SweepPoint.defaults

    subscript(setting: Setting) -> GivenValue? { given[setting] }

    /// These settings with `layer` over them.
    func overlaid(by layer: [Setting: GivenValue]) -> Settings {
        var result = self
        result.given.merge(layer) { _, later in later }
        result.refused.subtract(layer.keys)
        for (setting, given) in layer { setting.row.write(given.value, &result.point) }
        return result
    }

    /// The value in force; nil where nothing was given and there is no default.
    func value(_ setting: Setting) -> SettingValue? { given[setting]?.value ?? setting.row.defaultValue }

    // MARK: Typed views

    var dataset: DatasetSpec { point.spec.dataset }
    var observers: ObserversSpec { point.spec.observers }
    var writers: WritersSpec { point.spec.writers }
    var fault: FaultSpec { point.spec.fault }

    func word(_ setting: Setting) -> String { value(setting)?.text ?? "" }

    /// A closed loop that waits for the deliveries.
    var isLockstep: Bool { writers.load == .closed && point.wait == .delivery }
}
