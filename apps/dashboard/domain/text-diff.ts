const HUNK = /^@@ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@/m;
const FILE = /^(?:diff --git |--- )/m;

/** True for a text that shows lines that were added or removed. */
export function isTextDiff(text: string): boolean {
  return /^[+-]/m.test(text);
}

/**
 * Completes a change of files to the unified format that diff libraries read. Coding agents report
 * the path, and then lines with `+`, `-` or a blank, without their numbers.
 */
export function toUnifiedDiff(text: string): { diff: string; hasNumbers: boolean } {
  if (HUNK.test(text) && FILE.test(text)) return { diff: text, hasNumbers: true };
  const all = text.replace(/\n$/, '').split('\n');
  const begin = /^[-+ @]/.test(all[0] ?? '') ? 0 : 1;
  const path = (begin === 1 && all[0]?.trim()) || 'text';
  const lines = all.slice(begin).map((line) => (/^[-+ \\@]/.test(line) ? line : ` ${line}`));
  const head = `diff --git a/${path} b/${path}\n--- a/${path}\n+++ b/${path}\n`;
  if (HUNK.test(text)) return { diff: `${head}${lines.join('\n')}\n`, hasNumbers: true };
  const [before, after] = ['-', '+'].map(
    (sign) => lines.filter((line) => line.startsWith(sign) || line.startsWith(' ')).length,
  );
  const hunk = `@@ -1,${before} +1,${after} @@`;
  return { diff: `${head}${hunk}\n${lines.join('\n')}\n`, hasNumbers: false };
}
