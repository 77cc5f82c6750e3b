/** `Error: …`, `TypeError [CODE]: …`, `java.lang.IllegalStateException: …`, `… (RuntimeError)`. */
const ERROR = /(?:^|[\s.'"(\\])[\w$]*(?:Error|Exception)(?: \[\w+\])?(?::|\)?$| in thread )/;
/** A line of a stack trace, which may name an error's class. */
const FRAME = /^at /;
/** The last thing that Node says of a program that it ends, always. */
const VERSION = /^Node\.js v\d+\.\d+\.\d+/;

/**
 * The line of a program's last words that tells most of why it ended: the last one that looks like an
 * error, else the last one at all.
 */
export function tellingLine(lines: readonly string[]): string | undefined {
  const said = lines
    .map((line) => line.trim())
    .filter((line) => line !== '' && !VERSION.test(line));
  return said.findLast((line) => ERROR.test(line) && !FRAME.test(line)) ?? said.at(-1);
}
