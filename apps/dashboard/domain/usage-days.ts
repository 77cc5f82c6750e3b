const DAY_MS = 86_400_000;
const DAYS = 30;

/** Tokens per UTC day of the last 30 days. Times are Unix seconds. A day without usage has 0. */
export function toUsageDays(items: { key: string | null; totalTokens: string }[], nowMs: number) {
  const used = new Map(items.map(({ key, totalTokens }) => [key, Number(totalTokens)]));
  const today = Math.floor(nowMs / DAY_MS);
  const days = Array.from({ length: DAYS }, (_, index) => (today - DAYS + 1 + index) * DAY_MS);
  return {
    times: days.map((ms) => ms / 1000),
    values: days.map((ms) => used.get(new Date(ms).toISOString().slice(0, 10)) ?? 0),
  };
}
