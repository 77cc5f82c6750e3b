/**
 * The object to copy when many with the same fields are to be made: `{ ...blank, id, title }`. Parsed, and with every
 * field from the start: copies of one that was put together key by key, or that grow, take ten times as long.
 */
export function blankOf<Fields extends object>(fields: Fields): Fields {
  const names = Object.keys(fields).map((name) => `${JSON.stringify(name)}:null`);
  return Object.assign(JSON.parse(`{${names.join(',')}}`) as Fields, fields);
}
