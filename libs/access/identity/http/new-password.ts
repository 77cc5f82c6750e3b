import { field, type FieldOptions } from '#lib/http';
import { isStorableText } from '#lib/kernel';
import { isCommonPassword } from '../passwords/common-passwords.js';
import { MAX_PASSWORD_LENGTH, MIN_PASSWORD_LENGTH } from '../passwords/passwords.js';

/** A password that somebody chooses. */
export function NewPassword(options: FieldOptions = {}): PropertyDecorator {
  const rule = {
    name: 'newPassword',
    message: `must be a string of ${MIN_PASSWORD_LENGTH} to ${MAX_PASSWORD_LENGTH} characters that is not among the 10,000 commonest passwords`,
    holds: (value: unknown) =>
      typeof value === 'string' &&
      isStorableText(value) &&
      value.trim() !== '' &&
      value.length >= MIN_PASSWORD_LENGTH &&
      value.length <= MAX_PASSWORD_LENGTH &&
      !isCommonPassword(value),
    schema: {
      type: 'string',
      minLength: MIN_PASSWORD_LENGTH,
      maxLength: MAX_PASSWORD_LENGTH,
    } as const,
  };
  return field(rule, options);
}
