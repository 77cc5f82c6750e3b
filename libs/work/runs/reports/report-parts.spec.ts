import { describe, expect, it } from '@jest/globals';
import { SecretValues } from '#lib/secrets';
import { partsOf, withoutSecrets } from './report-parts.js';

const secret = 'wintergreen';
const token = 'token=abcdefgh';
const hidden = '[redacted]';
const values = SecretValues.ofTexts([secret]);

describe('a report', () => {
  it('a sentence loses known values and likely secrets', () => {
    const error = { message: `${secret} and ${token}`, exitCode: 1, retryable: false };
    expect(withoutSecrets({ error }, values)).toEqual({
      error: { message: `${hidden} and token=${hidden}`, exitCode: 1, retryable: false },
    });
  });

  it('a field that nobody has listed counts as a sentence', () => {
    const report = { anything: [`a ${secret}`, { deep: secret }] };
    expect(withoutSecrets(report, values)).toEqual({
      anything: [`a ${hidden}`, { deep: hidden }],
    });
  });

  it('a name loses known values, and nothing else', () => {
    expect(withoutSecrets({ event: `${token} ${secret}` }, values)).toEqual({
      event: `${token} ${hidden}`,
    });
  });

  it('a document loses secrets at every depth', () => {
    const report = { details: { apiKey: 'x1', list: [{ text: `a ${secret}` }] } };
    expect(withoutSecrets(report, values)).toEqual({
      details: { apiKey: hidden, list: [{ text: `a ${hidden}` }] },
    });
  });

  it('a document with a secret as the name of a field stays an object', () => {
    expect(withoutSecrets({ details: { [secret]: 1 } }, values)).toEqual({
      details: { redacted: hidden },
    });
  });

  it('a field of a closed list stays as it is', () => {
    const report = { level: secret, class: secret, at: secret, runId: secret };
    expect(withoutSecrets(report, values)).toEqual(report);
  });

  it('absent fields stay absent', () => {
    const report = { message: undefined, branch: null, details: undefined };
    expect(withoutSecrets(report, values)).toEqual(report);
  });

  it('its parts are the documents, and the texts that can hold a secret', () => {
    const report = {
      runId: 'r',
      entries: [
        { level: 'INFO', message: 'one', details: { a: 1 } },
        { event: 'two', at: '2026-01-01' },
      ],
    };
    expect(partsOf(report)).toEqual({ documents: [{ a: 1 }], texts: ['one', 'two'] });
  });
});
