// Fault handlers in front of earlier ones: those of the program, and that of the Swift runtime, which writes a
// backtrace.
#define _GNU_SOURCE
#include "CStillingWellPlatform.h"

#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

static bool is_function(const struct sigaction *action) {
    return action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN;
}

void cp_install_fault_handler(
    int number, void (*handle)(int number, siginfo_t *information, void *context), struct sigaction *earlier) {
    sigaction(number, NULL, earlier);
    int kept = SA_ONSTACK | SA_RESTART;
    struct sigaction action = {
        .sa_sigaction = handle, .sa_flags = SA_SIGINFO | (is_function(earlier) ? earlier->sa_flags & kept : kept)};
    sigemptyset(&action.sa_mask);
    sigaction(number, &action, NULL);
}

static void do_default(int number, bool is_fault) {
    struct sigaction action = {.sa_handler = SIG_DFL};
    sigemptyset(&action.sa_mask);
    sigaction(number, &action, NULL);
    // A fault recurs when its instruction runs again. A sent signal is sent again and taken when the handler returns.
    if (!is_fault) syscall(SYS_tgkill, getpid(), (pid_t)syscall(SYS_gettid), number);
}

void cp_pass_signal(int number, siginfo_t *information, void *context, struct sigaction *earlier) {
    struct sigaction action = *earlier;
    bool is_fault = cp_is_fault(information);
    if (!is_function(&action)) {
        // The kernel does not allow a fault to be ignored.
        if (is_fault || action.sa_handler == SIG_DFL) do_default(number, is_fault);
        return;
    }
    if (action.sa_flags & (int)SA_RESETHAND) earlier->sa_handler = SIG_DFL;
    // `mask`: signals blocked when the signal came, and those that the earlier handler blocks. `own`: the mask of this
    // handler, restored afterwards. The kernel fills eight bytes of `uc_sigmask`.
    sigset_t mask, own;
    sigemptyset(&mask);
    memcpy(&mask, &((ucontext_t *)context)->uc_sigmask, 8);
    sigorset(&mask, &mask, &action.sa_mask);
    if (!(action.sa_flags & SA_NODEFER)) sigaddset(&mask, number);
    pthread_sigmask(SIG_SETMASK, &mask, &own);
    if (action.sa_flags & SA_SIGINFO) {
        action.sa_sigaction(number, information, context);
    } else {
        action.sa_handler(number);
    }
    pthread_sigmask(SIG_SETMASK, &own, NULL);
}
