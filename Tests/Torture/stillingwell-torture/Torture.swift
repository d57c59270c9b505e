// The torture program of StillingWell: load, power cuts and damage. It starts, kills and forks processes.
import ArgumentParser
import StillingWellDamage
import StillingWellPowerCut
import StillingWellStress

@main struct Torture: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "stillingwell-torture", abstract: "Finds out what a store does under load, power cuts and damage.",
        subcommands: [Stress.self, PowerCut.self, Damage.self])
}
