let known;

/**
 * The C library that Node uses, as packages name it: `glibc` or `musl` on Linux, nothing elsewhere.
 */
export function libc() {
  if (process.platform !== 'linux') return '';
  if (known === undefined) {
    process.report.excludeNetwork = true;
    known = process.report.getReport().header.glibcVersionRuntime ? 'glibc' : 'musl';
  }
  return known;
}
