import { cleanColouredText, cleanText, copyStart, shorten } from './clean-text.js';

/** The visible characters of one line. */
export const MAX_LINE = 8_192;
/**
 * A longer line keeps this many more characters. They are redacted and never shown. Redaction
 * shortens the text before them; without them, the half of a secret that was cut in two could
 * become visible.
 */
const MARGIN = 4_096;

/** A line that is made readable only on demand. */
export interface KeptLine {
  size: number;
  show: () => string;
  /**
   * The same with its colours. A line that is cut or has a secret has none: codes within a secret
   * would hide it from redaction.
   */
  showColoured: () => string;
}

/**
 * Keeps only the visible part of a line: many lines can wait for the end of their session, and most
 * of them are dropped then.
 *
 * @param dropped the number of characters that are missing at the end of the line
 */
export function keepLine(
  line: string,
  dropped: number,
  redact: (text: string) => string,
  maxLength = MAX_LINE,
): KeptLine {
  // A carriage return hides the text before it, and a progress bar can write a lot of text.
  const visible = line.slice(line.lastIndexOf('\r') + 1);
  const kept = copyStart(visible, maxLength + MARGIN);
  const missing = visible.length - kept.length + dropped;
  const show = (): string => {
    const text = redact(cleanText(kept));
    const whole = missing === 0 ? text.length : Math.max(text.length - MARGIN, 0);
    return shorten(text, Math.min(whole, maxLength), missing);
  };
  const showColoured = (): string => {
    const text = show();
    const coloured = cleanColouredText(kept);
    return text === cleanText(kept) && coloured.length <= maxLength ? coloured : text;
  };
  return { size: kept.length, show, showColoured };
}

/** Keeps a text with its lines, such as a message of an agent, as `keepLine` keeps one line. */
export function keepText(text: string, redact: (text: string) => string): KeptLine {
  const kept = copyStart(text, MAX_LINE + MARGIN);
  const missing = text.length - kept.length;
  const show = (): string => {
    const clean = redact(kept.split('\n').map(cleanText).join('\n'));
    const whole = missing === 0 ? clean.length : Math.max(clean.length - MARGIN, 0);
    return shorten(clean, Math.min(whole, MAX_LINE), missing);
  };
  return { size: kept.length, show, showColoured: show };
}
