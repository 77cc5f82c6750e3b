// Printable ASCII. JavaScript and Postgres lower-case it alike, and no two addresses look alike.
export const EMAIL_PATTERN = {
  regexp: /^[\x21-\x3f\x41-\x7e]{1,64}@[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)*$/,
  words: 'be an e-mail address',
};

/** Addresses are stored and compared in lower case. */
export function normalizeEmail(email: string): string {
  return email.toLowerCase();
}
