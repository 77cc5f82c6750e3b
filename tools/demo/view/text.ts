const CODES = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, cyan: 36 } as const;

export type Style = keyof typeof CODES;

export type Paint = (style: Style, text: string) => string;

/** Adds colours if the terminal supports them. */
export function painter(stream: NodeJS.WriteStream): Paint {
  const coloured = stream.isTTY && stream.hasColors() && !process.env['NO_COLOR'];
  return coloured ? (style, text) => `\x1b[${CODES[style]}m${text}\x1b[0m` : (_, text) => text;
}

/** Cuts or pads the text to exactly this number of characters. */
export function fit(text: string, width: number): string {
  const clean = text.replace(/[^\x20-\x7e]/g, ' ');
  return clean.length > width ? `${clean.slice(0, Math.max(0, width - 2))}..` : clean.padEnd(width);
}

export function bar(percent: number, width: number): string {
  const full = Math.round((percent / 100) * width);
  return `${'#'.repeat(full)}${'.'.repeat(width - full)}`;
}

export function milliseconds(value: number): string {
  return value < 1_000 ? `${Math.round(value)} ms` : `${(value / 1_000).toFixed(1)} s`;
}
