/** Whether the runtime knows a time zone of this name, such as Europe/Berlin. */
export function isTimeZone(name: unknown): name is string {
  // Intl also accepts offsets as names, but these have no daylight saving time.
  if (typeof name !== 'string' || !/^[A-Za-z][\w+/-]{0,99}$/.test(name)) return false;
  try {
    new Intl.DateTimeFormat('en-US', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}
