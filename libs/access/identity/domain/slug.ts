export const SLUG_PATTERN = {
  regexp: /^[a-z0-9][a-z0-9-]{0,62}$/,
  words: 'begin with a lower-case letter or digit and hold only these and dashes',
};

/** A slug from a name with the end of an id, so that equal names do not collide. */
export function toSlug(name: string, id: string): string {
  const words = name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-/, '')
    .slice(0, 50)
    .replace(/-$/, '');
  return `${words === '' ? 'workspace' : words}-${id.slice(-6)}`;
}
