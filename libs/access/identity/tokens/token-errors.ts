import { DroverError } from '#lib/kernel';

/** Texts for errors of jsonwebtoken and jose, whose own texts quote the token or the settings. */
const REASONS: readonly [RegExp, string][] = [
  [/algorithm|"alg"/i, 'The algorithm is not accepted.'],
  [/audience|"aud"/i, 'The audience is not accepted.'],
  [/issuer|"iss"/i, 'The issuer is not accepted.'],
  [/signature/i, 'The signature is not right.'],
  [/no applicable key/i, 'The token is signed with an unknown key.'],
  [/not active|"nbf"/i, 'The token is not valid yet.'],
];

/** The error for a token that fails verification. */
export function explainTokenError(error: unknown): DroverError {
  if (error instanceof DroverError) return error;
  const { name, code, message } = error as Error & { code?: string };
  if (name === 'TokenExpiredError' || code === 'ERR_JWT_EXPIRED') {
    return new DroverError('token_expired', { cause: error });
  }
  const detail =
    REASONS.find(([pattern]) => pattern.test(message))?.[1] ?? 'The token is malformed.';
  return new DroverError('invalid_token', { detail, cause: error });
}
