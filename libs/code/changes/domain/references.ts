/** Code in which forges see no reference: a fence without another one inside, or one line. */
const CODE = /(^```[^`\n]*\n(?:(?!```)[\s\S])*?^```$|(?<![\\`])`[^`|\n]+`(?!`))/m;
/** The beginnings of references to a person, a team or an issue, and orders to close one. */
const REFERENCES =
  /(?<![\w/])@(?=\w)|#(?=\d)|\bGH-(?=\d)|\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?):?\s+(?=https?:)/gi;
const NOTHING = '\u200b';

/**
 * A text of an agent without references. A forge would notify everybody whom the text names, and
 * close each issue that it claims to close. A character without width does not change what people
 * read.
 */
export function withoutReferences(text: string): string {
  const parts = text.split(CODE);
  // With HTML, or with a mark of code that is left over, forges can see references anywhere.
  const isClear =
    !text.includes('<') && parts.every((part, index) => index % 2 === 1 || !/`|~~~/.test(part));
  return (isClear ? parts : [text])
    .map((part, index) => (index % 2 === 1 ? part : part.replaceAll(REFERENCES, `$&${NOTHING}`)))
    .join('');
}
