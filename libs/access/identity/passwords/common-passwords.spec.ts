import { describe, expect, it } from '@jest/globals';
import { isCommonPassword } from './common-passwords.js';

describe('isCommonPassword', () => {
  it.each([
    'password',
    'PassWord',
    '123456123456',
    'passwordpassword',
    'password2026!',
    '**dragon!***',
    'qwertyuiop12',
    '1q2w3e4r1q2w3e4r',
  ])('the common password %s is recognised', (password) => {
    expect(isCommonPassword(password)).toBe(true);
  });

  it.each([
    'correct horse battery staple',
    'dragon-83749283749-x',
    'k7mq2x-p4wz8r-h3vn6t-b5cd9y',
    'a-long-password-of-mine',
    '',
  ])('the password %j is not common', (password) => {
    expect(isCommonPassword(password)).toBe(false);
  });
});
