const DAY_MS = 86_400_000;
const DAYS = 30;

/**
 * Tokens per day of the last `days` days of a time zone. Times are Unix seconds of the date's midnight
 * in the browser, where the chart has its ticks. A day without usage has 0.
 */
export function toUsageDays(
  items: { key: string | null; totalTokens: string }[],
  nowMs: number,
  timeZone: string,
  days = DAYS,
) {
  const used = new Map(items.map(({ key, totalTokens }) => [key, Number(totalTokens)]));
  // The Swedish form of a date is that of ISO 8601.
  const today = Date.parse(new Intl.DateTimeFormat('sv', { timeZone }).format(nowMs));
  const dates = Array.from({ length: days }, (_, index) =>
    new Date(today - (days - 1 - index) * DAY_MS).toISOString().slice(0, 10),
  );
  return {
    times: dates.map((date) => Date.parse(`${date}T00:00`) / 1000),
    values: dates.map((date) => used.get(date) ?? 0),
  };
}
