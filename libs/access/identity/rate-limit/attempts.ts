import { isIPv6 } from 'node:net';
import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type Config } from '#lib/config';
import { DroverError } from '#lib/kernel';
import { ATTEMPT_LIMITER, type RateDecision, RateLimiter } from './rate-limiter.js';

const MINUTE = 60;
const HOUR = 3_600;
/** A patient guesser of codes of six digits needs years with these. */
const WRONG_CODES = { attempts: 20, windowSeconds: 86_400 };
/** E-mails with links of invitations by one inviter, and to one address. */
const MAILS = { attempts: 50, windowSeconds: HOUR };
const MAILS_TO_ADDRESS = { attempts: 5, windowSeconds: HOUR };
/** Several users share an address, so an address has this many times the attempts of an account. */
const ADDRESS_FACTOR = 5;

/** Limits how fast passwords can be guessed. */
@Injectable()
export class Attempts {
  private readonly perMinute: number;
  private readonly perHour: number;

  constructor(
    @Inject(ATTEMPT_LIMITER) private readonly limiter: RateLimiter,
    @Inject(CONFIG) config: Pick<Config, 'identity'>,
  ) {
    this.perMinute = config.identity.loginAttemptsPerMinute;
    this.perHour = config.identity.loginAttemptsPerHour;
  }

  /**
   * The hourly limit of an account counts the attempts from all addresses. The limits of an address
   * come first, so one address cannot use it up in a minute.
   *
   * @throws DroverError `rate_limited`
   */
  async toSignIn(address: string, email: string): Promise<void> {
    const from = addressGroup(address);
    await this.take(`login:${from}:${email}`, this.perMinute);
    await this.take(`login:${from}`, this.perMinute * ADDRESS_FACTOR);
    await this.take(`login-hour:${email}`, this.perHour, HOUR);
  }

  /** @throws DroverError `rate_limited` */
  toSignUp(address: string): Promise<void> {
    return this.take(`sign-up:${addressGroup(address)}`, this.perMinute);
  }

  /** @throws DroverError `rate_limited` */
  async toUseCode(userId: string): Promise<void> {
    await this.take(`code:${userId}`, this.perMinute);
    await this.take(`code-hour:${userId}`, this.perHour, HOUR);
  }

  /** @throws DroverError `rate_limited` after 20 wrong codes of the app in a day */
  async toGuessCode(userId: string): Promise<void> {
    const decision = await this.limiter.peek(`wrong-codes:${userId}`, WRONG_CODES);
    const detail = 'Too many codes of the app were wrong today. Use a recovery code.';
    if (!decision.allowed) throw refusal(decision, detail);
  }

  async countWrongCode(userId: string): Promise<void> {
    await this.limiter.take(`wrong-codes:${userId}`, WRONG_CODES);
  }

  /** @throws DroverError `rate_limited` */
  toPollDevice(address: string): Promise<void> {
    const attempts = 2 * this.perMinute * ADDRESS_FACTOR;
    return this.take(`device:${addressGroup(address)}`, attempts);
  }

  /** @throws DroverError `rate_limited` */
  toSingleSignOn(address: string): Promise<void> {
    return this.take(`single-sign-on:${addressGroup(address)}`, this.perMinute * ADDRESS_FACTOR);
  }

  /** @throws DroverError `rate_limited` */
  toOpenInvitation(address: string): Promise<void> {
    return this.take(`invitation:${addressGroup(address)}`, this.perMinute * ADDRESS_FACTOR);
  }

  /**
   * True if another e-mail can be sent. Strangers could otherwise make the server write to anybody.
   */
  async toMailInvitation(userId: string, email: string): Promise<boolean> {
    const byUser = await this.limiter.take(`invitation-mails:${userId}`, MAILS);
    if (!byUser.allowed) return false;
    return (await this.limiter.take(`invitation-mails-to:${email}`, MAILS_TO_ADDRESS)).allowed;
  }

  /**
   * Somebody with a stolen access token could try passwords here. Attempts to sign in do not count,
   * because strangers could otherwise keep users from changing their passwords.
   *
   * @throws DroverError `rate_limited`
   */
  async toChangePassword(userId: string): Promise<void> {
    await this.take(`password:${userId}`, this.perMinute);
    await this.take(`password-hour:${userId}`, this.perHour, HOUR);
  }

  private async take(key: string, attempts: number, windowSeconds = MINUTE): Promise<void> {
    const decision = await this.limiter.take(key, { attempts, windowSeconds });
    if (!decision.allowed) throw refusal(decision);
  }
}

function refusal({ resetSeconds }: RateDecision, detail?: string): DroverError {
  const members = { retryAfterSeconds: resetSeconds };
  return new DroverError('rate_limited', { retryAfterSeconds: resetSeconds, members, detail });
}

/** The owner of one IPv6 address has all 2^64 of its network. */
export function addressGroup(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped !== undefined) return mapped;
  if (!isIPv6(address)) return address;
  const [head = '', tail = ''] = address.split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail === '' ? [] : tail.split(':');
  const zeros = address.includes('::') ? Math.max(0, 8 - left.length - right.length) : 0;
  const groups = [...left, ...Array<string>(zeros).fill('0'), ...right];
  const network = groups.slice(0, 4).map((group) => parseInt(group, 16).toString(16));
  return `${network.join(':')}::/64`;
}
