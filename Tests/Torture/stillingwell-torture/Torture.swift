// The torture program of StillingWell: load, power cuts and damage. A program because it starts, kills and forks processes of its own.
import ArgumentParser
import StillingWellDamage
import StillingWellPowerCut
import StillingWellStress

@main struct Torture: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "stillingwell-torture", abstract: "Finds out what a store does under load, power cuts and damage.",
        subcommands: [Stress.self, PowerCut.self, Damage.self])
}
