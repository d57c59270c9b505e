// Tests that debug builds check on which thread the state of upkeep is used.
import StillingWellFixtures
import Testing

@testable import StillingWell

#if DEBUG
    @Suite struct UpkeepContextTests {
        @Test func stateOfUpkeepTrapsOnAnotherThread() async {
            await #expect(processExitsWith: .failure) {
                let test = try TestStore()
                let connection = try test.store.connect(on: .scheduler(ManualScheduler()))
                // Returns after the upkeep thread has answered, so that the state belongs to that thread.
                _ = try connection.refresh()
                guard let upkeep = test.store.core.runningUpkeep else { return }
                _ = upkeep.connections.value
            }
        }
    }
#endif
