const UNITS: Readonly<Record<string, bigint>> = {
  '': 1n,
  k: 1_000n,
  m: 1_000_000n,
  b: 1_000_000_000n,
  t: 1_000_000_000_000n,
};

/** The form of a number of tokens, for messages. */
export const TOKENS_FORM = 'a number of tokens such as 500000, 1,000,000, 500k or 1.5M';

/** The pattern of a form's field for a number of tokens. */
export const TOKENS_PATTERN = '[0-9]+|[0-9]{1,3}([,_ ][0-9]{3})+|[0-9]+([.][0-9]{1,3})?[kKmMbBtT]';

const TOKENS = new RegExp(`^(?:${TOKENS_PATTERN})$`);

/**
 * Reads a number of tokens with separators of thousands, or with a unit: `1,000,000`, `1.5M`.
 *
 * @returns digits, as the API takes them; undefined if the text is no number of tokens
 */
export function parseTokens(text: string): string | undefined {
  const trimmed = text.trim();
  if (!TOKENS.test(trimmed)) return undefined;
  const [, whole = '', part = '', unit = ''] =
    /^(\d+)(?:\.(\d+))?(\D?)$/.exec(trimmed.replace(/[,_ ]/g, '')) ?? [];
  const thousandths = BigInt(whole + part.padEnd(3, '0'));
  return String((thousandths * (UNITS[unit.toLowerCase()] ?? 1n)) / 1_000n);
}
