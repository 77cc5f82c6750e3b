import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type Config } from '#lib/config';
import { DroverError } from '#lib/kernel';
import { Attempts } from '../rate-limit/attempts.js';
import type { UserView } from './user-view.js';
import { type NewUser, UsersService } from './users.service.js';

/** Users who create their own accounts, where that is open. */
@Injectable()
export class SignUpService {
  constructor(
    private readonly users: UsersService,
    private readonly attempts: Attempts,
    @Inject(CONFIG) private readonly config: Pick<Config, 'identity'>,
  ) {}

  /** @throws DroverError `forbidden` unless OPEN_SIGN_UP, `email_taken` or `rate_limited` */
  async signUp(
    user: Required<Omit<NewUser, 'isOperator' | 'emailVerified'>>,
    address: string,
  ): Promise<UserView> {
    if (!this.config.identity.passwordSignIn) throw new DroverError('password_sign_in_off');
    if (!this.config.identity.openSignUp) {
      throw new DroverError('forbidden', {
        detail: 'Sign-up is closed here: an operator of this installation makes the users.',
      });
    }
    await this.attempts.toSignUp(address);
    return this.users.create({ ...user, isOperator: false, emailVerified: false });
  }
}
