import { describe, expect, it } from '@jest/globals';
import { announce, Logger } from './logger.js';
import { redactText } from '#lib/kernel';

function capture(level: 'info' | 'debug' | 'silent' = 'info') {
  const lines: string[] = [];
  const logger = Logger.create({ level, destination: { write: (line) => void lines.push(line) } });
  return { logger, lines };
}

describe('the log', () => {
  it('secret names are hidden at any depth and in any spelling', () => {
    const { logger, lines } = capture();
    logger.info('x', {
      password: 's3cret',
      headers: { Authorization: 's3cret', 'X-Api-Key': 's3cret', accept: 'fine' },
      list: [{ refresh_token: 's3cret', inputContext: { env: 's3cret' } }],
    });
    expect(lines[0]).not.toContain('s3cret');
    expect(lines[0]).toContain('fine');
  });

  it('secrets in errors, their causes and their members are hidden', () => {
    const { logger, lines } = capture();
    const cause = new Error('postgres://drover:s3cret@db/x');
    const error = Object.assign(new Error('Bearer s3cret.s3cret', { cause }), { token: 's3cret' });
    logger.error('x', { error });
    expect(lines[0]).not.toContain('s3cret');
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({
      error: { stack: expect.stringContaining('logger.spec'), cause: { type: 'Error' } },
    });
  });

  it('values without a JSON form do not break a log line', () => {
    const { logger, lines } = capture();
    const loop: Record<string, unknown> = { big: 1n };
    loop.self = loop;
    logger.info('x', { loop });
    expect(lines).toHaveLength(1);
  });

  it('the level silent writes nothing', () => {
    const { logger, lines } = capture('silent');
    logger.fatal('x');
    expect(lines).toEqual([]);
    expect(logger.writes('fatal')).toBe(false);
  });
});

it('an announcement has the level, time and process of other lines, with its own order', () => {
  const lines: string[] = [];
  announce((line) => void lines.push(line), { message: 'listening', address: 'http://a' });
  const { logger, lines: others } = capture();
  logger.info('listening', { address: 'http://a' });
  expect(lines[0]).toContain('"message":"listening","address":"http://a"}');
  const [line, other] = [lines, others].map(([text]) => JSON.parse(String(text)) as object);
  expect(line).toEqual({ ...other, time: expect.stringMatching(/^\d{4}-.*Z$/) });
});

describe('a logged text', () => {
  it.each([
    ['Authorization: Bearer abc.def-g', 'abc'],
    ['eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln', 'eyJ'],
    ['key drv_0123456789abcdef used', 'drv_'],
    ['redis://:hunter2@localhost:6379', 'hunter2'],
    ['postgres://user:p%40ss@host/db', 'p%40ss'],
  ])('the text %s does not keep %s', (text, secret) => {
    expect(redactText(text)).not.toContain(secret);
  });

  it('a text without a secret stays unchanged', () => {
    const text = 'GET http://localhost:3000/api/v1/agents?x=1 took 3 ms';
    expect(redactText(text)).toBe(text);
  });
});
