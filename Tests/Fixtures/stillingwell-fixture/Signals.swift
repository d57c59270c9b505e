// Sends signals to a program with an open store. The library's fault handlers are called before the program's own.
import Foundation
import StillingWell
import StillingWellFixtures

/// Reports how the handler was called.
private func report(_ number: Int32, _ code: Int32) {
    var mask = sigset_t()
    pthread_sigmask(SIG_SETMASK, nil, &mask)
    let words = [
        "handler", code <= 0 ? "sent" : "fault", sigismember(&mask, number) == 1 ? "blocked" : "open",
        sigismember(&mask, SIGUSR1) == 1 ? "masked" : "unmasked",
    ]
    say(words.joined(separator: " "))
}

/// Installs a handler of the program, before the store is opened.
private func install(_ number: Int32, flags: Int32) {
    var action = sigaction()
    sigemptyset(&action.sa_mask)
    sigaddset(&action.sa_mask, SIGUSR1)
    action.sa_flags = flags
    if flags & SA_SIGINFO != 0 {
        action.__sigaction_handler.sa_sigaction = { number, information, _ in
            report(number, information!.pointee.si_code)
            if information!.pointee.si_code > 0 { _exit(0) }
        }
    } else {
        action.__sigaction_handler.sa_handler = { report($0, 0) }
    }
    sigaction(number, &action, nil)
}

/// - Parameters:
///   - kind: the handler that the program has installed before.
///   - number: the signal that is sent.
func takeSignals(_ configuration: Store.Configuration, _ kind: String, _ number: Int32) throws {
    switch kind {
    // A sanitizer has its own handlers.
    case "default": signal(number, SIG_DFL)
    case "ignored": signal(number, SIG_IGN)
    case "deferring": install(number, flags: SA_SIGINFO)
    case "plain": install(number, flags: 0)
    case "once": install(number, flags: SA_SIGINFO | Int32(bitPattern: UInt32(SA_RESETHAND)))
    default: install(number, flags: SA_SIGINFO | SA_NODEFER)
    }
    let store = try Store(configuration)
    for _ in 0..<100 { try store.write { _ = try Batches.insert($0) } }
    say("ready")
    if kind == "fault" {
        // The compiler does not know the address.
        UnsafeMutablePointer<Int>(bitPattern: Int(number) << 3)!.pointee = 1
    }
    for _ in 0..<2 {
        kill(getpid(), number)
        // The signal is handled before `kill` returns, unless another thread receives it.
        usleep(1_000)
        say("went on")
    }
    // The library's own handlers are still installed.
    truncate(configuration.path + "/data.mdb", 2 * 4_096)
    do {
        let count = try store.read { try $0.objects(Half.self).reduce(0) { $0 + $1.amount } }
        say("read \(count)")
    } catch {
        say("cut: \(error)")
    }
    _exit(0)
}
