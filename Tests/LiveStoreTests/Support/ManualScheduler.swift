import LiveStoreFixtures

typealias ManualScheduler = LiveStoreFixtures.ManualScheduler
