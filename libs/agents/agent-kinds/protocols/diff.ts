/** The number of equal lines around a change. */
const CONTEXT = 3;

/**
 * Returns a unified diff of two texts as one hunk, without names of files. It is empty for equal
 * texts.
 */
export function diffOf(before: string, after: string): string {
  if (before === after) return '';
  const old = linesOf(before);
  const now = linesOf(after);
  let start = 0;
  while (start < old.length && start < now.length && old[start] === now[start]) start += 1;
  let end = 0;
  const most = Math.min(old.length, now.length) - start;
  while (end < most && old[old.length - 1 - end] === now[now.length - 1 - end]) end += 1;
  const first = Math.max(0, start - CONTEXT);
  const tail = old.slice(old.length - end, old.length - end + CONTEXT);
  const lines = [
    ...old.slice(first, start).map((line) => ` ${line}`),
    ...old.slice(start, old.length - end).map((line) => `-${line}`),
    ...now.slice(start, now.length - end).map((line) => `+${line}`),
    ...tail.map((line) => ` ${line}`),
  ];
  const count = (sign: string) => lines.filter((line) => !line.startsWith(sign)).length;
  const range = (from: number, length: number) => `${length === 0 ? from : from + 1},${length}`;
  const head = `@@ -${range(first, count('+'))} +${range(first, count('-'))} @@`;
  return `${[head, ...lines].join('\n')}\n`;
}

function linesOf(text: string): string[] {
  if (text === '') return [];
  return text.replace(/\n$/, '').split('\n');
}
