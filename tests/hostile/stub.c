/*
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * What a program inside tries with the stub's page, which the pocket's kernel maps into every process: a line for each
 * trial, which says how it ended. See kernel/patches/7/0028-um-closed-stub.patch.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

typedef unsigned long word;

/* Places on the data page, struct stub_data, and of a signal's siginfo_t after its ucontext_t. */
enum { LENGTH = 0x18, LIST = 0x20, SIGNAL = 0xf28, UCONTEXT = 0xf48, SIGINFO_AFTER = 304 };

static unsigned char *page; /* the stub's code; its data is on the two pages after it */
static sigjmp_buf unreadable;
static char stack[65536] __attribute__((aligned(64)));
static char own_data[8192], own_frame[4096] __attribute__((aligned(4096)));
static char handlers_stack[65536];

static void no_access(int signal) {
    (void)signal;
    siglongjmp(unreadable, 1);
}

static int readable(const volatile char *at) {
    if (sigsetjmp(unreadable, 1))
        return 0;
    (void)*at;
    return 1;
}

static void say(const char *word) {
    syscall(SYS_write, 1, word, strlen(word));
}

/*
 * Where the system call stands on the page that a "mov $number, %eax" goes before. The last one: those before it are of
 * a stub that waits by a futex.
 */
static word place_of(int number) {
    for (int i = 4096 - 64; i >= 0; i--)
        if (page[i] == 0xb8 && *(int *)(page + i + 1) == number)
            for (int j = i + 5; j < i + 40; j++)
                if (page[j] == 0x0f && page[j + 1] == 0x05)
                    return (word)page + j;
    say("no such call, ");
    return 0;
}

static struct {
    word to, sp, bx, bp, r12;
} jump_by;

/*
 * Jump to @at with these registers, and rbx, which the stub's code holds its data by; nobody comes back but by what is
 * made up for it.
 */
static void jump(word at, word ax, word di, word si, word dx, word r10, word r8, word r9, void *bx) {
    register word a10 asm("r10") = r10, a8 asm("r8") = r8, a9 asm("r9") = r9;

    jump_by.to = at;
    jump_by.bx = (word)bx;
    asm volatile("mov 8(%%rcx), %%rsp; mov 16(%%rcx), %%rbx; mov 24(%%rcx), %%rbp; mov 32(%%rcx), %%r12; jmp *(%%rcx)"
                 :: "c"(&jump_by), "a"(ax), "D"(di), "S"(si), "d"(dx), "r"(a10), "r"(a8), "r"(a9)
                 : "memory");
    __builtin_unreachable();
}

static void made(void) {
    say("made, ");
    _exit(0);
}

/* A fault of the program's own is one that it hears of; when its process on the machine is ended, it is not. */
static void fault(int signal) {
    (void)signal;
    say("faults, ");
    _exit(0);
}

/* What the machine left on the data page when this program last came to the kernel by a signal. */
static ucontext_t *machines_frame(void) {
    munmap(mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), 4096);
    return *(ucontext_t **)(page + 4096 + UCONTEXT);
}

/* Where the stub's code goes on by its data, this makes up the data so that it comes to made(). */
static void make_up_data(word first_address) {
    ucontext_t *context = machines_frame(), *own;

    memcpy(own_frame, (void *)((word)context & ~4095UL), 4096);
    own = (void *)(own_frame + ((word)context & 4095));
    own->uc_mcontext.fpregs = (void *)(own_frame + ((word)own->uc_mcontext.fpregs & 4095));
    own->uc_mcontext.gregs[REG_RIP] = (word)made;
    own->uc_mcontext.gregs[REG_RSP] = (word)stack + sizeof stack - 8;
    *(ucontext_t **)(own_data + UCONTEXT) = own;
    *(word *)(own_data + LIST) = first_address;
    jump_by.r12 = (word)own_data + LIST;
    *(word *)(stack + sizeof stack / 2) = (word)made;
}

/* A line: its name, what it says itself, and how it ended. */
static void trial(const char *name, void (*try)(void)) {
    int status, child;

    say(name);
    say(": ");
    child = fork();
    if (child == 0) {
        struct sigaction action = {.sa_handler = fault, .sa_flags = SA_ONSTACK};

        sigaltstack(&(stack_t){.ss_sp = handlers_stack, .ss_size = sizeof handlers_stack}, 0);
        sigaction(SIGSEGV, &action, 0);
        sigaction(SIGBUS, &action, 0);
        sigaction(SIGILL, &action, 0);
        /* no page fault from here on, whose frame would take the place of the one that is made up */
        memset(stack, 0, sizeof stack);
        memset(own_data, 0, sizeof own_data);
        memset(own_frame, 0, sizeof own_frame);
        jump_by.sp = (word)stack + sizeof stack / 2;
        say(""); /* nor for the code of this */
        try();
        _exit(0);
    }
    waitpid(child, &status, 0);
    say(WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "goes on");
    say("\n");
}

/* Also where the two bytes only happen to stand. If it were made, the kernel would say that the machine refused it. */
static void exit_anywhere(void) {
    for (int i = 0; i < 4096 - 1; i++)
        if (page[i] == 0x0f && page[i + 1] == 0x05) {
            int status, child = fork();

            if (child == 0)
                jump((word)page + i, SYS_exit_group, 7, 0, 0, 0, 0, 0, own_data);
            waitpid(child, &status, 0);
            if (!WIFSIGNALED(status))
                say("made, ");
        }
}

/* What the filter allows is made, and comes to made(): so would what it should not allow. */
static void its_own_page(void) {
    char *own = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    make_up_data(0);
    jump(place_of(SYS_munmap), SYS_munmap, (word)own, 4096, 0, 0, 0, 0, own_data);
}

static void anonymous_memory(void) {
    make_up_data(0x10000000);
    jump(place_of(SYS_mmap), SYS_mmap, 0x10000000, 4096, 3, MAP_SHARED | MAP_FIXED | MAP_ANONYMOUS, -1, 0, own_data);
}

static void over_the_data(void) {
    make_up_data((word)page + 4096);
    jump(place_of(SYS_mmap), SYS_mmap, (word)page + 4096, 4096, 3, MAP_SHARED | MAP_FIXED, 0, 0, own_data);
}

static void without_the_data(void) {
    make_up_data(0);
    jump(place_of(SYS_munmap), SYS_munmap, (word)page + 4096, 4096, 0, 0, 0, 0, own_data);
}

static void up_to_the_code(void) {
    make_up_data(0);
    jump(place_of(SYS_munmap), SYS_munmap, (word)page - 4096, 2 * 4096, 0, 0, 0, 0, own_data);
}

static void around_the_end(void) {
    make_up_data(0);
    jump(place_of(SYS_munmap), SYS_munmap, 4096, -4096UL, 0, 0, 0, 0, own_data);
}

static void another_base(void) {
    make_up_data(0);
    jump(place_of(SYS_arch_prctl), SYS_arch_prctl, 0x3001, 0, 0, 0, 0, 0, own_data); /* ARCH_SHSTK_ENABLE */
}

static void to_the_kernel(void) {
    static char byte;
    static struct { void *base; word length; } io = {&byte, 1};
    static word message[7] = {0, 0, (word)&io, 1};

    make_up_data(0);
    jump(place_of(SYS_sendmsg), SYS_sendmsg, 0, (word)message, 0, 0, 0, 0, own_data);
}

/* Return from that signal without the kernel: to @then, and with these signals blocked. */
static void resume(void (*then)(void), unsigned char blocked) {
    word at = place_of(SYS_rt_sigreturn) - 12; /* before it: mov UCONTEXT(%rbx), %rsp and mov $number, %eax */
    ucontext_t *context;

    (void)*(volatile char *)then; /* no page fault there, which a deaf program does not survive */
    context = machines_frame();
    context->uc_mcontext.gregs[REG_RIP] = (word)then;
    context->uc_mcontext.gregs[REG_RSP] = (word)stack + sizeof stack - 8;
    memset(&context->uc_sigmask, blocked, 8);
    jump(at, 0, 0, 0, 0, 0, 0, 0, page + 4096);
}

static void go_on(void) {
    say("comes back, ");
    munmap(mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), 4096);
    _exit(0);
}

static void return_itself(void) {
    resume(go_on, 0);
}

/* System calls come to the kernel as before; the first that comes by SIGSYS is the end. */
static void deaf_calls(void) {
    say("comes back, ");
    for (int i = 0; i < 1000; i++)
        syscall(SYS_getppid);
    say("hears nothing, ");
    syscall(SYS_exit, 0);
}

/* The kernel wants all registers for a handler of the program's, and nobody brings them. */
static void deaf_to_own(void) {
    say("comes back, ");
    syscall(SYS_kill, syscall(SYS_getpid), SIGUSR1);
    say("heard, ");
    _exit(0);
}

/* The clock stands still while a program computes; it is told to come back, and does not hear it. */
static void deaf_loop(void) {
    say("comes back, ");
    for (;;)
        asm volatile("");
}

static void deaf_while_it_computes(void) {
    resume(deaf_loop, 0xff);
}

static void deaf(void) {
    resume(deaf_calls, 0xff);
}

static void deaf_when_a_signal_comes(void) {
    signal(SIGUSR1, no_access);
    resume(deaf_to_own, 0xff);
}

static char *given_back;

static void after_munmap(void) {
    say("comes back, ");
    say(given_back);
    say(", ");
    _exit(0);
}

/*
 * Wait as the stub does, as if a signal had come: a system call or a page fault. The old way out came back to its own
 * code by what the stack said, and had not done what the kernel had told the stub.
 */
static void forge(int number, word first, word second, int sig, void (*then)(void)) {
    word at = place_of(SYS_pause);
    ucontext_t *context = machines_frame();
    greg_t *registers = context->uc_mcontext.gregs;

    registers[REG_RAX] = number;
    registers[REG_RDI] = first;
    registers[REG_RSI] = second;
    registers[REG_ERR] = 6;
    registers[REG_TRAPNO] = 14;
    registers[REG_CR2] = first;
    registers[REG_RIP] = (word)then;
    registers[REG_RSP] = (word)stack + sizeof stack - 8;
    *(int *)((char *)context + SIGINFO_AFTER + 24) = number; /* si_syscall */
    *(int *)(page + 4096 + SIGNAL) = sig;
    *(word *)(stack + sizeof stack / 2) = (word)then;
    jump(at, SYS_pause, 0, 0, 0, 0, 0, 0, own_data);
}

static void munmap_left_out(void) {
    given_back = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    strcpy(given_back, "still there");
    forge(SYS_munmap, (word)given_back, 4096, SIGSYS, after_munmap);
}

static void munmap_of_the_next(void) {
    given_back = mmap(0, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    strcpy(given_back, "still there");
    given_back[4096] = 1;
    forge(SYS_munmap, (word)given_back + 4096, 4096, SIGSYS, after_munmap);
}

static void take_memory(void) {
    static char byte, control[64];
    static struct { void *base; word length; } io = {&byte, 1};
    static word message[7] = {0, 0, (word)&io, 1, (word)control, sizeof control};

    say("comes back, ");
    make_up_data(0);
    jump(place_of(SYS_recvmsg), SYS_recvmsg, 0, (word)message, 0, 0, 0, 0, own_data);
}

static void memory_file(void) {
    forge(0, (word)mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), 0, SIGSEGV, take_memory);
}

static void unknown_signal(void) {
    forge(0, 0, 0, SIGKILL, after_munmap);
}

static void no_signal(void) {
    forge(0, 0, 0, 0, after_munmap);
}

static void a_list(void) {
    char *data = (char *)page + 4096;

    *(int *)(data + LENGTH) = 1;
    *(word *)(data + LIST) = 0x10000000;
    *(word *)(data + LIST + 8) = 4096;
    *(int *)(data + LIST + 32) = 1; /* mmap */
    jump(place_of(SYS_pause) + 2, 0, 0, 0, 0, 0, 0, 0, own_data); /* after the wait */
}

int main(void) {
    signal(SIGSEGV, no_access);
    signal(SIGBUS, no_access);
    for (word at = 0x7fffffffc000; at > 0x7fff00000000 && !page; at -= 4096)
        if (readable((char *)at) && readable((char *)at + 4096) && readable((char *)at + 8192) &&
            !readable((char *)at + 12288))
            page = (void *)at;
    if (!page)
        return say("no stub\n"), 1;
    trial("another call", exit_anywhere);
    trial("its own page unmapped", its_own_page);
    trial("memory without a file", anonymous_memory);
    trial("memory over the stub's data", over_the_data);
    trial("the stub's data unmapped", without_the_data);
    trial("the stub's code unmapped", up_to_the_code);
    trial("around the end of all addresses", around_the_end);
    trial("another request of arch_prctl", another_base);
    trial("a message to the kernel", to_the_kernel);
    trial("returning by itself", return_itself);
    trial("deaf to all signals", deaf);
    trial("deaf when a signal comes", deaf_when_a_signal_comes);
    trial("deaf while it computes", deaf_while_it_computes);
    trial("a forged munmap", munmap_left_out);
    trial("a forged munmap of the next page", munmap_of_the_next);
    trial("a forged fault", memory_file);
    trial("a forged signal", unknown_signal);
    trial("a wait without a signal", no_signal);
    trial("a list of its own", a_list);
    return 0;
}
