/** What may follow the name of a model to name a version of it: a date, a number of three digits, `latest`. */
const VERSION = /^(?:\d{8}|\d{4}-\d{2}-\d{2}|\d{3}|latest|preview)(?:[-@:].*)?$/;

/**
 * The names under which a model may have a price, the longest first: the model itself, and what stands before
 * a `@` or `:`, or before a `-` that a version follows. `claude-sonnet-4-20250514` is `claude-sonnet-4`;
 * `claude-opus-4-9` is no `claude-opus-4`: another model has another price, and a wrong one is worse than none.
 */
export function namesOf(model: string): string[] {
  const names = [model];
  for (let end = model.length - 1; end > 0; end--) {
    if (isEndOfName(model, end)) names.push(model.slice(0, end));
  }
  return names;
}

function isEndOfName(model: string, end: number): boolean {
  const sign = model[end];
  if (sign === '-') return VERSION.test(model.slice(end + 1));
  return sign === '@' || sign === ':';
}
