import { describe, expect, it } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { newSigningSecret as newSecret } from '#lib/secrets/domain';
import { hubHeader, standardHeaders } from './signature.js';

const body = '{"event":"task.created","text":"äöü"}';
const message = () => ({ id: 'msg_1', timestamp: Math.floor(Date.now() / 1_000), body });

describe('the signature of a webhook', () => {
  it("the signature matches the specification's example", () => {
    // The specification's own example: spec/standard-webhooks.md and the reference implementations.
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

  it('the published library verifies the signature, with either secret during a rotation', () => {
    const [old, current, other] = [newSecret(), newSecret(), newSecret()];
    const headers = standardHeaders(message(), [current, old]);
    for (const secret of [old, current]) {
      expect(new Webhook(secret).verify(body, headers)).toEqual(JSON.parse(body));
    }
    expect(() => new Webhook(other).verify(body, headers)).toThrow('No matching signature');
    expect(() => new Webhook(current).verify(`${body} `, headers)).toThrow();
  });

  it("GitHub's signature covers the body", () => {
    // The example in GitHub's documentation on validating deliveries.
    expect(hubHeader('Hello, World!', "It's a Secret to Everybody")).toEqual({
      'x-hub-signature-256':
        'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17',
    });
  });

  it('secrets have 32 random bytes', () => {
    expect(newSecret()).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(newSecret()).not.toBe(newSecret());
  });
});
