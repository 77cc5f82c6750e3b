import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type Config } from '#lib/config';
import { Logger } from '#lib/observability';
import { openFactor, sealFactor } from '../domain/factor-secret.js';

/** The master keys, for the secrets of second factors. */
@Injectable()
export class FactorKeys {
  constructor(
    private readonly logger: Logger,
    @Inject(CONFIG) private readonly config: Pick<Config, 'encryption'>,
  ) {}

  seal(userId: string, secret: Buffer): string {
    return sealFactor(this.config.encryption.masterKeys, userId, secret);
  }

  /** @returns undefined, after an entry in the log, if the master key is gone */
  open(userId: string, sealed: string): Buffer | undefined {
    const secret = openFactor(this.config.encryption.masterKeys, userId, sealed);
    if (secret === undefined) this.logger.error('second factor cannot be opened', { userId });
    return secret;
  }
}
