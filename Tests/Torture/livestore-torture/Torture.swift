// The torture program of LiveStore: load, power cuts and damage. A program because it starts, kills and forks processes of its own.
import ArgumentParser
import LiveStoreDamage
import LiveStorePowerCut
import LiveStoreStress

@main struct Torture: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "livestore-torture", abstract: "Finds out what a store does under load, power cuts and damage.",
        subcommands: [Stress.self, PowerCut.self, Damage.self])
}
