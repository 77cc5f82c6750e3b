const PARTS = /^(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?$/;
const UNIT_SECONDS = [86_400, 3_600, 60, 1] as const;

/** The form of a duration, for messages. */
export const DURATION_FORM = 'a duration such as 90s, 30m, 2h or 1h30m';

/**
 * Reads a duration of days, hours, minutes and seconds, such as `30m` or `1h30m`. A number without
 * a unit counts seconds.
 *
 * @returns whole seconds; undefined if the text is not a duration
 */
export function parseDuration(text: string): number | undefined {
  if (/^\d+$/.test(text)) return toSafe(Number(text));
  const [, ...parts] = PARTS.exec(text) ?? [];
  if (parts.every((part) => part === undefined)) return undefined;
  return toSafe(
    UNIT_SECONDS.reduce((sum, unit, index) => sum + Number(parts[index] ?? 0) * unit, 0),
  );
}

function toSafe(seconds: number): number | undefined {
  return Number.isSafeInteger(seconds) ? seconds : undefined;
}
