/** `Error: …`, `TypeError [CODE]: …`, `java.lang.IllegalStateException: …`, `… (RuntimeError)`. */
const ERROR = /(?:^|[\s.'"(\\])[\w$]*(?:Error|Exception)(?: \[\w+\])?(?::|\)?$| in thread )/;
/** A line of a stack trace. It can contain the class name of an error. */
const FRAME = /^at /;
/** The last line that Node prints when an error ends a program. */
const VERSION = /^Node\.js v\d+\.\d+\.\d+/;

/**
 * The line of a program's last output that explains best why it ended: the last one that looks like
 * an error, else the last one.
 */
export function tellingLine(lines: readonly string[]): string | undefined {
  const said = lines
    .map((line) => line.trim())
    .filter((line) => line !== '' && !VERSION.test(line));
  return said.findLast((line) => ERROR.test(line) && !FRAME.test(line)) ?? said.at(-1);
}
