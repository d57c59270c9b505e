// Tests of state that belongs to a context, and of values that are set once.
import CStillingWellPlatform
import Dispatch
import StillingWellSync
import Testing

@Suite struct DeliveryBoundTests {
    @Test func stateIsChangedThroughAConstant() {
        let list = DeliveryBound<[Int]>([])
        for number in 0..<100 { list.value.append(number) }
        #expect(list.value == Array(0..<100))
    }

    @Test func stateIsReleasedWithItsOwner() {
        final class Object {}
        weak var released: Object?
        do {
            let object = Object()
            released = object
            let state = DeliveryBound<Object?>(here: object)
            #expect(state.value === object)
        }
        #expect(released == nil)
    }

    @Test func aThreadThatHasWaitedTakesStateOver() {
        let state = DeliveryBound(0)
        TracedThread("owner") { state.value = 1 }.join()
        state.claim()
        #expect(state.value == 1)
    }

    @Test func stateOfAQueueIsUsedOnAnyOfItsThreads() {
        let queue = DispatchQueue(label: "state")
        let state = DeliveryBound(0, to: .queue(queue))
        for _ in 0..<10 { queue.async { state.value += 1 } }
        #expect(queue.sync { state.value } == 10)
    }

    @Test func stateBelongsToTheQueueThatUsesItFirst() {
        let queue = TracedQueue("state")
        let state = DeliveryBound(0)
        for _ in 0..<10 { queue.async { state.value += 1 } }
        #expect(queue.sync { state.value } == 10)
        state.claim()
        #expect(state.value == 10)
    }

    @Test func stateOfAnActorIsUsedInIt() async {
        actor Place {
            func add(_ state: borrowing DeliveryBound<Int>) { state.value += 1 }
            func run() -> Int {
                let state = DeliveryBound(0, to: .actor(self))
                add(state)
                return state.value
            }
        }
        #expect(await Place().run() == 1)
    }

    #if DEBUG
        @Test func stateOfAThreadTrapsOnAnother() async {
            await #expect(processExitsWith: .failure) {
                let state = DeliveryBound(here: 0)
                TracedThread("other") { state.value = 1 }.join()
            }
        }

        @Test func stateBelongsToTheThreadThatUsesItFirst() async {
            await #expect(processExitsWith: .failure) {
                let state = DeliveryBound(0)
                TracedThread("owner") { state.value = 1 }.join()
                _ = state.value
            }
        }

        @Test func stateThatWasTakenOverTrapsOnTheThreadBefore() async {
            await #expect(processExitsWith: .failure) {
                let state = DeliveryBound(here: 0)
                TracedThread("next") { state.claim() }.join()
                _ = state.value
            }
        }

        @Test func stateOfARunLoopTrapsOnAnotherThread() async {
            await #expect(processExitsWith: .failure) {
                let thread = RunLoopThread("loop")
                let context = try thread.performAndWait { RunLoopHandOff("loop").context }
                let state = DeliveryBound(0, to: context)
                try thread.performAndWait { state.value = 1 }
                state.value = 2
            }
        }

        @Test func stateOfAQueueTrapsOutsideOfIt() async {
            await #expect(processExitsWith: .failure) {
                let state = DeliveryBound(0, to: .queue(DispatchQueue(label: "state")))
                state.value = 1
            }
        }

        @Test func stateOfTheQueueThatUsedItFirstTrapsOutsideOfIt() async {
            await #expect(processExitsWith: .failure) {
                let queue = TracedQueue("state")
                let state = DeliveryBound(0)
                queue.sync { state.value = 1 }
                state.value = 2
            }
        }

        @Test func stateOfAnActorTrapsOutsideOfIt() async {
            await #expect(processExitsWith: .failure) {
                actor Place {}
                let place = Place()
                let state = DeliveryBound(0, to: .actor(place))
                state.value = 1
                withExtendedLifetime(place) {}
            }
        }

        @Test func aChangeInsideAChangeTraps() async {
            await #expect(processExitsWith: .failure) {
                func change(_ number: inout Int, _ body: () -> Void) {
                    body()
                    number += 1
                }
                let state = DeliveryBound(0)
                change(&state.value) { state.value = 1 }
            }
        }
    #endif
}

@Suite struct SetOnceTests {
    @Test func aValueIsReadAfterItIsSet() {
        let value = SetOnce<String>()
        #expect(value.known == nil)
        value.set("set")
        #expect(value.value == "set")
    }

    @Test func aValueThatIsUsedBeforeItIsSetEndsTheProcess() async {
        await #expect(processExitsWith: .failure) { _ = SetOnce<Int>().value }
    }

    @Test func aValueThatIsSetTwiceEndsTheProcess() async {
        await #expect(processExitsWith: .failure) {
            let value = SetOnce<Int>()
            value.set(1)
            value.set(2)
        }
    }
}
