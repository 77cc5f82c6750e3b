import { describe, expect, it } from '@jest/globals';
import { DroverError } from '#lib/kernel';
import { generatePassword, hashPassword, isOutdatedHash } from './argon2.js';
import { Gate } from './gate.js';
import { Passwords } from './passwords.js';

describe('passwords', () => {
  it('a password matches only its own hash', async () => {
    const passwords = new Passwords();
    await passwords.onModuleInit();
    const hash = await passwords.hash('a password');
    expect(await passwords.matches(hash, 'a password')).toBe(true);
    expect(await passwords.matches(hash, 'A password')).toBe(false);
    expect(await passwords.matches(null, 'a password')).toBe(false);
    expect(await passwords.matches(undefined, '')).toBe(false);
  });

  it('without a hash the comparison takes as long as with one', async () => {
    const passwords = new Passwords();
    await passwords.onModuleInit();
    const { decoy } = passwords as unknown as { decoy: string };
    expect(isOutdatedHash(decoy)).toBe(false);
    expect(await passwords.matches(null, 'a guess')).toBe(false);
  });

  it('passwords are hashed with argon2id and the current parameters', async () => {
    const hash = await hashPassword('a password');
    expect(hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
    expect(isOutdatedHash(hash)).toBe(false);
    expect(isOutdatedHash('$argon2id$v=19$m=4096,t=3,p=1$x$y')).toBe(true);
  });

  it('generated passwords have 24 characters in four groups', () => {
    expect(generatePassword()).toMatch(/^([a-km-z2-9]{6}-){3}[a-km-z2-9]{6}$/);
  });
});

describe('the gate', () => {
  it('the gate limits callers inside and waiting, and refuses the rest', async () => {
    const gate = new Gate({ inside: 2, waiting: 3 });
    const leave: (() => void)[] = [];
    let inside = 0;
    let most = 0;
    const visit = () =>
      gate.pass(async () => {
        most = Math.max(most, ++inside);
        await new Promise<void>((resolve) => leave.push(resolve));
        inside--;
      });
    const visits = Array.from({ length: 5 }, visit);
    await expect(visit()).rejects.toThrow(DroverError);
    for (let left = 0; left < 5; left++) {
      leave.shift()?.();
      await new Promise(setImmediate);
    }
    await Promise.all(visits);
    expect(most).toBe(2);
    const again = visit();
    await new Promise(setImmediate);
    leave.shift()?.();
    await again;
  });

  it('the gate opens again after a failure', async () => {
    const gate = new Gate({ inside: 1, waiting: 0 });
    await expect(gate.pass(() => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(await gate.pass(() => Promise.resolve(1))).toBe(1);
  });
});
