import { WholeId, Text } from '#lib/http';
import { EMAIL_PATTERN } from '../domain/email.js';
import { MAX_PASSWORD_LENGTH } from '../passwords/passwords.js';
import { NewPassword } from './new-password.js';
import { CODE_PATTERN } from './second-factor.dto.js';

const WORKSPACE_ID = {
  optional: true,
  description: 'Limits the access token to this workspace. Requests then need no X-Workspace-Id.',
};

export class SignInDto {
  @Text({ max: 320, pattern: EMAIL_PATTERN, example: 'ada@example.com' }) email!: string;
  @Text({ max: MAX_PASSWORD_LENGTH }) password!: string;
  @Text({
    max: 40,
    pattern: CODE_PATTERN,
    optional: true,
    description:
      'Needed if the account has a second factor: a code of the app, or a recovery code.',
  })
  code?: string;
  @WholeId(WORKSPACE_ID) workspaceId?: string;
}

export class RefreshTokensDto {
  @Text({ max: 200 }) refreshToken!: string;
  @WholeId(WORKSPACE_ID) workspaceId?: string;
}

export class ChangePasswordDto {
  @Text({ max: MAX_PASSWORD_LENGTH }) currentPassword!: string;
  @NewPassword() newPassword!: string;
}

export class SignUpDto {
  @Text({ max: 320, pattern: EMAIL_PATTERN, example: 'ada@example.com' }) email!: string;
  @Text({ max: 200 }) name!: string;
  @NewPassword() password!: string;
}
