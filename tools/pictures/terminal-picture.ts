/** The picture's colour for each of the terminal's SGR foreground numbers. */
const COLOURS: Record<number, string> = {
  31: '#ff7b72',
  32: '#56d364',
  33: '#e3b341',
  34: '#79c0ff',
  36: '#76e3ea',
};
const FOREGROUND = '#e6edf3';
const BACKGROUND = '#0d1117';
const FONT = { family: 'ui-monospace, SFMono-Regular, Menlo, Consolas, monospace', size: 13 };
/** The size of one character: monospace fonts are 0.6 of their size wide. */
const CELL = { width: FONT.size * 0.602, height: 18 };
const MARGIN = 16;

interface Style {
  colour: string;
  isBold: boolean;
  isDim: boolean;
}

interface Span extends Style {
  text: string;
}

/**
 * Draws a terminal's output as an SVG. It supports colours, bold and dim. Other control sequences
 * and non-printable characters are left out.
 */
export function terminalPicture(title: string, output: string): string {
  const lines = output.replaceAll('\r\n', '\n').trimEnd().split('\n').map(spansOf);
  const columns = Math.max(
    ...lines.map((line) => line.reduce((sum, { text }) => sum + text.length, 0)),
  );
  const width = Math.ceil(columns * CELL.width + 2 * MARGIN);
  const height = lines.length * CELL.height + 2 * MARGIN;
  const texts = lines.map((line, row) => {
    const y = MARGIN + row * CELL.height + FONT.size;
    return `<text x="${MARGIN}" y="${y}">${line.map(tspan).join('')}</text>`;
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img">`,
    `<title>${escaped(title)}</title>`,
    `<rect width="100%" height="100%" rx="8" fill="${BACKGROUND}"/>`,
    `<g font-family="${FONT.family}" font-size="${FONT.size}" fill="${FOREGROUND}">`,
    ...texts,
    '</g>',
    '</svg>',
    '',
  ].join('\n');
}

const ESCAPE = '\u001b';
const ORDER = new RegExp(`(${ESCAPE}\\[[\\d;?]*[A-Za-z])`);
const COLOURING = new RegExp(`^${ESCAPE}\\[([\\d;]*)m$`);

const PLAIN: Style = { colour: FOREGROUND, isBold: false, isDim: false };

function spansOf(line: string): Span[] {
  const spans: Span[] = [];
  let style = PLAIN;
  // Text before a carriage return was overwritten.
  const shown = line.slice(line.lastIndexOf('\r') + 1);
  for (const part of shown.split(ORDER)) {
    const codes = COLOURING.exec(part)?.[1];
    if (codes !== undefined) style = styled(style, codes);
    else if (!part.startsWith(ESCAPE)) {
      const text = part.replace(/\p{C}/gu, '');
      if (text !== '') spans.push({ ...style, text });
    }
  }
  return spans;
}

function styled(style: Style, codes: string): Style {
  return codes.split(';').reduce((now, code) => {
    const number = Number(code);
    if (number === 0) return PLAIN;
    if (number === 1) return { ...now, isBold: true };
    if (number === 2) return { ...now, isDim: true };
    if (number === 22) return { ...now, isBold: false, isDim: false };
    return { ...now, colour: COLOURS[number] ?? FOREGROUND };
  }, style);
}

function tspan({ text, colour, isBold, isDim }: Span): string {
  const attributes = [
    colour === FOREGROUND ? '' : ` fill="${colour}"`,
    isBold ? ' font-weight="bold"' : '',
    isDim ? ' opacity="0.65"' : '',
  ].join('');
  return `<tspan${attributes}>${escaped(text)}</tspan>`;
}

function escaped(text: string): string {
  const markup = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  // Columns must align, so other spaces are drawn as one.
  return markup.replaceAll(' ', '\u00a0');
}
