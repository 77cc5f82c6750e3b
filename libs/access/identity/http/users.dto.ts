import { Flag, Text } from '#lib/http';
import { EMAIL_PATTERN } from '../domain/email.js';
import { NewPassword } from './new-password.js';

export class CreateUserDto {
  @Text({ max: 320, pattern: EMAIL_PATTERN, example: 'ada@example.com' }) email!: string;
  @Text({ max: 200 }) name!: string;
  @NewPassword({
    optional: true,
    description:
      'The password. If it is left out, the server generates one and shows it once, in the ' +
      'answer.',
  })
  password?: string;
  @Flag({ optional: true }) isOperator?: boolean;
}

export class ChangeUserDto {
  @Text({ max: 200, optional: true }) name?: string;
  @Flag({ optional: true }) isOperator?: boolean;
  @Flag({
    optional: true,
    description:
      'Whether the address is known to be of the user, so that single sign-on finds the account by ' +
      'it. The change to true ends the sessions and removes password and second factor, because ' +
      'somebody else may have chosen them.',
  })
  emailVerified?: boolean;
  @Flag({
    optional: true,
    description: 'Whether the user is disabled. A disabled user is signed out everywhere.',
  })
  disabled?: boolean;
}
