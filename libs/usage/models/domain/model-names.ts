/** What may follow the name of a model to name a version of it: a date, a number of three digits, `latest`. */
const VERSION = '(?:\\d{8}|\\d{4}-\\d{2}-\\d{2}|\\d{3}|latest|preview)(?:[-@:].*)?';
const IS_VERSION = new RegExp(`^${VERSION}$`);
/**
 * What ends a name without its being that of another model. After a `:` only a number does: `:free` is refused by itself,
 * and the parts of `ft:…` and `arn:…` are no versions.
 */
const SUFFIX =
  '(?:-(?:\\d{8}|\\d{4}-\\d{2}-\\d{2}|\\d{3}|latest|preview)(?:-[^@:]*)?)?(?:@[^@]*|:\\d+)?';
const ENDS_WITH_SUFFIX = new RegExp(`(?<=.)${SUFFIX}$`);

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
  if (sign === '-') return IS_VERSION.test(model.slice(end + 1));
  return sign === '@' || sign === ':';
}

/** What a model is called without its version, for limits. */
export function plainName(model: string): string {
  return model.replace(ENDS_WITH_SUFFIX, '');
}

/** The source of a regular expression, for JavaScript and for Postgres: a model of this name, of any version. */
export function anyVersionOf(name: string): string {
  return `^${literally(name)}${SUFFIX}$`;
}

export function literally(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
