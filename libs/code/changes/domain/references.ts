/** Code in which forges see no reference. With HTML around it nobody knows. */
const CODE = /(^```[^`\n]*\n[\s\S]*?^```$|(?<![\\`])`[^`\n]+`(?!`))/m;
/** The beginnings of references to a person, a team or an issue, and orders to close one. */
const REFERENCES =
  /(?<![\w/])@(?=\w)|#(?=\d)|\bGH-(?=\d)|\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?):?\s+(?=https?:)/gi;
const NOTHING = '\u200b';

/**
 * A text of an agent without references. A forge would tell everybody whom it names, and close each
 * issue of which it says so. A character without width does not change what people read.
 */
export function withoutReferences(text: string): string {
  const parts = text.includes('<') ? [text] : text.split(CODE);
  return parts
    .map((part, index) => (index % 2 === 1 ? part : part.replaceAll(REFERENCES, `$&${NOTHING}`)))
    .join('');
}
