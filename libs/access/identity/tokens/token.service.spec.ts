import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import jwt from 'jsonwebtoken';
import { DroverError, newId } from '#lib/kernel';
import { SigningKeys } from './signing-keys.js';
import { TokenService } from './token.service.js';

const SECRET = 'a secret that has more than 32 characters';
const OLD_SECRET = 'an older secret that has more than 32 characters';

function service(settings: object = {}): TokenService {
  return new TokenService({
    identity: {
      jwtSecret: SECRET,
      jwtPreviousSecrets: [],
      jwtIssuer: 'drover',
      accessTokenSeconds: 900,
      refreshTokenSeconds: 1,
      agentTokenSeconds: 90 * 86_400,
      runTokenSeconds: 7 * 86_400,
      loginAttemptsPerMinute: 1,
      loginAttemptsPerHour: 100,
      maxWorkspacesPerUser: 100,
      maxApiKeysPerUser: 100,
      requestsPerSecond: { token: 0, workspace: 0, address: 0 },
      oidcIssuer: undefined,
      oidcAudience: undefined,
      openSignUp: false,
      oidcSignUp: false,
      passwordSignIn: true,
      operatorsNeedSecondFactor: false,
      singleSignOn: undefined,
      ...settings,
    },
  });
}

const tokens = service();
const ids = { userId: newId(), sessionId: newId(), workspaceId: newId(), agentId: newId() };
const [taskId, runId] = [newId(), newId()];
const userClaims = { userId: ids.userId, sessionId: ids.sessionId, workspaceId: null };
const agentClaims = { workspaceId: ids.workspaceId, agentId: ids.agentId, tokenVersion: 3 };
const runClaims = { workspaceId: ids.workspaceId, agentId: ids.agentId, taskId, runId };

async function codeOf(work: () => Promise<unknown>): Promise<string> {
  try {
    await work();
    return 'accepted';
  } catch (error) {
    return error instanceof DroverError ? error.code : String(error);
  }
}

describe('tokens', () => {
  it.each([
    ['user', tokens.issueUserToken(userClaims).token, userClaims],
    [
      'user of one workspace',
      tokens.issueUserToken({ ...userClaims, workspaceId: ids.workspaceId }).token,
      { ...userClaims, workspaceId: ids.workspaceId },
    ],
    ['agent', tokens.issueAgentToken(agentClaims).token, agentClaims],
    ['run', tokens.issueRunToken(runClaims), runClaims],
  ])('a token of the kind %s contains its claims', async (_, token, claims) => {
    expect((await tokens.verify(token)).claims).toMatchObject(claims);
    expect(tokens.recall(token)?.claims).toMatchObject(claims);
  });

  it("other programs can verify tokens: HS256, with the key's name in the header", () => {
    const { key, id } = new SigningKeys(SECRET, []).current;
    const token = tokens.issueRunToken(runClaims);
    const pinned = { algorithms: ['HS256' as const], issuer: 'drover', audience: 'drover:run' };
    const { header, payload } = jwt.verify(token, key, { ...pinned, complete: true });
    expect(header).toEqual({ alg: 'HS256', typ: 'JWT', kid: id });
    expect(payload).toMatchObject({ typ: 'run', sub: runId, tid: taskId, iat: expect.anything() });
    expect(() => jwt.verify(token, key, { ...pinned, algorithms: ['HS512'] })).toThrow('algorithm');
  });

  it('tokens last no longer than allowed', () => {
    const { expiresInSeconds } = tokens.issueAgentToken({ ...agentClaims, expiresInSeconds: 1e9 });
    expect(expiresInSeconds).toBe(90 * 86_400);
  });

  it('tokens are valid while their secret is a previous one, and not after', async () => {
    const before = service({ jwtSecret: OLD_SECRET }).issueAgentToken(agentClaims).token;
    const during = service({ jwtPreviousSecrets: [OLD_SECRET] });
    expect((await during.verify(before)).claims).toMatchObject(agentClaims);
    expect(await codeOf(() => service().verify(before))).toBe('invalid_token');
  });

  it('cached tokens expire on time', async () => {
    const { token } = tokens.issueAgentToken({ ...agentClaims, expiresInSeconds: 60 });
    const { expiresAt } = await tokens.verify(token);
    const { now } = Date;
    try {
      Date.now = () => expiresAt;
      expect(await codeOf(() => tokens.verify(token))).toBe('token_expired');
      expect(await codeOf(() => tokens.verify(token))).toBe('token_expired');
    } finally {
      Date.now = now;
    }
  });
});

describe('a manipulated token', () => {
  const key = new SigningKeys(SECRET, []).current;
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const publicPem = rsa.publicKey.export({ type: 'spki', format: 'pem' }).toString();
  const now = Math.floor(Date.now() / 1000);
  const payload = { typ: 'agent', sub: ids.agentId, wid: ids.workspaceId, ver: 1 };
  const good = { ...payload, iss: 'drover', aud: 'drover:agent', iat: now, exp: now + 60 };
  const header = { alg: 'HS256', typ: 'JWT', kid: key.id } as const;

  function sign(body: object, head: object = header, secret: jwt.Secret = key.key): string {
    const { alg } = { ...header, ...head } as { alg: jwt.Algorithm };
    const present = JSON.parse(JSON.stringify(body)) as object;
    return jwt.sign(present, secret, {
      algorithm: alg,
      header: { ...header, ...head } as jwt.JwtHeader,
      noTimestamp: !('iat' in present),
      allowInsecureKeySizes: true,
    });
  }

  function unsigned(head: object): string {
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    return `${part({ ...header, ...head })}.${part(good)}.`;
  }

  it('an unchanged token is accepted', async () => {
    expect(await codeOf(() => tokens.verify(sign(good)))).toBe('accepted');
  });

  const without = (name: keyof typeof good) => ({ ...good, [name]: undefined });
  it.each<[string, string, string]>([
    ['alg none', unsigned({ alg: 'none' }), 'invalid_token'],
    ['alg None', unsigned({ alg: 'None' }), 'invalid_token'],
    ['HS256 without signature', unsigned({}), 'invalid_token'],
    ['HS384 with our secret', sign(good, { alg: 'HS384' }), 'invalid_token'],
    ['HS512 with our secret', sign(good, { alg: 'HS512' }), 'invalid_token'],
    ['RS256', sign(good, { alg: 'RS256' }, rsa.privateKey), 'invalid_token'],
    [
      'HS256 with a public key as the secret',
      sign(good, {}, Buffer.from(publicPem)),
      'invalid_token',
    ],
    ['another secret', sign(good, {}, 'another secret that is long enough too'), 'invalid_token'],
    ['an unknown key id', sign(good, { kid: 'unknown' }), 'invalid_token'],
    ['an unknown extension', sign(good, { crit: ['exp'], exp: 1 }), 'invalid_token'],
    ['no key id', sign(good, { kid: undefined }), 'invalid_token'],
    ['another issuer', sign({ ...good, iss: 'somebody' }), 'invalid_token'],
    ['no issuer', sign(without('iss')), 'invalid_token'],
    ['another audience', sign({ ...good, aud: 'other' }), 'invalid_token'],
    ['the audience of another kind', sign({ ...good, aud: 'drover:user' }), 'invalid_token'],
    ['several audiences', sign({ ...good, aud: ['drover:agent', 'drover:user'] }), 'invalid_token'],
    ['no audience', sign(without('aud')), 'invalid_token'],
    ['another type', sign({ ...good, typ: 'user' }), 'invalid_token'],
    ['no type', sign(without('typ')), 'invalid_token'],
    ['no workspace', sign(without('wid')), 'invalid_token'],
    ['a subject that is no id', sign({ ...good, sub: 'x' }), 'invalid_token'],
    ['a version that is no number', sign({ ...good, ver: '1' }), 'invalid_token'],
    ['an age that has passed', sign({ ...good, exp: now - 1 }), 'token_expired'],
    ['no end', sign(without('exp')), 'invalid_token'],
    ['no beginning', sign(without('iat')), 'invalid_token'],
    ['a time to come', sign({ ...good, nbf: now + 60 }), 'invalid_token'],
    ['no dots', 'abc', 'invalid_token'],
    ['nothing', '', 'invalid_token'],
    ['a great length', `${sign(good)}${'A'.repeat(5_000)}`, 'invalid_token'],
  ])('a token with %s is refused', async (_, token, code) => {
    expect(await codeOf(() => tokens.verify(token))).toBe(code);
    expect(tokens.recall(token)).toBeUndefined();
  });

  it('a token with any changed character is refused', async () => {
    const token = tokens.issueRunToken(runClaims);
    // The last character of a part has bits that decode to nothing.
    const telling = [...token].flatMap((character, index) =>
      character === '.' || token[index + 1] === '.' || index === token.length - 1 ? [] : [index],
    );
    const property = fc.asyncProperty(
      fc.constantFrom(...telling),
      fc.constantFrom(...'aZ0-_'),
      async (i, c) => {
        fc.pre(token[i] !== c);
        const changed = token.slice(0, i) + c + token.slice(i + 1);
        expect(await codeOf(() => tokens.verify(changed))).toBe('invalid_token');
      },
    );
    await fc.assert(property);
  });
});
