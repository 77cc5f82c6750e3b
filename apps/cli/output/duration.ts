/** Formats the time since a moment, such as `3 m 20 s`. */
export function formatAge(time: string | null | undefined, until = Date.now()): string | null {
  if (time === null || time === undefined) return null;
  return formatDuration((until - Date.parse(time)) / 1000);
}

export function formatDuration(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)} m ${whole % 60} s`;
  if (whole < 86_400) return `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} m`;
  return `${Math.floor(whole / 86_400)} d ${Math.floor((whole % 86_400) / 3600)} h`;
}
