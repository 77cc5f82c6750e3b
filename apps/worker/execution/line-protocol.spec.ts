import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { parseProtocolLine, type ProtocolMessage } from './line-protocol.js';

describe('A protocol line', () => {
  test.each<[string, ProtocolMessage]>([
    ['{"progress":40,"step":"half"}', { progress: 40, step: 'half' }],
    ['{"progress":40.9}', { progress: 40 }],
    ['{"progress":0}', { progress: 0 }],
    ['{"progress":100}', { progress: 100 }],
    ['{"checkpoint":{"page":7}}', { checkpoint: { page: 7 } }],
    ['{"result":{}}', { result: {} }],
    ['{"summary":"done"}', { summary: 'done' }],
    ['{"log":{"message":"hi"}}', { log: { level: 'INFO', message: 'hi' } }],
    ['{"log":{"level":"WARN","message":"hi"}}', { log: { level: 'WARN', message: 'hi' } }],
    [
      '{"error":{"message":"no","retryable":false}}',
      { error: { message: 'no', retryable: false } },
    ],
    [
      '{"usage":{"model":"m","inputTokens":1,"outputTokens":"2"}}',
      { usage: [{ model: 'm', inputTokens: 1, outputTokens: '2' }] },
    ],
    ['{"providerLimit":{}}', { providerLimit: {} }],
    [
      '{"providerLimit":{"model":"gpt-5","retryAfterSeconds":30,"later":1}}',
      { providerLimit: { model: 'gpt-5', retryAfterSeconds: 30 } },
    ],
    [
      '{"providerLimit":{"provider":"openai","allModels":true,"kind":"quota_exhausted",' +
        '"until":"Sun, 01 Mar 2026 12:00:00 GMT","message":"no"}}',
      {
        providerLimit: {
          provider: 'openai',
          allModels: true,
          kind: 'quota_exhausted',
          until: '2026-03-01T12:00:00.000Z',
          message: 'no',
        },
      },
    ],
    [
      '{"ask":{"prompt":"Ship it?","choices":["yes","no"],"deadlineSeconds":60,' +
        '"onDeadline":"default","default":"no","later":1}}',
      {
        ask: {
          prompt: 'Ship it?',
          choices: ['yes', 'no'],
          deadlineSeconds: 60,
          onDeadline: 'default',
          default: 'no',
        },
      },
    ],
    ['  {"progress":1}  ', { progress: 1 }],
    ['{"progress":1,"later":"version"}', { progress: 1 }],
  ])('the line %s is a message', (json, expected) => {
    expect(parseProtocolLine(`::drover ${json}`)).toEqual(expected);
  });

  test.each<['step' | 'summary', number]>([
    ['step', 500],
    ['summary', 10_000],
  ])("a long %s is cut to the server's limit", (name, length) => {
    const text = `${'x'.repeat(length - 1)}😀`;
    const said = parseProtocolLine(`::drover ${JSON.stringify({ [name]: text })}`);
    expect(said?.[name]).toBe(`${'x'.repeat(length - 1)}\uFFFD`);
  });

  test.each([
    'plain text',
    '::drover',
    '::drover ',
    '::drover {bad',
    '::drover []',
    '::drover null',
    '::drover 40',
    '::drover {}',
    '::drover {"unknown":1}',
    '::drover {"progress":101}',
    '::drover {"progress":-1}',
    '::drover {"progress":"40"}',
    '::drover {"progress":null}',
    '::drover {"progress":40,"step":7}',
    '::drover {"checkpoint":[1]}',
    '::drover {"checkpoint":null}',
    '::drover {"result":"text"}',
    '::drover {"log":{"level":"LOUD","message":"hi"}}',
    '::drover {"log":{"level":"INFO"}}',
    '::drover {"error":{"retryable":"no"}}',
    '::drover {"progress":40,"usage":{"model":"m","inputTokens":-1,"outputTokens":2}}',
    '::drover {"ask":"Ship it?"}',
    '::drover {"ask":{"prompt":"Ship it?"}}',
    '::drover {"ask":{"prompt":"Ship it?","onDeadline":"wait"}}',
    '::drover {"ask":{"prompt":" ","onDeadline":"fail"}}',
    '::drover {"ask":{"prompt":"Ship it?","onDeadline":"fail","choices":[1]}}',
    '::drover {"providerLimit":"gpt-5"}',
    '::drover {"providerLimit":{"model":"two words"}}',
    '::drover {"providerLimit":{"retryAfterSeconds":0}}',
    '::drover {"providerLimit":{"retryAfterSeconds":5,"until":"2026-03-01T12:00:00Z"}}',
    '::drover {"providerLimit":{"until":"soon"}}',
    '::drover {"providerLimit":{"kind":"bored"}}',
    ' ::drover {"progress":40}',
    '::DROVER {"progress":40}',
    '::drover {"__proto__":{"progress":40}}',
  ])('the line %s is ordinary output', (line) => {
    expect(parseProtocolLine(line)).toBeNull();
  });

  test('no output throws or has a value out of range', () => {
    const anything = fc.oneof(
      fc.string(),
      fc.json(),
      fc.object().map((value) => JSON.stringify(value)),
    );
    fc.assert(
      fc.property(anything, (text) => {
        const progress = parseProtocolLine(`::drover ${text}`)?.progress ?? 0;
        return Number.isInteger(progress) && progress >= 0 && progress <= 100;
      }),
    );
  });

  test('any JSON object is a valid checkpoint and result', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (object) => {
        const value = JSON.parse(JSON.stringify(object)) as Record<string, unknown>;
        const line = `::drover ${JSON.stringify({ checkpoint: value, result: value })}`;
        expect(parseProtocolLine(line)).toEqual({ checkpoint: value, result: value });
      }),
    );
  });
});
