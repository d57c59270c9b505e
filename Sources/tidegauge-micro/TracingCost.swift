// A traced mutex beside the system's, tracing off and on. Runs alternate, and the median of their differences is shown, so
// that a drift of the machine is in neither.
import Glibc
import TracedSync

enum TracingCost {
    private static let pairs = 2_000_000
    private static let rounds = 31

    static func run() {
        let plain = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
        plain.initialize(to: pthread_mutex_t())
        pthread_mutex_init(plain, nil)
        let traced = TracedMutex("benchmark")
        var plainNs: [Double] = []
        var offNs: [Double] = []
        for _ in 0..<rounds {
            plainNs.append(
                Timing.perCallNs(pairs) { _ in
                    pthread_mutex_lock(plain)
                    pthread_mutex_unlock(plain)
                })
            offNs.append(
                Timing.perCallNs(pairs) { _ in
                    traced.lock()
                    traced.unlock()
                })
        }
        Tracing.start()
        let onNs = Timing.perCallNs(pairs / 10) { _ in
            traced.lock()
            traced.unlock()
        }
        Tracing.stop()
        let extra = Timing.median(zip(offNs, plainNs).map { ($0 - $1) / 2 })
        print("pthread mutex, lock and unlock   \(Timing.shown(Timing.median(plainNs))) ns")
        print("traced mutex, tracing off        \(Timing.shown(Timing.median(offNs))) ns")
        print("tracing off, per operation       \(Timing.shown(extra)) ns more (limit: 2)")
        print("traced mutex, recording          \(Timing.shown(onNs)) ns")
    }
}
