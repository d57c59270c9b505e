// An observer of the store. It must be called first in every delivery (rule 9), and once per version at most (I3).
import StillingWell

final class StoreObserver: Observer, @unchecked Sendable {
    /// Subscribes. Must be called on the site's delivery context.
    init(_ name: String, _ site: Site, _ connection: Connection) throws {
        super.init(name, site)
        lastVersion = connection.version
        let token = try connection.observe { [self] notification, _ in
            called { told(notification, $0) }
        }
        keep(token)
    }

    override var description: String { "\(super.description): the store" }

    private func told(_ notification: StoreNotification, _ connection: Connection) {
        load.tally.count(.stores)
        if notification == .refreshRequired {
            load.tally.count(.refreshRequired)
            return load.verdict.expect(
                .pause, !connection.autorefresh, description, "told that a refresh is required, with autorefresh on")
        }
        expectLaterVersion(connection)
        site.expectMayAdvance(self)
        load.verdict.expect(
            .i10, connection.version > site.lastViewVersion, description,
            "called at version \(connection.version) after an observer of rows had been")
    }
}
