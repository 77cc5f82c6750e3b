/** A time inside JSON in the API's form. @param time an SQL expression */
export function isoTime(time: string): string {
  return `to_char(${time} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
}
