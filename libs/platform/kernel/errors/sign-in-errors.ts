import { e } from './error-entry.js';

/** The part of ERRORS about signing in. */
export const SIGN_IN_ERRORS = {
  invalid_credentials: e(
    401,
    'The e-mail address or the password is wrong',
    'Check both. After several failures, wait for the seconds in Retry-After.',
  ),
  email_not_verified: e(
    401,
    'The issuer has not verified the e-mail address',
    'Verify the address with the issuer, then sign in again or request a new token.',
  ),
  invalid_refresh_token: e(401, 'The refresh token is not valid', 'Sign in again.'),
  second_factor_required: e(
    401,
    'The sign-in needs a second factor',
    'Send the same request with `code`: a code of your app or a recovery code.',
  ),
  invalid_code: e(
    401,
    'The code is wrong or was used before',
    'Wait for the next code of your app, or use a recovery code.',
  ),
  second_factor_enabled: e(
    409,
    'The account has a second factor',
    'Remove it first, with a code of it.',
  ),
  second_factor_off: e(
    409,
    'The account has no second factor',
    'Start to set one up, if it should have one.',
  ),
  second_factor_missing: e(
    403,
    'Operators need a second factor here',
    'Set up a second factor of your account, in the settings or by `drover user mfa`.',
  ),
  sign_in_refused: e(
    401,
    'The identity provider did not confirm the sign-in',
    'Start the sign-in again. If it fails again, ask the operator.',
  ),
  sign_in_pending: e(
    409,
    'The sign-in is not confirmed yet',
    'Confirm it in the browser, then send the request again after `retryAfterSeconds`.',
  ),
  account_disabled: e(403, 'The account is disabled', 'Ask an operator to enable it.'),
  no_account: e(
    403,
    'You have no account here',
    'Ask an operator for an account, or a workspace for an invitation to your address.',
  ),
  password_sign_in_off: e(
    403,
    'Passwords do not sign in here',
    'Sign in with the identity provider. PASSWORD_SIGN_IN=true allows passwords again.',
  ),
  single_sign_on_off: e(
    404,
    'The server has no single sign-on',
    'Sign in with a password, or ask the operator to set OIDC_CLIENT_ID.',
  ),
  issuer_unavailable: e(
    503,
    'The identity provider cannot be reached',
    'Try again after the seconds in Retry-After.',
  ),
} as const;
