import { cleanText, copyStart, shorten } from './clean-text.js';

/** Characters that are shown of one line. */
export const MAX_LINE = 8_192;
/**
 * Kept of a longer line beyond that, and redacted, but never shown: what is hidden or left out before it
 * would else bring a secret into sight that was cut in two, and is not known by its half.
 */
const MARGIN = 4_096;

/** A line that is made readable only if it is wanted. */
export interface KeptLine {
  size: number;
  show: () => string;
}

/**
 * Keeps of a line what may be shown of it, and no more: many lines may wait for the end of their session,
 * most of them only to be dropped.
 *
 * @param dropped how many characters of the line are missing at its end
 */
export function keepLine(
  line: string,
  dropped: number,
  redact: (text: string) => string,
  maxLength = MAX_LINE,
): KeptLine {
  // Text that it overwrites itself would not be shown: a progress bar can be long.
  const visible = line.slice(line.lastIndexOf('\r') + 1);
  const kept = copyStart(visible, maxLength + MARGIN);
  const missing = visible.length - kept.length + dropped;
  const show = (): string => {
    const text = redact(cleanText(kept));
    const whole = missing === 0 ? text.length : Math.max(text.length - MARGIN, 0);
    return shorten(text, Math.min(whole, maxLength), missing);
  };
  return { size: kept.length, show };
}
