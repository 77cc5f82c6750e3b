import { inspect } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { loadConfig } from './config.js';

const KEY = `${'A'.repeat(43)}=`;

const withKeys = (keys: string | undefined, more: Record<string, string> = {}) =>
  loadConfig({
    DATABASE_URL: 'postgres://drover_app@localhost/drover',
    DATABASE_SERVICE_URL: 'postgres://drover_service@localhost/drover',
    VALKEY_URL: 'redis://localhost',
    JWT_SECRET: 'x'.repeat(32),
    ENCRYPTION_KEYS: keys,
    ...more,
  });

describe('ENCRYPTION_KEYS', () => {
  it('master keys are ids with 32 bytes each, the current first', () => {
    const { masterKeys } = withKeys(`k2:${KEY}, k1:${'B'.repeat(43)}=`).encryption;
    expect(masterKeys.map(({ id, key }) => [id, key.symmetricKeySize])).toEqual([
      ['k2', 32],
      ['k1', 32],
    ]);
  });

  it.each([
    ['a key without an id', KEY],
    ['bytes that are too few', 'k1:AAAA'],
    ['bytes that are too many', `k1:${KEY}AAAA`],
    ['an id twice', `k1:${KEY},k1:${KEY}`],
    ['an id with odd characters', `k 1:${KEY}`],
    ['nothing after a comma', `k1:${KEY},`],
  ])('invalid master keys are refused for %s without being shown', (_, keys) => {
    expect(() => withKeys(keys)).toThrow('ENCRYPTION_KEYS: must be id:base64 of 32 bytes');
    expect(() => withKeys(keys)).not.toThrow('AAAA');
  });

  it('missing URLs are called missing, and wrong ones are not', () => {
    const load = (url: string) =>
      withKeys(`k1:${KEY}`, { DATABASE_URL: url, VALKEY_URL: url, DATABASE_SERVICE_URL: url });
    expect(() => load('')).toThrow('  VALKEY_URL: is missing: it must be a redis://');
    expect(() => load('')).toThrow('  DATABASE_URL: is missing: it must be a postgres://');
    expect(() => load('nowhere')).toThrow('  DATABASE_SERVICE_URL: must be a postgres://');
  });

  it('missing master keys are refused with advice on how to make them', () => {
    expect(() => withKeys(undefined)).toThrow('ENCRYPTION_KEYS: is missing');
  });

  it('an inspection of the configuration shows no key', () => {
    const text = inspect(withKeys(`k1:${KEY}`).encryption, { depth: 9 });
    expect(text).toContain('k1');
    expect(text).not.toContain('AAAA');
  });
});

describe('A gateway', () => {
  const url = { GATEWAY_URL: 'http://127.0.0.1:8787' };
  const secret = { GATEWAY_SECRET: 'x'.repeat(32) };
  const withGateway = (more: Record<string, string>) => withKeys(`k1:${KEY}`, more).gateway;

  it('a gateway needs both its address and its secret, or neither', () => {
    expect(withGateway({ ...url, ...secret }).url).toBe('http://127.0.0.1:8787');
    expect(withGateway({}).url).toBeUndefined();
    expect(() => withGateway(url)).toThrow('  GATEWAY_SECRET: is missing, and GATEWAY_URL is set');
    expect(() => withGateway(secret)).toThrow(
      '  GATEWAY_URL: is missing, and GATEWAY_SECRET is set',
    );
    expect(() => withGateway({ GATEWAY_PROTOCOL: 'basic' })).toThrow(
      '  GATEWAY_URL: is missing, and GATEWAY_PROTOCOL is "basic"',
    );
  });
});

describe('TRUST_PROXY', () => {
  const withProxy = (value: string) =>
    withKeys(`k1:${KEY}`, { TRUST_PROXY: value }).http.trustedProxies;

  it.each([
    ['', []],
    ['false', []],
    ['10.0.0.1, 192.168.0.0/16, fd00::/8', ['10.0.0.1', '192.168.0.0/16', 'fd00::/8']],
  ])('the value %j is understood', (value, trusted) => expect(withProxy(value)).toEqual(trusted));

  it.each([
    'true',
    '1',
    'proxy.test',
    '10.0.0.0/33',
    '10.0.0.0/8/8',
    '10.0.0.0/',
    '0.0.0.0/0',
    ',',
  ])('the value %j is refused, because an unknown proxy cannot be trusted', (value) =>
    expect(() => withProxy(value)).toThrow('TRUST_PROXY: must be the addresses'),
  );
});

describe('WEBHOOK_ALLOWED_NETWORKS', () => {
  const allowed = (value: string) =>
    withKeys(`k1:${KEY}`, { WEBHOOK_ALLOWED_NETWORKS: value }).webhooks.allowedNetworks;

  it('allowed networks can be networks and addresses', () => {
    expect(allowed('')).toEqual([]);
    expect(allowed('127.0.0.0/8, ::1')).toEqual(['127.0.0.0/8', '::1']);
  });

  it.each(['true', 'localhost', '10.0.0.0/33'])('%j is no network', (value) =>
    expect(() => allowed(value)).toThrow('WEBHOOK_ALLOWED_NETWORKS: must be the addresses'),
  );
});

describe('Any variable', () => {
  it('a wrong variable is refused in words that say what it must be', () => {
    const wrong = {
      COORDINATOR_CRON: 'often',
      ROLES: 'api,cook',
      PORT: 'x',
      PUBLIC_URL: 'drover.test',
    };
    const refused = () => withKeys(`k1:${KEY}`, wrong);
    expect(refused).toThrow('  COORDINATOR_CRON: must be a cron expression');
    expect(refused).toThrow('  ROLES: must be one of api, coordinator, relay');
    expect(refused).toThrow('  PORT: must be a whole number from 0 to 65535');
    expect(refused).toThrow('  PUBLIC_URL: must be the http:// or https:// address');
  });
});

describe('Single sign-on', () => {
  const URLS = { OIDC_ISSUER: 'https://id.example', PUBLIC_URL: 'https://drover.example' };
  const load = (env: Record<string, string>) => withKeys(`k1:${KEY}`, env).identity;

  it('a client needs its issuer and the address of the server', () => {
    expect(() => load({ OIDC_CLIENT_ID: 'drover' })).toThrow(/OIDC_ISSUER[^]*PUBLIC_URL/);
    expect(() => load({ PASSWORD_SIGN_IN: 'false' })).toThrow('OIDC_CLIENT_ID: is missing');
    expect(load({ ...URLS, OIDC_CLIENT_ID: 'drover' }).singleSignOn).toMatchObject({
      clientId: 'drover',
      scopes: 'openid email profile',
    });
  });

  it('groups have roles in workspaces', () => {
    const rules = 'cn=a:b=team:ADMIN, others=all:VIEWER';
    const env = { ...URLS, OIDC_CLIENT_ID: 'drover', OIDC_GROUP_ROLES: rules };
    expect(load(env).singleSignOn?.groupRoles).toEqual([
      { group: 'cn=a:b', workspace: 'team', role: 'ADMIN' },
      { group: 'others', workspace: 'all', role: 'VIEWER' },
    ]);
    expect(() => load({ ...env, OIDC_GROUP_ROLES: 'a=team:KING' })).toThrow('OIDC_GROUP_ROLES');
  });
});

it.each(['a', `${'y'.repeat(32)},short`])(
  'JWT_PREVIOUS_SECRETS are as long as JWT_SECRET: %s',
  (secrets) => {
    const load = () => withKeys(`k1:${KEY}`, { JWT_PREVIOUS_SECRETS: secrets });
    expect(load).toThrow(/JWT_PREVIOUS_SECRETS.*at least 32 characters/);
  },
);
