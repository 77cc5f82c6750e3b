import { describe, expect, it } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { newSigningSecret as newSecret } from '#lib/secrets/domain';
import { hubHeader, standardHeaders } from './signature.js';

const body = '{"event":"task.created","text":"äöü"}';
const message = () => ({ id: 'msg_1', timestamp: Math.floor(Date.now() / 1_000), body });

describe('the signature of a webhook', () => {
  it('is the one of the specification', () => {
    // Its own example: spec/standard-webhooks.md and the reference implementations.
    const signed = {
      id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      timestamp: 1614265330,
      body: '{"test": 2432232314}',
    };
    expect(standardHeaders(signed, ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'])).toEqual({
      'webhook-id': signed.id,
      'webhook-timestamp': '1614265330',
      'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    });
  });

  it('is verified by the published library, and by it with either secret during a rotation', () => {
    const [old, current, other] = [newSecret(), newSecret(), newSecret()];
    const headers = standardHeaders(message(), [current, old]);
    for (const secret of [old, current]) {
      expect(new Webhook(secret).verify(body, headers)).toEqual(JSON.parse(body));
    }
    expect(() => new Webhook(other).verify(body, headers)).toThrow('No matching signature');
    expect(() => new Webhook(current).verify(`${body} `, headers)).toThrow();
  });

  it('of GitHub is over the body', () => {
    // The example of GitHub's documentation on validating deliveries.
    expect(hubHeader('Hello, World!', "It's a Secret to Everybody")).toEqual({
      'x-hub-signature-256':
        'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17',
    });
  });

  it('has secrets of 32 random bytes', () => {
    expect(newSecret()).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(newSecret()).not.toBe(newSecret());
  });
});
