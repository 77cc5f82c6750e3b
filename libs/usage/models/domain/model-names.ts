/** A version after the name of a model: a date, a number of three digits, `latest`, `preview`. */
const VERSION = '(?:\\d{8}|\\d{4}-\\d{2}-\\d{2}|\\d{3}|latest|preview)(?:[-@:].*)?';
const IS_VERSION = new RegExp(`^${VERSION}$`);
/**
 * A suffix that leaves the model the same. After a `:` only a number does: `:free` has limits of
 * its own, and the parts of `ft:…` and `arn:…` are no versions.
 */
const SUFFIX =
  '(?:-(?:\\d{8}|\\d{4}-\\d{2}-\\d{2}|\\d{3}|latest|preview)(?:-[^@:]*)?)?(?:@[^@]*|:\\d+)?';
/** The source of a regular expression for the version of a model, in JavaScript and Postgres. */
export const VERSION_OF_MODEL = `(?<=.)${SUFFIX}$`;
const ENDS_WITH_SUFFIX = new RegExp(VERSION_OF_MODEL);

/**
 * Lists the names under which a model can have a price, the longest first: the model itself, and
 * its parts before a `@` or `:`, or before a `-` that a version follows. `claude-sonnet-4-20250514`
 * is `claude-sonnet-4`. `claude-opus-4-9` is not `claude-opus-4`: another model has another price,
 * and a wrong price is worse than none.
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

/** Removes the version from the name of a model, for limits. */
export function plainName(model: string): string {
  return model.replace(ENDS_WITH_SUFFIX, '');
}

/** The source of a regular expression for any version of a model, in JavaScript and Postgres. */
export function anyVersionOf(name: string): string {
  return `^${escapePattern(name)}${SUFFIX}$`;
}

export function escapePattern(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
