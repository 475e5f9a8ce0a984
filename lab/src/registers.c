// Preloaded into linux.uml on processors whose registers do not fit into its buffers. UML kernels
// before 6.13 pass 2,696 bytes (everything up to AVX-512 and protection keys); the host requires
// the size of all registers. The tile registers (AMX), which follow, are not used inside.
#define _GNU_SOURCE
#include <elf.h>
#include <errno.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static _Alignas(64) unsigned char all[1 << 16];

static long registers(int request, long pid, void *kind, struct iovec *part) {
	struct iovec whole = { all, sizeof(all) };

	// Gets the size and, before a store, the current values of the other registers.
	if (syscall(SYS_ptrace, PTRACE_GETREGSET, pid, kind, &whole) < 0)
		return -1;
	if (part->iov_len > whole.iov_len)
		part->iov_len = whole.iov_len;
	if (request == PTRACE_GETREGSET) {
		memcpy(part->iov_base, all, part->iov_len);
		return 0;
	}
	memcpy(all, part->iov_base, part->iov_len);
	return syscall(SYS_ptrace, PTRACE_SETREGSET, pid, kind, &whole);
}

long ptrace(enum __ptrace_request request, ...) {
	__builtin_va_list list;
	long pid, result;
	void *address, *data;

	__builtin_va_start(list, request);
	pid = __builtin_va_arg(list, int);
	address = __builtin_va_arg(list, void *);
	data = __builtin_va_arg(list, void *);
	__builtin_va_end(list);
	if ((request == PTRACE_GETREGSET || request == PTRACE_SETREGSET) && (long)address == NT_X86_XSTATE)
		return registers(request, pid, address, data);
	// PTRACE_PEEK* return their value.
	if (request == PTRACE_PEEKTEXT || request == PTRACE_PEEKDATA || request == PTRACE_PEEKUSER) {
		long value;
		result = syscall(SYS_ptrace, request, pid, address, &value);
		return result < 0 ? result : value;
	}
	return syscall(SYS_ptrace, request, pid, address, data);
}
