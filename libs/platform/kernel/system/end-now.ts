/** Work of the operating system that an exit waits for: files, and names that are looked up. */
const ON_THREADS = /^(?:FSReq|GetAddrInfoReq|GetNameInfoReq)/;

/**
 * Ends the process at once, whatever is under way. `process.exit` alone waits for calls that a hung
 * disk or name server keeps, because it ends the threads that make them. Then the process kills
 * itself, and its exit code is that of SIGKILL.
 */
export function endNow(code: number): never {
  const waits = process.getActiveResourcesInfo().some((name) => ON_THREADS.test(name));
  if (waits) process.kill(process.pid, 'SIGKILL');
  process.exit(code);
}
