const BEGIN = '<!-- drover begins -->';
const END = '<!-- drover ends -->';

/**
 * A description with Drover's part in it. The words of people around that part stay.
 *
 * @param body the description at the forge
 */
export function withBlock(body: string, block: string): string {
  const text = normal(body);
  const own = `${BEGIN}\n${block.trim()}\n${END}`;
  const from = text.indexOf(BEGIN);
  const to = text.indexOf(END, from);
  if (from < 0 || to < 0) return text.trim() === '' ? own : `${text.trimEnd()}\n\n${own}`;
  return text.slice(0, from) + own + text.slice(to + END.length);
}

/** Forges keep lines as browsers send them. */
export function normal(text: string): string {
  return text.replaceAll('\r\n', '\n');
}
